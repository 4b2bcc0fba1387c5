"""Cycles measured on this processor, and what compilers make of C beside our kernels."""
