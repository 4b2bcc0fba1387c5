"""Processes that work for a command, a few at a time: all are started here, and none outlives the command."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from types import TracebackType
from typing import ParamSpec, TypeVar

from setwise.codegen.run.orphan import CAN_END_WITH_PARENT, end_with_parent

P = ParamSpec("P")
T = TypeVar("T")

_LONGEST = 10  # seconds that a function in a process of its own may take


class Workers:
    """So many processes, by default one a core, from `with Workers() as workers` to its end.

    At the end they have done all that was submitted. Where an exception leaves the block, an interrupt say, they are
    ended at once, and what they had not done is lost. A process that ends by itself makes `result` of what was
    submitted raise concurrent.futures.process.BrokenProcessPool.
    """

    def __init__(self, number: int | None = None) -> None:
        # Started afresh on every system alike: what NumPy's threads hold does not survive a fork.
        context = multiprocessing.get_context("spawn")
        self._others = set(multiprocessing.active_children())
        self._executor = ProcessPoolExecutor(number or os.cpu_count() or 1, context, _begin, (os.getpid(),))

    def submit(self, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> Future[T]:
        """What a function of a module gives for these arguments, to be computed in one of the processes."""
        with _uninterrupted():  # a process may be started for it
            return self._executor.submit(function, *arguments, **named)

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            for process in set(multiprocessing.active_children()) - self._others:
                process.kill()
        self._executor.shutdown(cancel_futures=kind is not None)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """An interrupt from the keyboard waits until the end, and in a process that is started here until `_begin`."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(parent: int) -> None:
    """In another process: an interrupt from the keyboard, which reaches it too, or its parent's end is its own end."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    if CAN_END_WITH_PARENT:
        end_with_parent()
        if os.getppid() != parent:  # it ended before
            os._exit(1)
    else:
        threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class Crash(Exception):
    """What became of a process that did not come to its end."""


def in_own_process(function: Callable[[], T]) -> T:
    """The function's result, from a process of its own where the system can fork; Crash if that does not end well."""
    if not hasattr(os, "fork"):
        return function()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:  # nothing of the parent's may run here, whatever happens
        try:
            faulthandler.disable()
            signal.alarm(_LONGEST)
            with os.fdopen(write, "wb") as stream:
                pickle.dump(function(), stream)
            os._exit(0)
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        answer = stream.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == -signal.SIGALRM:
        raise Crash(f"it has not returned after {_LONGEST} seconds")
    if status < 0:
        raise Crash(f"it ends in {signal.Signals(-status).name}")
    if status:
        raise RuntimeError("a process of its own failed")
    result: T = pickle.loads(answer)
    return result
