"""Functions run in processes of their own, which may crash."""

from __future__ import annotations

import faulthandler
import os
import pickle
import signal
from collections.abc import Callable
from typing import TypeVar

from setwise.codegen.run.orphan import end_with_parent

T = TypeVar("T")

_LONGEST = 10  # seconds that a function may take


class Crash(Exception):
    """What became of a process that did not come to its end."""


def in_own_process(function: Callable[[], T]) -> T:
    """Return the function's result, from a process of its own; Crash if that does not end well.

    It may take ten seconds. What the function raises is raised here.
    """
    read, write = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:  # nothing of the parent's may run here, whatever happens
        try:
            faulthandler.disable()
            end_with_parent()
            if os.getppid() != parent:  # it ended before
                os._exit(1)
            signal.alarm(_LONGEST)
            with os.fdopen(write, "wb") as stream:
                pickle.dump(_outcome(function), stream)
            os._exit(0)
        finally:
            os._exit(1)
    os.close(write)
    try:
        with os.fdopen(read, "rb") as stream:
            answer = stream.read()
    except BaseException:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == -signal.SIGALRM:
        raise Crash(f"it has not returned after {_LONGEST} seconds")
    if status < 0:
        raise Crash(f"it ends in {signal.Signals(-status).name}")
    if status:
        raise RuntimeError("a process of its own failed")
    result, error = pickle.loads(answer)
    if error is not None:
        raise error
    returned: T = result
    return returned


def _outcome(function: Callable[[], T]) -> tuple[T | None, Exception | None]:
    """What the function returns, or raises."""
    try:
        return function(), None
    except Exception as error:
        return None, error
