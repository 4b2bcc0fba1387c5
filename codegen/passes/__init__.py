"""The passes of code generation, their analyses and helpers, and the state that each pass gets and returns."""
