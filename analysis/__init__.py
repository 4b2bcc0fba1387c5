"""Judges machine code from its bytes alone: decodes, counts, steps, proves and measures it."""
