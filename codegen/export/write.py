"""Files of an export into a directory: all of them, or none."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)


class NotWritten(ValueError):
    """Files that are not written, and nothing else was; the message says in one line why, and what to do."""


def write(directory: str | Path, files: Mapping[str, bytes], force: bool = False) -> None:
    """Write the files into the directory, which is made where it is missing.

    Raises NotWritten where a name is none that every system takes, where a file is there already (unless `force`), and
    where the system refuses: a directory that may not be written, a disk that is full. Then nothing is changed.
    """
    for name in files:
        if not _NAME.fullmatch(name) or _RESERVED.fullmatch(name):
            raise NotWritten(f"'{name}' is no file name: use letters, digits, '_', '-' and '.'")
    if len({name.lower() for name in files}) < len(files):
        raise NotWritten("two files have names that some systems take for one")
    write_paths(directory, files, force)


def write_paths(directory: str | Path, files: Mapping[str, bytes], force: bool = False) -> None:
    """The same of files by their paths in the directory, with / between folders, whatever they are called."""
    target = Path(directory)
    try:
        with ExitStack() as undo:
            for folder in dict.fromkeys([target, *((target / name).parent for name in files)]):
                _make(folder, undo)
            _refuse_existing(target, files, force)
            fresh = {name: _temporary(target / name, content, undo) for name, content in files.items()}
            for name, path in fresh.items():
                _put_in_place(path, target / name, undo)
            undo.pop_all()  # all is in place: nothing is undone
    except NotWritten:
        raise
    except (OSError, ValueError) as error:
        raise NotWritten(_system_error(error, target)) from None
    for name in files:
        with suppress(OSError):
            _backup(target / name).unlink()


def _undone_by(undo: ExitStack, step: Callable[..., object], *arguments: Path) -> None:
    """Should the export fail, this step is taken, as far as the system lets it."""

    def take() -> None:
        with suppress(OSError):
            step(*arguments)

    undo.callback(take)


def _make(target: Path, undo: ExitStack) -> None:
    """The directory, with those that it lies in."""
    for path in reversed([path for path in (target, *target.parents) if not path.exists()]):
        path.mkdir()
        _undone_by(undo, path.rmdir)
    if not target.is_dir():
        raise NotWritten(f"{target} is no directory: give another one")


def _refuse_existing(target: Path, files: Mapping[str, bytes], force: bool) -> None:
    for name in files:
        path = target / name
        if path.is_dir():
            raise NotWritten(f"{path} is a directory: give another one to write to")
        if not force and os.path.lexists(path):
            raise NotWritten(f"{path} is there already: give --force to replace it, or another directory")


def _temporary(place: Path, content: bytes, undo: ExitStack) -> Path:
    """The content in a file of its own beside the place that it goes to, safe on the disk."""
    path = place.with_name(f".{place.name}.new")
    with suppress(FileNotFoundError):
        path.unlink()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    _undone_by(undo, path.unlink)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return path


def _put_in_place(fresh: Path, path: Path, undo: ExitStack) -> None:
    """Rename the new file to its name; one that was there before can be put back."""
    if os.path.lexists(path):
        backup = _backup(path)
        path.replace(backup)
        _undone_by(undo, backup.replace, path)
        fresh.replace(path)
    else:
        fresh.replace(path)
        _undone_by(undo, path.unlink)


def _backup(path: Path) -> Path:
    return path.with_name(f".{path.name}.old")


def _system_error(error: OSError | ValueError, target: Path) -> str:
    """What the system said, in one line, with what can be done."""
    if not isinstance(error, OSError):
        return f"{str(target)!r} is no name of a directory: {error}"
    about = str(error.filename or target)
    return f"{about}: {(error.strerror or str(error)).lower()}: nothing was written; give another directory"
