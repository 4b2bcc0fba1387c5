"""Machine code as bytes: decoding, extraction from ELF files, counts, comparison."""
