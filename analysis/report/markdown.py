"""Markdown for the reports: pages, tables, and words that agree with numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from setwise.codegen.board import DIRECTIONS
from setwise.codegen.targets import TARGETS

COMMAND = "setwise report"
MADE = f"Made by `{COMMAND}`; `{COMMAND} --check` compares."

ISAS = tuple(TARGETS)
FAMILIES = {
    "dumb7": "dumb7",
    "kogge-stone": "Kogge-Stone",
    "push": "push",
    "subtraction": "subtraction",
    "shift": "one step",
}
LONG = {
    name: "-".join(filter(None, (("", "north", "south")[way.rank_step], ("", "east", "west")[way.file_step])))
    for name, way in DIRECTIONS.items()
}
"""The directions in full, as north-east."""


def page(title: str, *blocks: str, made: str = MADE) -> str:
    """A Markdown page of these blocks, empty ones left out; it says which command made it."""
    return "\n\n".join((f"# {title}", *(block.strip("\n") for block in blocks if block), f"---\n{made}")) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[object]], left: int = 1) -> str:
    """A Markdown table; so many columns from the left are aligned left, the others right.

    >>> print(table(("name", "moves"), [("dumb7", 1)]))
    | name | moves |
    | :-- | --: |
    | dumb7 | 1 |
    """
    lines = [head, [":--" if at < left else "--:" for at in range(len(head))], *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def code(name: object) -> str:
    """A name as it is typed."""
    return f"`{name}`"


def with_lanes(isa: str, lanes: int) -> str:
    """An instruction set, and the lanes where there are several.

    >>> with_lanes("bmi2", 1), with_lanes("avx2", 4)
    ('bmi2', 'avx2 x4')
    """
    return isa if lanes == 1 else f"{isa} x{lanes}"


def figure(value: float | None) -> str:
    """A number with one digit behind the point where it needs one; a dash for none.

    >>> figure(10.0), figure(4.25), figure(None)
    ('10', '4.2', '-')
    """
    if value is None:
        return "-"
    return f"{value:.1f}".removesuffix(".0")


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names in a sentence.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}"


def span(values: Sequence[float]) -> str:
    """The least and the greatest of some numbers, one number where they are the same.

    >>> span([3, 3]), span([1, 2.5, 2])
    ('3', '1 to 2.5')
    """
    least, most = figure(min(values)), figure(max(values))
    return least if least == most else f"{least} to {most}"


def _cell(cell: object) -> str:
    return str(cell).replace("|", "\\|")
