"""Rows on the screen: for people to read, or for a program."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from setwise.analysis.commands.terminal import folded, painted, width


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
    print(painted(text))


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
