"""Files of an export into a directory: all of them, or none.

The files are written into a new directory beside the one that is meant, and then the two are exchanged in one step: so
whoever looks finds the old or the new, whatever ends the command, and two that write at once come one after the other.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
_SIGNALS = {getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)}
_PATIENCE = 10.0  # seconds to wait for another command that writes beside us
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # renameat2(2)


class NotWritten(ValueError):
    """Files that are not written, and nothing else was; the message says in one line why, and what to do."""


def write(
    directory: str | Path,
    files: Mapping[str, bytes],
    force: bool = False,
    accounted: Callable[[Path], Collection[str]] = lambda _: (),
) -> None:
    """Write the files into the directory, which is new or empty, or with `force` wholly an earlier export's.

    `accounted` gives the names of an earlier export's files, as that says them; ValueError where there is none.
    Raises NotWritten where a name is none that every system takes, where something else is there, and where the system
    refuses: a directory that may not be written, a disk that is full. Then nothing is changed.
    """
    for name in files:
        if not _NAME.fullmatch(name) or _RESERVED.fullmatch(name):
            raise NotWritten(f"'{name}' is no file name: use letters, digits, '_', '-' and '.'")
    if len({name.lower() for name in files}) < len(files):
        raise NotWritten("two files have names that some systems take for one")

    def refuse(target: Path) -> Collection[str]:
        there = sorted(path.name for path in target.iterdir())
        if not there:
            return ()
        try:
            known = accounted(target)
        except ValueError:
            known = ()
        others = [name for name in there if name not in known or not _is_file(target / name)]
        if others:
            more = f" and {len(others) - 1} more" if len(others) > 1 else ""
            raise NotWritten(f"{target} holds {others[0]!r}{more}, not written by an export: give a new directory")
        if not force:
            raise NotWritten(f"{target}: an export is there already: give --force to replace it, or another directory")
        return ()

    _replace(directory, files, refuse)


def write_among(directory: str | Path, files: Mapping[str, bytes]) -> None:
    """Write files by their paths in the directory, with / between folders; whatever else is there stays."""

    def others(target: Path) -> Collection[str]:
        paths = (path.relative_to(target).as_posix() for path in sorted(target.rglob("*")))
        return [path for path in paths if path not in files]

    _replace(directory, files, others)


def _replace(directory: str | Path, files: Mapping[str, bytes], kept: Callable[[Path], Collection[str]]) -> None:
    """A directory of these files and what is kept of the one that is there, in its place; NotWritten otherwise."""
    target = Path(directory)
    try:
        target = target.resolve()
        with _signals_wait(), ExitStack() as undo:
            for path in reversed([path for path in target.parents if not path.exists()]):
                path.mkdir()
                undo.callback(_try, path.rmdir)
            with _locked(target.parent):
                _repair(target)
                _write_beside(target, files, kept(target) if _is_directory(target) else ())
            undo.pop_all()  # all is in place: nothing is undone
    except NotWritten:
        raise
    except (OSError, ValueError) as error:
        raise NotWritten(_system_error(error, target)) from None


def _write_beside(target: Path, files: Mapping[str, bytes], kept: Collection[str]) -> None:
    new = _beside(target, "new")
    new.mkdir()
    try:
        for name in kept:
            _keep(target / name, new / name)
        for name, content in files.items():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            _write(new / name, content)
        _put_in_place(new, target)
    finally:
        shutil.rmtree(new, ignore_errors=True)  # part of the new, or by now all of the old


def _write(path: Path, content: bytes) -> None:
    """The content in a new file, safe on the disk; KeyboardInterrupt where a signal waits."""
    if hasattr(signal, "sigpending") and signal.sigpending() & _SIGNALS:
        raise KeyboardInterrupt
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _keep(path: Path, place: Path) -> None:
    """The same file, or a directory of that name, in the new place."""
    if path.is_dir() and not path.is_symlink():
        place.mkdir()
        return
    try:
        os.link(path, place, follow_symlinks=False)
    except OSError:  # a system without links
        shutil.copy2(path, place, follow_symlinks=False)


def _put_in_place(new: Path, target: Path) -> None:
    """The new directory becomes the target; what that was before is where the new one was, or nowhere any more."""
    if not os.path.lexists(target):
        new.rename(target)
        return
    if not os.access(target, os.W_OK | os.X_OK):  # what is in it could not be removed
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    shutil.copymode(target, new)
    if _exchanged(new, target):
        return
    old = _beside(target, "old")
    target.rename(old)
    try:
        new.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two directories in one step, or say that this system cannot."""
    import ctypes  # it takes as long to load as all commands together

    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if sys.platform == "linux" else None
    if renameat2 is None:
        return False
    if renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS):
        return False
    raise OSError(number, os.strerror(number), str(other))


def _repair(target: Path) -> None:
    """What a command that was killed left beside the target; nobody else is at work there."""
    old = _beside(target, "old")
    if old.is_dir() and not os.path.lexists(target):
        old.rename(target)
    for path in (old, _beside(target, "new")):
        if path.is_dir():
            shutil.rmtree(path)


def _beside(target: Path, which: str) -> Path:
    return target.with_name(f".{target.name}.setwise-{which}")


def _is_directory(target: Path) -> bool:
    """Whether it is there; NotWritten for a file, or for the directory that the command, and its shell, work in."""
    if not os.path.lexists(target):
        return False
    if not target.is_dir():
        raise NotWritten(f"{target} is no directory: give another one")
    with suppress(OSError):
        if target.samefile(os.curdir):
            raise NotWritten(f"{target} is the directory you are in, which cannot be exchanged: give another one")
    return True


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


@contextmanager
def _locked(parent: Path) -> Iterator[None]:
    """Nobody else writes beside us; a lock on the directory itself, so that nothing is left of it."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    descriptor = os.open(parent, os.O_RDONLY)
    try:
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline or signal.sigpending() & _SIGNALS:
                    raise NotWritten(f"{parent} is locked by another command: try again, or elsewhere") from None
                time.sleep(0.02)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _signals_wait() -> Iterator[None]:
    """Signals that end the command wait until all is in place, or until nothing is."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _try(step: Callable[[], object]) -> None:
    with suppress(OSError):
        step()


def _system_error(error: OSError | ValueError, target: Path) -> str:
    """What the system said, in one line, with what can be done."""
    if not isinstance(error, OSError):
        return f"{str(target)!r} is no name of a directory: {error}"
    return f"{target}: {(error.strerror or str(error)).lower()}: nothing was written; give another directory"
