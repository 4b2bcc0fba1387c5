"""Code that runs, on this processor or in steps: calls, traces, cases, checks, mutants."""
