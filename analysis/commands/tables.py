"""Output of rows: tables that fit the terminal, and JSON."""

import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

NARROWEST = 12
"""The smallest width in characters to which a column is folded."""


def print_json(rows: Any) -> None:
    """Print rows, or a mapping, as JSON."""
    print(json.dumps(rows, indent=2))


def print_table(head: Sequence[str], rows: Sequence[Sequence[Any]], align: str = "") -> None:
    """Print rows as a table that fits the terminal, with numbers right-aligned.

    With `align`, which has a letter l or r for each column, cells are not interpreted as numbers.
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
    """Print the given keys of the rows as a table."""
    print_table([key.replace("_", " ") for key in keys], [[row[key] for key in keys] for row in rows])


def print_reasons(verdicts: Iterable[tuple[str, str]]) -> None:
    """Print each status with its reason and the number of times that it occurs."""
    for (status, reason), number in Counter(verdicts).items():
        print(f"\n{number} {status}: {reason}")


def tally(statuses: Sequence[str], known: Sequence[str]) -> str:
    """Return the number of kernels and of each status as text.

    >>> tally(["passed", "passed", "failed"], ("passed", "failed", "not run"))
    '3 kernels: 2 passed, 1 failed, 0 not run'
    """
    return f"{len(statuses)} kernels: {', '.join(f'{statuses.count(status)} {status}' for status in known)}"


def width() -> int | None:
    """Return the width of the terminal, or None if standard output is not a terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def folded(cells: Sequence[Sequence[str]], gap: int, line: int | None) -> list[int | None]:
    """Return the maximum width of each column so that a table fits `line` characters; None for unfolded columns.

    The widest columns are folded first. Columns of at most NARROWEST characters never are.

    >>> folded([["sliders.union", "a reason of forty letters, and two more"]], 2, 40)
    [None, 25]
    """
    wide = [max(map(len, column)) for column in zip(*cells, strict=True)]
    most: list[int | None] = [None] * len(wide)
    over = sum(wide) + gap * (len(wide) - 1) - (line or sys.maxsize)
    for at in sorted(range(len(wide)), key=wide.__getitem__, reverse=True):
        if over > 0 and wide[at] > NARROWEST:
            most[at] = max(NARROWEST, wide[at] - over)
            over -= wide[at] - max(NARROWEST, wide[at] - over)
    return most
