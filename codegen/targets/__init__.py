"""The instruction sets: a table each, a row an operation. No target knows of chess."""
