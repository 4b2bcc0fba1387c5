"""Bounds and forecasts of cycles, with a table a processor."""
