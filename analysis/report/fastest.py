"""fastest.md: variants taken for speed beside all others and compilers' code, as one command recorded them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from statistics import median

from setwise.analysis.cost.processors.table import Processor
from setwise.analysis.cost.processors.tuned import read_tuned
from setwise.analysis.measure import fastest as race
from setwise.analysis.measure.compilers import installed
from setwise.analysis.measure.fastest import OBJECTIVES, Row
from setwise.analysis.measure.fields import Taken, routines
from setwise.analysis.measure.trials import OURS
from setwise.analysis.report import findings
from setwise.analysis.report.bounds import TITLES
from setwise.analysis.report.findings import Finding, about, explained
from setwise.analysis.report.markdown import code, page, table, table_if_any, versions_of
from setwise.analysis.report.outcomes import NOISE, OUTCOMES, Outcome, tallied
from setwise.analysis.report.outcomes import outcome as outcome_of
from setwise.analysis.report.records import Record, once_of
from setwise.analysis.text import counted

PAGE = "fastest.md"


@dataclass(frozen=True, slots=True)
class Fastest:
    """A recorded comparison: the machine, its processor as the model calls it, the day, who compiled, the rows."""

    machine: str
    processor: str
    date: str
    versions: dict[str, str]
    rows: tuple[Row, ...]

    @property
    def behind(self) -> list[Row]:
        """The rows in which something else is faster, the slowest first."""
        return sorted((row for row in self.rows if outcome(row) == "behind"), key=lambda row: row.speed)


RECORD = Record("data/fastest.json", Fastest, "setwise report --measure fastest", "rows")


def outcome(row: Row) -> Outcome:
    """How the variant that is taken stands to the fastest of all others, beyond the noise."""
    noise = max(NOISE, *(each.noise for each in (row.ours, row.other, row.theirs) if each))
    return outcome_of(row.ours.cycles, row.speed * row.ours.cycles, noise)


def complaints(held: Fastest, known: Sequence[Finding]) -> list[str]:
    """A line on each row that is behind for no known cause, and on each finding without a row that is slower."""
    behind = {_call(row): f"is behind ({row.speed:.2f})" for row in held.behind}
    slower = [_call(row) for row in held.rows if row.speed < 1]
    return findings.complaints(behind, about(known, held.processor, PAGE), slower)


def _call(row: Row) -> str:
    return f"{row.name} {row.mode}"


def measure(
    folder: Path, here: Processor, machine: str, date: str, progress: Callable[[str], None], patience: float
) -> Fastest:
    """Time all routines of single boards; what is recorded of the same code on the same machine stays.

    Rows are written into the folder as they are made, so that after an interrupt it goes on from there.
    """
    before = RECORD.read(folder)
    known = before.rows if before and before.machine == machine else ()
    held = Fastest(machine, here.name, date, {one.name: one.version for one in installed()}, known)

    def keep(rows: Sequence[Row]) -> None:
        RECORD.write(folder, replace(held, rows=tuple(rows)))

    return replace(held, rows=tuple(race.measure(routines(), here, known, keep, progress, patience)))


def fastest(held: Fastest, known: Sequence[Finding]) -> str:
    """The page."""
    head = ("Routine", "calls", "taken", "cycles", "fastest", "cycles", "speed")
    behind = [
        (code(row.name), row.mode, _variant(row.ours), f"{row.ours.cycles:.2f}", *_first(row), f"{row.speed:.2f}")
        for row in held.behind
    ]
    return page(
        PAGE,
        **once_of(held),
        model=TITLES.get(held.processor),
        compilers=versions_of(held.versions),
        number=counted(len(held.rows), "row"),
        tuned=_tuned(held),
        outcomes=_outcomes(held.rows),
        behind=table_if_any(head, behind, left=3),
        **explained(map(_call, held.behind), about(known, held.processor, PAGE)),
    )


def _tuned(held: Fastest) -> str:
    """How what is taken was found."""
    table = read_tuned(held.processor)
    if table is None:
        return "What is taken has the least forecast."
    names = {row.name for row in held.rows}
    rows = [row for row in table.rows if row.name in names]
    less = [1 - row.cycles / row.forecast_cycles for row in rows if row.forecast_cycles]
    gain = f", in {median(less):.0%} fewer cycles in the middle and {max(less):.0%} at most" if less else ""
    found = f"for {sum(bool(row.forecast) for row in rows)} of {len(rows)} routines, objectives and sets"
    return (
        f"What is taken was found by timing ({code(table.made_by)}, {table.machine}, {table.date}): {found} it is not "
        f"what has the least forecast{gain}. What found no quiet moment then is taken by its forecast."
    )


def _first(row: Row) -> tuple[str, str]:
    """What is the fastest beside the one that is taken, and its cycles."""
    first = min((each for each in (row.other, row.theirs) if each), key=lambda each: each.cycles)
    return _variant(first), f"{first.cycles:.2f}"


def _variant(taken: Taken) -> str:
    return taken.maker.removeprefix(f"{OURS} ")


def _outcomes(rows: Sequence[Row]) -> str:
    """A line a way to call: how it stands to the compilers, and to all."""
    lines: list[tuple[object, ...]] = []
    for mode, objective in OBJECTIVES.items():
        called = [row for row in rows if row.mode == mode]
        beside = [replace(row, other=None) for row in called if row.theirs]
        among = [replace(row, theirs=None) for row in called if row.other]
        counts = (tallied(map(outcome, group))[1:] for group in (beside, among))
        lines.append((mode, objective, *chain(*counts)))
    head = ("calls", "taken for", *(f"{each} of compilers" for each in OUTCOMES[:2]), "behind them")
    return table((*head, "ahead of our others", "level", "behind"), lines, left=2)
