"""Execution of machine code: executable memory, CPU features, calls, the test driver, timing loops, and Bochs."""
