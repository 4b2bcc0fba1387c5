"""The classic comparison settled: dumb7 or Kogge-Stone, by instruction set, one direction or all, latency or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from setwise.analysis.report.kernels import Figures
from setwise.analysis.report.markdown import FAMILIES, ISAS, span, table, table_if_any, with_lanes
from setwise.analysis.report.outcomes import OUTCOMES, Outcome, outcome, tallied
from setwise.codegen.board import DIR8

Scope = Literal["one direction", "all eight"]
Measure = Literal["instructions", "chained", "independent"]

CYCLES: tuple[Measure, ...] = ("chained", "independent")
MEASURES: tuple[Measure, ...] = ("instructions", *CYCLES)

_SAME = 0.005
"""Bounds that differ by less, as a part of them, are the same but for rounding."""


@dataclass(frozen=True, slots=True)
class Duel:
    """Two kernels that do the same: figures of each, smaller is better, on a processor or, of instructions, on all."""

    isa: str
    lanes: int
    scope: Scope
    direction: str
    measure: Measure
    processor: str
    left: float
    right: float

    @property
    def outcome(self) -> Outcome:
        """How the right one stands."""
        return outcome(self.right, self.left, _SAME)


def duels(figures: Figures, left: str, right: str) -> Iterator[Duel]:
    """Every comparison of two families' attacks, each of one direction and of all eight."""
    for kernel in figures.values():
        other = figures.get((f"{right}.attacks.{kernel.direction}", kernel.isa, kernel.lanes))
        single = kernel.direction in {direction.name for direction in DIR8}
        if (kernel.family, kernel.form, kernel.shape) != (left, "attacks", "straight") or other is None:
            continue
        if not (single or kernel.direction == "queen"):
            continue
        duel = partial(Duel, kernel.isa, kernel.lanes, "one direction" if single else "all eight", kernel.direction)
        yield duel("instructions", "", kernel.counts.instructions, other.counts.instructions)
        for processor, bound in kernel.bounds.items():
            if rival := other.bounds.get(processor):
                if bound.chained is not None and rival.chained is not None:
                    yield duel("chained", processor, bound.chained, rival.chained)
                yield duel("independent", processor, bound.independent, rival.independent)


def verdict_table(fought: Sequence[Duel], left: str, right: str) -> str:
    """A line for each instruction set and scope: both families' figures, and how the right one stands in cycles."""
    lines = []
    for isa, lanes, scope in dict.fromkeys((duel.isa, duel.lanes, duel.scope) for duel in sorted(fought, key=_order)):
        here = [duel for duel in fought if (duel.isa, duel.lanes, duel.scope) == (isa, lanes, scope)]
        cells = [_cell([duel for duel in here if duel.measure == measure]) for measure in MEASURES]
        _, *counts = tallied(duel.outcome for duel in here if duel.measure in CYCLES)
        lines.append((with_lanes(isa, lanes), scope, *cells, *counts))
    names = f"{FAMILIES[left]} : {FAMILIES[right]}"
    head = ("", "", f"instructions, {names}", "cycles chained", "cycles independent", *OUTCOMES)
    return table(head, lines, left=2)


def tallies(groups: Mapping[str, Sequence[Duel]]) -> str | None:
    """A line a group and measure: in how many comparisons the right one is ahead, level, behind. None without any."""
    lines = []
    for title, fought in groups.items():
        for measure in MEASURES:
            if found := [duel.outcome for duel in fought if duel.measure == measure]:
                lines.append((title, measure, *tallied(found)))
    return table_if_any(("", "", "comparisons", *OUTCOMES), lines, left=2)


def _cell(fought: Sequence[Duel]) -> str:
    """Both sides' figures, from the least to the greatest."""
    if not fought:
        return "-"
    return f"{span([duel.left for duel in fought])} : {span([duel.right for duel in fought])}"


def _order(duel: Duel) -> tuple[bool, int, int]:
    return duel.scope != "one direction", ISAS.index(duel.isa), -duel.lanes
