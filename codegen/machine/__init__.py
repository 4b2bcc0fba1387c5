"""The machine as data: registers, instructions, code, and the calling conventions."""
