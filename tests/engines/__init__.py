"""Chess engines before and after their threat boards are computed by setwise: `python -m tests.engines`."""
