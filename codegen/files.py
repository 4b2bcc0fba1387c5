"""Reading of untrusted files, regular ones of bounded size only, and atomic writing of files."""

import os
import stat
from pathlib import Path
from shutil import copymode


class NotRegularError(OSError):
    """The error for a path that is not a regular file, such as a pipe or device. Reading it might never end."""


def read_regular(path: str | Path, most: int, *, links: bool) -> bytes:
    """Return the content of a regular file, or the first `most` + 1 bytes of one that is larger than `most` bytes.

    `links` permits a path that is a symbolic link. Raise NotRegularError for another link, a pipe or a device, another
    OSError for a directory and for a file that cannot be read, and ValueError for a path that cannot name a file.
    """
    if not links and Path(path).is_symlink():
        raise NotRegularError("a symbolic link, not the file itself")
    names = ("O_NONBLOCK", "O_BINARY", *(() if links else ("O_NOFOLLOW",)))
    with os.fdopen(os.open(path, os.O_RDONLY | sum(getattr(os, name, 0) for name in names)), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise NotRegularError("not a regular file")
        return file.read(most + 1)


def resolved(path: str | Path) -> Path:
    """Return the absolute path without links. Raise ValueError if that fails: link cycle, deleted working directory."""
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError) as error:  # RuntimeError: a link cycle, before Python 3.13
        if isinstance(error, RecursionError):
            raise
        if isinstance(error, FileNotFoundError):
            raise ValueError("the working directory no longer exists: change to another one") from None
        raise ValueError(f"{str(path)!r} contains a cycle of symbolic links: give another path") from None


def read_checked(path: str | Path, most: int, *, links: bool, larger: str, remedy: str) -> bytes:
    """Return the content of a regular file of at most `most` bytes.

    `links` permits a symbolic link. Raise a one-line ValueError that ends with `remedy` for any other file. `larger`
    names the limit in the message for a larger file.
    """
    try:
        content = read_regular(path, most, links=links)
    except (OSError, ValueError) as error:  # ValueError: the path is not a valid file name
        what = (getattr(error, "strerror", None) or str(error)).lower()
        raise ValueError(f"{str(path)!r}: {what}: {remedy}") from None
    if len(content) > most:
        raise ValueError(f"{path}: larger than {larger}: {remedy}")
    return content


def write_atomically(path: str | Path, content: bytes) -> None:
    """Write a file atomically: write a new file in the same folder, then rename it.

    An existing file keeps its mode. Raise OSError on failure.
    """
    beside = Path(f"{path}.{os.getpid()}.new")
    try:
        beside.write_bytes(content)
        if Path(path).exists():
            copymode(path, beside)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def shortest(file: str) -> str:
    """Return a file's path: relative to the working directory for a file in it, otherwise absolute."""
    here = resolved(".")
    path = here / file
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
