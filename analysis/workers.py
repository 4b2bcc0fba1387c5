"""Worker processes that never outlive the process that started them."""

from __future__ import annotations

import gc
import hashlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from types import TracebackType
from typing import ParamSpec, TypeVar

from setwise.analysis.errors import CannotRunHere
from setwise.codegen.run.orphan import CAN_END_WITH_PARENT, end_with_parent

P = ParamSpec("P")
T = TypeVar("T")

_ENDING = {signal.SIGINT, signal.SIGTERM}


class Workers:
    """A pool of worker processes for `with Workers() as workers`, by default one for each hardware thread.

    On normal exit all submitted calls have finished. If an exception leaves the block, for instance an interrupt, the
    workers are killed and unfinished calls are lost. If a worker dies, `result` of a pending call raises
    concurrent.futures.process.BrokenProcessPool; if that leaves the block, it becomes CannotRunHere.
    """

    def __init__(self, number: int | None = None) -> None:
        # Spawn the processes on every system, because NumPy's threads do not survive a fork.
        spawning = multiprocessing.get_context("spawn"), _begin, (os.getpid(), *gc.get_threshold())
        self._executor = ProcessPoolExecutor(number or os.cpu_count() or 1, *spawning)
        self._others = set(multiprocessing.active_children())
        self._starter = ThreadPoolExecutor(1)  # blocks interrupts: a half-started process would have no owner
        self._starter.submit(_block_interrupts).result()

    def submit(self, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> Future[T]:
        """Schedule a call of a module-level function in a worker and return its future."""
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
        self._starter.shutdown()  # last: on Linux the processes end with the thread that started them
        if isinstance(error, BrokenProcessPool):
            raise CannotRunHere("a worker process crashed or was killed: try the routines one by one") from None


def _block_interrupts() -> None:
    """Block SIGINT and SIGTERM in this thread and, until their `_begin`, in its processes; on Windows do nothing."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)


def digest() -> str:
    """Return the SHA-256 of the paths, sizes and contents of Python, JSON and C files of `analysis` and `codegen`."""
    hashed = hashlib.sha256()
    for package in ("analysis", "codegen"):
        folder = Path(__file__).parents[1] / package
        for path in sorted(each for kind in ("py", "json", "c", "h") for each in folder.rglob(f"*.{kind}")):
            hashed.update(f"{path.relative_to(folder).as_posix()} {path.stat().st_size}\n".encode())
            hashed.update(path.read_bytes())
    return hashed.hexdigest()


def _begin(parent: int, *threshold: int) -> None:
    """Prepare a new worker process: it ends on SIGINT or SIGTERM, or when the process `parent` ends.

    `threshold` are the parent's garbage collection thresholds, which the worker uses too.
    """
    gc.set_threshold(*threshold)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    if CAN_END_WITH_PARENT:
        end_with_parent()
        if os.getppid() != parent:  # the parent ended before end_with_parent took effect
            os._exit(1)
    else:
        threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
