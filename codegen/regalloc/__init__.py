"""Register allocation: the exact search for the fewest moves."""
