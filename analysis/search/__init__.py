"""The search for shorter code: straight-line code as a dataflow program, changes to it, and back to bytes."""
