"""ONE table: what each instruction does to registers, flags and memory."""
