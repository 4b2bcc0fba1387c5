"""Markdown: pages from templates, tables, numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files


def page(template: str, /, **fields: object) -> str:
    """Return the page of a file in templates/ with its fields filled in."""
    return (files(__package__) / "templates" / template).read_text(encoding="utf-8").format(**fields)


def table(head: Sequence[str], rows: Iterable[Sequence[object]], left: int = 2) -> str:
    """Return a Markdown table; the first `left` columns are aligned left, the others right.

    >>> print(table(("name", "moves"), [("dumb7", 1)], left=1))
    | name | moves |
    | :-- | --: |
    | dumb7 | 1 |
    """
    lines = [head, [":--" if at < left else "--:" for at in range(len(head))], *rows]
    cells = ((str(cell).replace("|", "\\|") for cell in line) for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def figure(value: float | None) -> str:
    """Return a number with at most one decimal, or a dash for None.

    >>> figure(10.0), figure(4.25), figure(None)
    ('10', '4.2', '-')
    """
    return "-" if value is None else f"{value:.1f}".removesuffix(".0")


def span(values: Iterable[float]) -> str:
    """Return the least and the greatest of some numbers, or one number if they are equal.

    >>> span([3, 3]), span([1, 2.5, 2])
    ('3', '1 to 2.5')
    """
    least, *_, most = map(figure, sorted([*values] * 2))
    return least if least == most else f"{least} to {most}"
