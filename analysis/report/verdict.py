"""The classic comparison settled: dumb7 or Kogge-Stone, by instruction set, one direction or all, latency or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from setwise.analysis.report.kernels import Figures
from setwise.analysis.report.markdown import FAMILIES, ISAS, listed, span, table
from setwise.codegen.board import DIR8

Scope = Literal["one direction", "all eight"]
Measure = Literal["instructions", "chained", "independent"]

CYCLES: tuple[Measure, ...] = ("chained", "independent")
MEASURES: tuple[Measure, ...] = ("instructions", *CYCLES)

_SAME = 0.005
"""Figures that lie no further apart than this part of them count as the same."""


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
    def winner(self) -> int:
        """-1 for the left one, 1 for the right one, 0 where they are the same."""
        if abs(self.left - self.right) <= _SAME * max(self.left, self.right):
            return 0
        return -1 if self.left < self.right else 1


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
    """A line for each instruction set and scope: both families' figures, and who is ahead."""
    lines = []
    for isa, lanes, scope in dict.fromkeys((duel.isa, duel.lanes, duel.scope) for duel in sorted(fought, key=_order)):
        here = [duel for duel in fought if (duel.isa, duel.lanes, duel.scope) == (isa, lanes, scope)]
        title = isa if lanes == 1 else f"{isa}, {lanes} {'boards' if scope == 'one direction' else 'lanes'}"
        cells = [_cell([duel for duel in here if duel.measure == measure]) for measure in MEASURES]
        lines.append((title, scope, *cells, _ahead(here, left, right)))
    names = f"{FAMILIES[left]} : {FAMILIES[right]}"
    head = ("", "", f"instructions, {names}", "cycles chained", "cycles independent", "fewer cycles")
    return table(head, lines, left=2)


def tally(fought: Sequence[Duel], measure: Measure) -> Counter[int]:
    """How often the left one is ahead (-1), both are the same (0), the right one is ahead (1)."""
    return Counter(duel.winner for duel in fought if duel.measure == measure)


def sentence(fought: Sequence[Duel], measure: Measure, left: str, right: str) -> str:
    """Who is ahead how often, in words; where the one that is mostly behind is ahead, by name."""
    counts = tally(fought, measure)
    ahead, behind, sign = (right, left, 1) if counts[1] >= counts[-1] else (left, right, -1)
    words = f"{FAMILIES[ahead]} ahead in {counts[sign]} of {counts.total()}"
    if counts[0]:
        words += f", level in {counts[0]}"
    if not counts[-sign]:
        return words
    rare = [duel for duel in fought if duel.measure == measure and duel.winner == -sign]
    where = listed(list(dict.fromkeys(f"{duel.isa} in {duel.scope}" for duel in sorted(rare, key=_order))))
    return f"{words}, {FAMILIES[behind]} ahead in {counts[-sign]} ({where})"


def _cell(fought: Sequence[Duel]) -> str:
    """Both sides' figures, from the least to the greatest."""
    if not fought:
        return "-"
    return f"{span([duel.left for duel in fought])} : {span([duel.right for duel in fought])}"


def _ahead(fought: Sequence[Duel], left: str, right: str) -> str:
    """Who takes fewer cycles: one name where it is the same one in both ways to call."""
    winners = {
        measure: _winner([duel for duel in fought if duel.measure == measure], left, right) for measure in CYCLES
    }
    names = dict.fromkeys(name for name in winners.values() if name)
    if len(names) == 1:
        return next(iter(names))
    return ", ".join(f"{measure}: {name}" for measure, name in winners.items() if name) or "-"


def _winner(fought: Sequence[Duel], left: str, right: str) -> str:
    signs = {duel.winner for duel in fought}
    if not signs:
        return ""
    if signs == {0}:
        return "level"
    if {-1, 1} <= signs:
        return "it varies"
    return FAMILIES[right if 1 in signs else left] + (" or level" if 0 in signs else "")


def _order(duel: Duel) -> tuple[bool, int, int]:
    return duel.scope != "one direction", ISAS.index(duel.isa), -duel.lanes
