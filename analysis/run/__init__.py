"""Execution of code, natively, emulated or in an interpreter: calls, traces, test cases and checks."""
