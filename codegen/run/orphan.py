"""Processes that must not outlive the one which started them."""

from __future__ import annotations

import ctypes
import signal
import sys

_PR_SET_PDEATHSIG = 1  # prctl(2)
# Found before any fork: after one, a lock of the loader may be held.
_prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None

CAN_END_WITH_PARENT = _prctl is not None


def end_with_parent() -> None:
    """In a process that has just begun: the system ends it when its parent ends, however that is; on Linux alone."""
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
