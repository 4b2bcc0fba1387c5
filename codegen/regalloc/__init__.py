"""Register allocation: the search for the fewest moves, exact within its effort."""
