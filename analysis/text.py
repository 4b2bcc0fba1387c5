"""Numbers of things as English text, and tables as text."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from tabulate import tabulate

_NARROWEST = 12
"""The smallest width in characters to which a column is folded."""


def plural(number: int, name: str) -> str:
    """Return the noun in the singular or plural form for a number.

    >>> plural(1, "branch"), plural(2, "branch"), plural(0, "move")
    ('branch', 'branches', 'moves')
    """
    return name if number == 1 else name + ("es" if name.endswith("ch") else "s")


def counted(number: int, name: str) -> str:
    """Return a number with its noun.

    >>> counted(0, "kernel"), counted(1, "kernel"), counted(2, "kernel")
    ('no kernels', '1 kernel', '2 kernels')
    """
    return f"{number or 'no'} {plural(number, name)}"


def table(rows: Iterable[Sequence[Any]], head: Sequence[str] = (), width: int | None = None) -> str:
    """Return rows as a text table, below a head if there is one. Columns of numbers and empty cells are right-aligned.

    To fit `width` characters, columns wider than 12 are folded, the widest most and the first column last.

    >>> print(table([("bmi2", 15, "reason enough by far"), ("x86-64", 1.5, "")], ("isa", "cycles", "why"), 31))
    isa       cycles  why
    ------  --------  -------------
    bmi2          15  reason enough
                      by far
    x86-64       1.5
    """
    cells = [[f"{cell:g}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    titles = [[f"{title}  " for title in head]] if head else []  # tabulate adds two to a title's width
    columns = list(zip(*titles, *cells, strict=True))
    widths = wide = [max(map(len, column)) for column in columns]
    while width and sum(widths) + 2 * (len(widths) - 1) > width and max(widths) > _NARROWEST:
        widest = max(range(len(widths)), key=lambda at: (at > 0 and widths[at] > _NARROWEST, widths[at]))
        widths = [each - (at == widest) for at, each in enumerate(widths)]
    numbers = [all(re.fullmatch(r"[-\d.,/%]*", cell) for cell in column[len(titles) :]) for column in columns]
    text = tabulate(
        cells,
        head,
        tablefmt="simple" if head else "plain",
        colalign=["right" if each and cells else "left" for each in numbers],
        disable_numparse=True,
        maxcolwidths=[None if most == least else least for most, least in zip(wide, widths, strict=True)],
    )
    return "\n".join(line.rstrip() for line in text.splitlines())
