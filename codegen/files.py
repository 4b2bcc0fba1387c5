"""Files that somebody else made: regular ones, and no more of them than is wanted."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from shutil import copymode


class NotRegularError(OSError):
    """A directory, a pipe, a device: what may never end, or never begin."""


def regular_content(path: str | Path, most: int, *, links: bool) -> bytes:
    """What a regular file holds, up to one byte more than `most`; through a link where `links` says so.

    Raises NotRegularError for anything else, at once, and OSError where the file cannot be read.
    """
    names = ("O_NONBLOCK", "O_BINARY", *(() if links else ("O_NOFOLLOW",)))
    with os.fdopen(os.open(path, os.O_RDONLY | sum(getattr(os, name, 0) for name in names)), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise NotRegularError("no regular file")
        return file.read(most + 1)


def resolved(path: str | Path) -> Path:
    """Return the absolute path without links; ValueError where links go round, or the working directory is gone."""
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError) as error:  # RuntimeError: a circle of links, before Python 3.13
        if isinstance(error, RecursionError):
            raise
        if isinstance(error, FileNotFoundError):
            raise ValueError("the working directory is not there any more: change to another one") from None
        raise ValueError(f"{str(path)!r} leads through a circle of links: give another path") from None


def told_content(path: str | Path, most: int, *, links: bool, larger: str, remedy: str) -> bytes:
    """What a regular file of at most so many bytes holds; ValueError of one line with the remedy for any other.

    `larger` says what a file of more bytes is larger than.
    """
    try:
        content = regular_content(path, most, links=links)
    except (OSError, ValueError) as error:  # ValueError: no name of a file
        what = (getattr(error, "strerror", None) or str(error)).lower()
        raise ValueError(f"{str(path)!r}: {what}: {remedy}") from None
    if len(content) > most:
        raise ValueError(f"{path}: larger than {larger}: {remedy}")
    return content


def put(path: str | Path, content: bytes) -> None:
    """Write a file that is whole at every moment, with the mode of the one before: made beside its place, then moved.

    OSError where that fails.
    """
    beside = Path(f"{path}.{os.getpid()}.new")
    try:
        beside.write_bytes(content)
        if Path(path).exists():
            copymode(path, beside)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
