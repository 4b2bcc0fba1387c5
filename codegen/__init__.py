"""Makes x86-64 machine code for set-wise sliding-piece attacks on chess bitboards."""
