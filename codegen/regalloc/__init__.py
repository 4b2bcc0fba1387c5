"""The exact search for the fewest moves."""
