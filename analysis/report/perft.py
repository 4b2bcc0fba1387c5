"""perft.md: programs that count legal moves, by set-wise kernels and by tables, as one command recorded them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from setwise.analysis.report.markdown import page, table, versions_of
from setwise.analysis.report.records import Record, once_of

MANY = 4
"""Sliders a side, from which on the kernels should pay."""


@dataclass(frozen=True, slots=True)
class Race:
    """A position's moves to a depth, counted by both programs of a compiler: nanoseconds of the fastest run of each."""

    suite: str
    fen: str
    depth: int
    moves: int
    compiler: str
    kernels: int
    tables: int

    @property
    def ratio(self) -> float:
        """How many times as fast the kernels are."""
        return self.tables / self.kernels

    @property
    def sliders(self) -> tuple[int, int]:
        """White's and Black's."""
        placed = self.fen.split()[0]
        return sum(map(placed.count, "RBQ")), sum(map(placed.count, "rbq"))


@dataclass(frozen=True, slots=True)
class Perft:
    """Races on one machine; `load` is that of the machine beforehand, `isa` the set of the kernels."""

    machine: str
    cores: int
    date: str
    load: float
    isa: str
    compilers: dict[str, str]
    runs: int
    races: tuple[Race, ...]


RECORD = Record("data/perft.json", Perft, "python -m tests.examples.measure", "races")


def perft(measured: Perft) -> str:
    """The page."""
    many = [race for race in measured.races if min(race.sliders) >= MANY]
    few = [race for race in measured.races if min(race.sliders) < MANY]
    suites = dict.fromkeys(race.suite for race in measured.races)
    return page(
        "perft.md",
        **once_of(measured),
        makers=versions_of(measured.compilers),
        many=MANY,
        positions=len({race.fen for race in many}),
        ratios=table(("", "many: least", "median", "few: least", "median"), _ratios(measured, (many, few))),
        **{suite: _table(measured, [race for race in measured.races if race.suite == suite]) for suite in suites},
    )


def _ratios(measured: Perft, groups: Sequence[Sequence[Race]]) -> list[list[str]]:
    """A line a compiler: the least and the middle ratio of each group."""
    lines = []
    for name in measured.compilers:
        found = [[race.ratio for race in group if race.compiler == name] for group in groups]
        lines.append([name, *(f"{of(ratios):.2f}" if ratios else "-" for ratios in found for of in (min, median))])
    return lines


def _table(measured: Perft, races: Sequence[Race]) -> str:
    rows = []
    for fen in dict.fromkeys(race.fen for race in races):
        of_it = [race for race in races if race.fen == fen]
        placed, sliders = " ".join(fen.split()[:4]), " : ".join(map(str, of_it[0].sliders))
        rows.append((f"`{placed}`", sliders, of_it[0].depth, f"{of_it[0].moves:,}", *map(_cell, of_it)))
    return table(("position", "sliders", "depth", "moves", *measured.compilers), rows)


def _cell(race: Race) -> str:
    """Million moves a second by the kernels, by tables, and how many times as fast that is."""
    kernels, tables = (f"{race.moves * 1000 / taken:,.0f}" for taken in (race.kernels, race.tables))
    return f"{kernels} : {tables} = {race.ratio:.2f}"
