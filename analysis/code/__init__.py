"""Machine code as bytes: decoding, extraction from object files, counts, comparison."""
