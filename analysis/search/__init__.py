"""The search for shorter code: straight code as a program of values, edits of it, and back to bytes."""
