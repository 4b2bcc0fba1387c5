"""Listings: kernels as assembly source."""
