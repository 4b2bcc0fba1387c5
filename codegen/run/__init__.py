"""Machine code run from Python: executable memory, this processor's features, callables, drivers and timers."""
