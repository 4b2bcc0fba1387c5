"""Atomic writing of an export: all files are written, or none.

The files are written to a temporary directory next to the target, which then replaces the target.
"""

import errno
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

from setwise.codegen.files import resolved

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)


class NotWritten(ValueError):
    """An export that failed without a change to any file. The message is one line with the reason and the remedy."""


def write(
    directory: str | Path,
    files: Mapping[str, bytes],
    force: bool = False,
    accounted: Callable[[Path], Collection[str]] = lambda _: (),
) -> None:
    """Write files, by name, to a directory that is new or empty, or with `force` in place of an earlier export.

    `accounted` returns the names of the files that an earlier export wrote to a directory, or raises ValueError. Raise
    NotWritten for names that are not portable, for other directories, and for system errors such as a full disk.
    """
    for name in files:
        if not _NAME.fullmatch(name) or _RESERVED.fullmatch(name):
            allowed = "letters, digits, '_', '-' and '.', a letter first, and no device of Windows such as con"
            raise NotWritten(f"'{name}' is not a portable file name: use {allowed}")
    others = {name.lower(): name for name in files}
    if name := next((name for name in files if others[name.lower()] != name), ""):
        two = f"the file names '{name}' and '{others[name.lower()]}'"
        raise NotWritten(f"{two} differ only in case, which some systems ignore: rename one routine")
    target = checked(directory, force, accounted)
    with _not_written(directory):
        _replace(target, files)


def checked(
    directory: str | Path, force: bool = False, accounted: Callable[[Path], Collection[str]] = lambda _: ()
) -> Path:
    """Return the path of a directory that `write` takes; the arguments and errors are those of `write`."""
    with _not_written(directory):
        target = resolved(directory)
        _check(target, force, accounted)
        for folder in (_missing(target).parent, target):
            if folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return target


@contextmanager
def _not_written(directory: str | Path) -> Iterator[None]:
    """Turn errors of the system and of the path into NotWritten."""
    try:
        yield
    except NotWritten:
        raise
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise NotWritten(f"{directory}: {why}: nothing was written; give another directory") from error
    except ValueError as error:
        raise NotWritten(f"{str(directory)!r} cannot be the directory of an export: {error}") from None


def _check(target: Path, force: bool, accounted: Callable[[Path], Collection[str]]) -> None:
    """Raise NotWritten for an existing target that may not be replaced."""
    if not os.path.lexists(target):
        return
    if not target.is_dir():
        raise NotWritten(f"{target} is not a directory: give another one")
    if target.samefile(os.curdir):
        raise NotWritten(f"{target} is the working directory, which cannot be replaced: give another one")
    there, known = sorted(target.iterdir()), frozenset[str]()
    with suppress(ValueError):
        known = frozenset(accounted(target))
    others = [path.name for path in there if path.name not in known or path.is_symlink() or not path.is_file()]
    if others:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        raise NotWritten(f"{target} holds {others[0]!r}{more}, which no export wrote: give a new directory")
    if there and not force:
        raise NotWritten(f"{target} already holds an export: give --force to replace it, or another directory")


def _missing(target: Path) -> Path:
    """Return the topmost directory on the path that does not exist, or the target."""
    return next((path for path in reversed(target.parents) if not path.exists()), target)


def _replace(target: Path, files: Mapping[str, bytes]) -> None:
    """Write the files into a temporary directory and rename it to the target. Create the target's missing parents."""
    top = _missing(target)
    room = Path(mkdtemp(prefix=".setwise-", dir=top.parent))
    new, old = room / "new", room / "old"
    try:
        directory = new / target.relative_to(top)
        directory.mkdir(parents=True)  # with the default rights of new directories, unlike mkdtemp
        for name, content in files.items():
            (directory / name).write_bytes(content)
        if target.exists():
            shutil.copymode(target, new)
            target.rename(old)
        new.rename(top)
    finally:
        if old.exists() and not target.exists():
            old.rename(target)
        shutil.rmtree(room, ignore_errors=True)
