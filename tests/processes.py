"""Functions run in processes of their own, which may crash."""

import faulthandler
import signal
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import TypeVar

T = TypeVar("T")

_LONGEST = 10  # seconds that a function may take


class Crash(Exception):
    """What became of a process that did not come to its end."""


def in_own_process(function: Callable[[], T]) -> T:
    """Return the function's result, from a process of its own; Crash if that does not end well.

    It may take ten seconds. What the function raises is raised here.
    """
    context = get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(function, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        if not ours.poll(_LONGEST):
            raise Crash(f"it has not returned after {_LONGEST} seconds")
        returned: T
        returned, error = ours.recv()
    except EOFError:
        process.join()
        raise Crash(f"it ends in {signal.Signals(-(process.exitcode or 0)).name}") from None
    finally:
        process.kill()
        process.join()
    if error is not None:
        raise error
    return returned


def _run(function: Callable[[], T], answer: Connection) -> None:
    """Send what the function returns, or raises."""
    faulthandler.disable()
    try:
        answer.send((function(), None))
    except Exception as error:
        answer.send((None, error))
