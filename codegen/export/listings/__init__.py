"""Kernels as assembly source."""
