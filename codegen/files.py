"""Files that somebody else made: regular ones, and no more of them than is wanted."""

from __future__ import annotations

import os
import stat
from pathlib import Path


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
