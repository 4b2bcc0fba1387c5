"""Child processes that end with their parent and have no network."""

import ctypes
import signal
import sys

_PR_SET_PDEATHSIG = 1  # prctl(2)
_CLONE_NEWUSER, _CLONE_NEWNET = 0x1000_0000, 0x4000_0000  # unshare(2)
# Loaded before any fork: after a fork, a lock of the loader may be held.
_prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None
_unshare = ctypes.CDLL(None).unshare if sys.platform == "linux" else None

CAN_END_WITH_PARENT = _prctl is not None


def end_with_parent() -> None:
    """Make the system kill this new process when its parent ends. Only Linux supports it; elsewhere do nothing."""
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def without_network() -> bool:
    """Remove the network from this new process. Return whether the system allowed it.

    An unprivileged user needs a user namespace. Call this before `end_with_parent`, whose effect a change of
    credentials cancels.
    """
    return _unshare is not None and 0 in map(_unshare, (_CLONE_NEWNET, _CLONE_NEWUSER | _CLONE_NEWNET))


def begin_apart() -> None:
    """Call `without_network`, then `end_with_parent`."""
    without_network()
    end_with_parent()
