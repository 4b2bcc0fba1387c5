"""Static lower bounds on cycles, with one table a processor."""
