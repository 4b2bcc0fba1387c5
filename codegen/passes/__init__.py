"""The passes of code generation, one a file, and the state that each gets and returns."""
