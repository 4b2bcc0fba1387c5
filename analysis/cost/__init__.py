"""Static bounds of cycles, with a table a processor."""
