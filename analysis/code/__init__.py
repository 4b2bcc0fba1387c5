"""Bytes as they are: decoded, taken from object files, counted, compared."""
