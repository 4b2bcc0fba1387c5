"""Kernels as source that inlines: C and C++, Rust, Zig."""
