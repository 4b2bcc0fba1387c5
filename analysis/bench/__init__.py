"""Timings of kernels and of compiled C on this processor."""
