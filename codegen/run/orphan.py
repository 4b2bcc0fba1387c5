"""Processes that must not outlive the one which started them, and that have no business on a network."""

import ctypes
import signal
import sys

_PR_SET_PDEATHSIG = 1  # prctl(2)
_CLONE_NEWUSER, _CLONE_NEWNET = 0x1000_0000, 0x4000_0000  # unshare(2)
# Found before any fork: after one, a lock of the loader may be held.
_prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None
_unshare = ctypes.CDLL(None).unshare if sys.platform == "linux" else None

CAN_END_WITH_PARENT = _prctl is not None


def end_with_parent() -> None:
    """In a process that has just begun: the system ends it when its parent ends, however that is; on Linux alone."""
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def without_network() -> bool:
    """In a process that has just begun: it has no network from now on, where the system lets it; whether it did.

    An ordinary user needs a user namespace for it. Before `end_with_parent`, whose effect new rights would undo.
    """
    return _unshare is not None and 0 in map(_unshare, (_CLONE_NEWNET, _CLONE_NEWUSER | _CLONE_NEWNET))


def begin_apart() -> None:
    """`without_network`, then `end_with_parent`."""
    without_network()
    end_with_parent()
