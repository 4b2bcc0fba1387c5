"""Writers of kernels as source code for inlining: C and C++, Rust, Zig, and JavaScript."""
