"""What a terminal adds to text: colour, and an end to its lines. Pipes and files get the text alone."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence

_BOLD, _DIM, _RED, _GREEN, _YELLOW, _PLAIN = (f"\x1b[{code}m" for code in (1, 2, 31, 32, 33, 0))

_ROW = re.compile(r"(?:(?:[1-8]  )?[.01](?: [.01]){7} *)+")
"""A rank of boards next to each other."""
_MARK = re.compile(r"[1-8]  (?=[.01] )|[.01]")
"""The rank's number before its squares, or a square."""
_FILES = re.compile(r"(?: {3}a b c d e f g h *)+")
_CYCLE = re.compile(r"\d+\*")
"""When a result of the critical path is ready."""
_STATUS = re.compile(r"(?<!\b0 )\b(?:not proved|not run|proved|passed|refuted|failed)\b")
"""How a kernel fared; not that `0 failed`."""
_COLOURS = {
    "proved": _GREEN,
    "passed": _GREEN,
    "refuted": _RED,
    "failed": _RED,
    "not proved": _YELLOW,
    "not run": _YELLOW,
}
_MARKS = {"1": _BOLD, "0": _RED, ".": _DIM}

NARROWEST = 12
"""Columns are not folded to fewer letters than these."""


def coloured() -> bool:
    """Whether standard output shows colours: a terminal does, unless NO_COLOR is set (no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def width() -> int | None:
    """How many letters fit in a line of standard output; None where lines have no end."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def painted(text: str) -> str:
    """The text, on a terminal with its boards, statuses and critical path in colour."""
    return "\n".join(map(_painted, text.split("\n"))) if coloured() else text


def _painted(line: str) -> str:
    if _FILES.fullmatch(line):
        return f"{_DIM}{line}{_PLAIN}"
    if _ROW.fullmatch(line):
        return _MARK.sub(lambda mark: f"{_MARKS.get(mark[0], _DIM)}{mark[0]}{_PLAIN}", line)
    line = _CYCLE.sub(lambda cycle: f"{_BOLD}{cycle[0]}{_PLAIN}", line)
    return _STATUS.sub(lambda status: f"{_COLOURS[status[0]]}{status[0]}{_PLAIN}", line)


def folded(cells: Sequence[Sequence[str]], gap: int, room: int | None) -> list[int | None]:
    """How wide each column of a table may be, so that its lines fit into `room`; None where it stays as it is.

    The widest columns give way first. Columns of numbers are too narrow to be asked.

    >>> folded([["sliders.union", "a reason of forty letters, and two more"]], 2, 40)
    [None, 25]
    """
    wide = [max(map(len, column)) for column in zip(*cells, strict=True)]
    most: list[int | None] = [None] * len(wide)
    over = sum(wide) + gap * (len(wide) - 1) - (room or sys.maxsize)
    for at in sorted(range(len(wide)), key=wide.__getitem__, reverse=True):
        if over > 0 and wide[at] > NARROWEST:
            most[at] = max(NARROWEST, wide[at] - over)
            over -= wide[at] - max(NARROWEST, wide[at] - over)
    return most
