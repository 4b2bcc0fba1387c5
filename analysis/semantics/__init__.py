"""Instruction semantics: one table of the effects of instructions on registers, flags and memory."""
