"""Machine code against the specification, for all inputs."""
