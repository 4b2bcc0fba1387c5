"""Lower bounds: how few operations any program needs, with certificates that a checker of our own reads."""
