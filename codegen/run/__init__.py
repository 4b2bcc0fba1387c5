"""Execution of machine code from Python: executable memory, CPU features, calls, test drivers and timing loops."""
