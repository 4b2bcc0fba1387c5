"""The judges of machine code: from its bytes alone they decode, count, step, prove and measure it."""
