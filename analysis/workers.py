"""Worker processes; none outlives the process that started it."""

from __future__ import annotations

import gc
import hashlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import ParamSpec, TypeVar

from setwise.codegen.run.orphan import CAN_END_WITH_PARENT, end_with_parent

P = ParamSpec("P")
T = TypeVar("T")

_ENDING = {signal.SIGINT, signal.SIGTERM}


class Workers:
    """So many processes, by default one a core, from `with Workers() as workers` to its end.

    At the end they have done all that was submitted. Where an exception leaves the block, an interrupt say, they are
    ended at once, and what they had not done is lost. A process that ends by itself makes `result` of what was
    submitted raise concurrent.futures.process.BrokenProcessPool.
    """

    def __init__(self, number: int | None = None) -> None:
        self._executor = _processes(number or os.cpu_count() or 1)
        self._others = set(multiprocessing.active_children())
        self._starter = ThreadPoolExecutor(1)  # interrupted while it starts, a process would have no owner to end it
        self._starter.submit(_block_interrupts).result()

    def submit(self, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> Future[T]:
        """What a function of a module gives for these arguments, to be computed by one of the workers."""
        return self._starter.submit(self._executor.submit, function, *arguments, **named).result()

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._starter.shutdown()
            for process in set(multiprocessing.active_children()) - self._others:
                process.kill()
        self._executor.shutdown(cancel_futures=kind is not None)
        self._starter.shutdown()  # not earlier: on Linux its end is the end of all processes that it started


def _processes(number: int) -> Executor:
    """Started afresh on every system alike: what NumPy's threads hold does not survive a fork."""
    return ProcessPoolExecutor(number, multiprocessing.get_context("spawn"), _begin, (os.getpid(), *gc.get_threshold()))


def _block_interrupts() -> None:
    """Block SIGINT and SIGTERM in this thread, and in the processes that it starts until their `_begin`."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)


def digest() -> str:
    """The SHA-256 of all that setwise is made of here."""
    told = hashlib.sha256()
    for room in ("analysis", "codegen"):
        folder = Path(__file__).parents[1] / room
        for path in sorted((*folder.rglob("*.py"), *folder.rglob("*.json"))):
            told.update(f"{path.relative_to(folder).as_posix()} {path.stat().st_size}\n".encode())
            told.update(path.read_bytes())
    return told.hexdigest()


def _begin(parent: int, *threshold: int) -> None:
    """In another process: an interrupt from the keyboard, which reaches it too, or its parent's end is its own end.

    It collects garbage as seldom as its parent.
    """
    gc.set_threshold(*threshold)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
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
