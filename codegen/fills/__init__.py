"""The fills as the literature writes them, one file a family."""
