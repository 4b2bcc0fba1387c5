"""Proofs of machine code against the specification, for all inputs."""
