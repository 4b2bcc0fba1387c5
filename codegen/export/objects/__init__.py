"""Kernels as object files and libraries, with their C header."""
