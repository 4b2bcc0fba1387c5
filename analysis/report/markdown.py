"""Markdown for the reports: pages, tables, and words that agree with numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files

from setwise.codegen.board import DIRECTIONS
from setwise.codegen.targets import TARGETS

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


def page(template: str, /, **fields: object) -> str:
    """The page of a file in templates/, with its fields filled in."""
    return filled((files(__package__) / "templates" / template).read_text(encoding="utf-8"), fields)


def filled(template: str, fields: Mapping[str, object]) -> str:
    """A template with its fields filled in.

    A line with a field that is not given, or None, is left out, and so is a section, from its heading to the next or
    to a rule, that has fields and is given none of them.

    >>> filled("# Title\\n{left}\\n\\n## Left out\\nwith {right}\\n", {"left": "{right}"})
    '# Title\\n{right}\\n'
    """
    given = {name: value for name, value in fields.items() if value is not None}
    lines: list[str] = []
    for section in re.split("^(?=#|---$)", template, flags=re.MULTILINE):
        if not _fields(section) or _fields(section) & given.keys():
            lines += (line.format_map(given) for line in section.splitlines() if _fields(line) <= given.keys())
    return re.sub("\n{3,}", "\n\n", "\n".join(lines)).rstrip("\n") + "\n"


def _fields(template: str) -> set[str]:
    """The fields that a piece of a template has."""
    return set(re.findall(r"{(\w+)(?::[^}]*)?}", template))


def table(head: Sequence[str], rows: Iterable[Sequence[object]], left: int = 1) -> str:
    """A Markdown table; so many columns from the left are aligned left, the others right.

    >>> print(table(("name", "moves"), [("dumb7", 1)]))
    | name | moves |
    | :-- | --: |
    | dumb7 | 1 |
    """
    lines = [head, [":--" if at < left else "--:" for at in range(len(head))], *rows]
    cells = ((str(cell).replace("|", "\\|") for cell in line) for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def table_if_any(head: Sequence[str], rows: Sequence[Sequence[object]], left: int = 1) -> str | None:
    """The table, None where it has no rows."""
    return table(head, rows, left) if rows else None


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


def versions_of(makers: Mapping[str, str]) -> str:
    """Who made or did something, with their versions.

    >>> versions_of({"gcc": "gcc 12.2.0", "NumPy": "2.0"})
    'gcc (gcc 12.2.0) and NumPy (2.0)'
    """
    return listed([f"{name} ({version})" for name, version in makers.items()])


def span(values: Sequence[float]) -> str:
    """The least and the greatest of some numbers, one number where they are the same.

    >>> span([3, 3]), span([1, 2.5, 2])
    ('3', '1 to 2.5')
    """
    least, most = figure(min(values)), figure(max(values))
    return least if least == most else f"{least} to {most}"
