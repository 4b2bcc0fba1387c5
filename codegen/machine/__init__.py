"""The machine as data: registers, instructions, code, calling conventions, and the CPU features of processors."""
