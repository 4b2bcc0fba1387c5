"""Rows on the screen: for people to read, folded to the terminal, or for a program."""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

NARROWEST = 12
"""Columns are not folded to fewer letters than these."""


def print_json(rows: Any) -> None:
    """Rows, or a mapping, for a program to read."""
    print(json.dumps(rows, indent=2))


def print_table(head: Sequence[str], rows: Sequence[Sequence[Any]], align: str = "") -> None:
    """Rows for people to read, folded to the terminal, numbers to the right.

    Or a letter of `align` a column, l or r, and cells as they are.
    """
    from tabulate import tabulate

    most = folded([list(map(str, row)) for row in (head, *rows)], 2, width()) if rows else None
    if align:
        sides = ["right" if side == "r" else "left" for side in align]
        text = tabulate(rows, head, tablefmt="simple", colalign=sides, disable_numparse=True, maxcolwidths=most)
    else:
        text = tabulate(rows, head, tablefmt="simple", maxcolwidths=most)
    print(text)


def print_columns(keys: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """What the rows have under these keys, as a table for people."""
    print_table([key.replace("_", " ") for key in keys], [[row[key] for key in keys] for row in rows])


def print_reasons(verdicts: Iterable[tuple[str, str]]) -> None:
    """How many ended alike, of statuses with their reasons."""
    for (status, reason), number in Counter(verdicts).items():
        print(f"\n{number} {status}: {reason}")


def tally(statuses: Sequence[str], known: Sequence[str]) -> str:
    """How many kernels there are, and how many of each status.

    >>> tally(["passed", "passed", "failed"], ("passed", "failed", "not run"))
    '3 kernels: 2 passed, 1 failed, 0 not run'
    """
    return f"{len(statuses)} kernels: {', '.join(f'{statuses.count(status)} {status}' for status in known)}"


def width() -> int | None:
    """How many letters fit in a line of standard output; None where lines have no end."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


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
