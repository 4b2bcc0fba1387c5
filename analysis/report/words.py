"""How few operations whole words take: what `setwise bound --words` ruled out, as it was recorded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

from setwise.analysis.bounds.words import GOALS, KINDS, REGISTERS
from setwise.analysis.report.kernels import Figures
from setwise.analysis.report.markdown import code, table
from setwise.analysis.report.records import Record
from setwise.codegen.targets.general import X86_64
from setwise.codegen.targets.vector import AVX2


class Ruled(TypedDict):
    """That no program has so many operations: so many kinds of programs, each wrong in one of the cases."""

    operations: int
    programs: int
    cases: int
    derived: int


class Row(TypedDict):
    """The fewest operations of a goal in general or vector registers, and what was ruled out for 1, 2, ... of them.

    `derived` clauses are those of all certificates.
    """

    goal: str
    registers: str
    at_least: int
    none: list[Ruled]


_KERNELS = {"east": "push.attacks.east", "byte-sums": "bytewise.add", "byte-differences": "bytewise.subtract"}


def _check(rows: list[Row]) -> None:
    for row in rows:
        if row["goal"] not in GOALS or row["registers"] not in [words.name for words in REGISTERS]:
            raise ValueError(f"{row['goal']}, {row['registers']} registers: no such thing is asked")
        shown = [(none["operations"], none["programs"]) for none in row["none"]]
        if shown != [(number, len(KINDS) ** number) for number in range(1, row["at_least"])]:
            raise ValueError(f"{row['goal']}: at least {row['at_least']} is not what was shown")


RECORD = Record("data/words.json", list[Row], "setwise bound --words --record", check=_check)


def merged(rows: Iterable[Row], new: Iterable[Row]) -> list[Row]:
    """All rows, of two for the same the one that shows more."""
    ordered = sorted((*rows, *new), key=lambda row: (row["goal"], row["registers"], row["at_least"]))
    return [*{(row["goal"], row["registers"]): row for row in ordered}.values()]


def words_table(rows: Iterable[Row], figures: Figures) -> str:
    """A row a goal and kind of registers, with what a kernel takes."""
    lines = []
    for row in rows:
        name, isa = _KERNELS[row["goal"]], {"general": X86_64.name, "vector": AVX2.name}[row["registers"]]
        kernel = figures.usual(isa, name)
        last = row["none"][-1] if row["none"] else {"programs": 0, "cases": 0, "derived": 0}
        lines.append(
            (
                *(row["goal"], row["registers"], row["at_least"], f"{last['programs']:,}", last["cases"]),
                *(f"{last['derived']:,}", f"{kernel.counts.operations} ({code(name)}, {isa})" if kernel else "-"),
            )
        )
    head = ("goal", "registers", "at least", "kinds of programs", "cases", "clauses derived", "a kernel takes")
    return table(head, lines, left=2)
