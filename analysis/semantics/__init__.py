"""Instruction semantics: one table of the effects of each instruction on registers, flags and memory."""
