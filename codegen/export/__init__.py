"""Exports: listings, object files and source code for other languages."""
