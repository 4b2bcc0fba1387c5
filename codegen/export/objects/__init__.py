"""Object files and static libraries of kernels, with their C header."""
