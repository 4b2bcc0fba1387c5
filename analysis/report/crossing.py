"""crossing.md: from how many pieces on a set-wise kernel takes fewer cycles than tables, as it was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from setwise.analysis.measure.compilers import FOR_SCALE, MAGICS
from setwise.analysis.measure.crossing import Point
from setwise.analysis.measure.trials import OURS
from setwise.analysis.report.kernels import FigureKey
from setwise.analysis.report.markdown import ISAS, code, figure, page, table, versions_of
from setwise.analysis.report.records import Record, once_of
from setwise.codegen.targets import TARGETS

WAYS = ("mixed", "independent", "chained")
"""How calls follow each other, in the order of the tables' cells."""
PEXT, FILLS = FOR_SCALE, "fills"


@dataclass(frozen=True, slots=True)
class Crossing:
    """A recorded measurement: the machine, its processor as the model calls it or "", the day, how, the figures."""

    machine: str
    processor: str
    date: str
    method: str
    versions: dict[str, str]
    points: tuple[Point, ...]

    def of(self, fingerprints: Mapping[FigureKey, str]) -> Crossing:
        """The same without the figures of kernels of ours whose code is another now."""
        stale = {
            (point.name, point.isa)
            for point in self.points
            if point.maker == OURS and point.fingerprint != fingerprints.get((point.name, point.isa, point.lanes))
        }
        fresh = (point for point in self.points if means(point.maker) != OURS or (point.name, point.isa) not in stale)
        return replace(self, points=tuple(fresh))

    def cycles(self, name: str, isa: str, by: str, way: str) -> dict[int, float]:
        """The fewest cycles by the number of pieces (0: any) of those who do it `by` the same means."""
        least: dict[int, float] = {}
        for point in self.points:
            if (point.name, point.isa, means(point.maker), point.mode) == (name, isa, by, way) and point.median:
                least[point.pieces] = min(point.median, least.get(point.pieces, point.median))
        return least

    def start(self, name: str, isa: str, by: str, way: str) -> str:
        """From how many pieces on ours takes fewer cycles; `over 10` where it does not, - where figures lack.

        `at most 6` where the figure of five lacks. What lacks of more pieces is taken for no less than those of fewer.
        """
        ours, theirs = self.cycles(name, isa, OURS, way), self.cycles(name, _like(isa), by, way)
        if not ours or not theirs:
            return "-"
        ahead = [pieces for pieces in theirs if all(ours[0] < cycles for n, cycles in theirs.items() if n >= pieces)]
        if not ahead:
            return "-" if len(theirs) < len(self.numbers) else f"over {max(theirs)}"
        before = [pieces for pieces in self.numbers if pieces < min(ahead)]
        return f"at most {min(ahead)}" if before and before[-1] not in theirs else str(min(ahead))

    def starts(self, name: str, isa: str) -> str:
        """The same of all ways to call it, beside the tables that a processor of that set has instructions for."""
        by = PEXT if "bmi2" in TARGETS[isa].features | TARGETS[_like(isa)].features else MAGICS
        return _cells([self.start(name, isa, by, way) for way in WAYS])

    @property
    def numbers(self) -> list[int]:
        """The numbers of pieces that there are figures of."""
        return sorted({point.pieces for point in self.points} - {0})

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Routines and instruction sets that there are figures of ours of, the newest sets first."""
        pairs = dict.fromkeys((point.name, point.isa) for point in self.points if means(point.maker) == OURS)
        names = list(dict.fromkeys(name for name, _ in pairs))
        return sorted(pairs, key=lambda pair: (names.index(pair[0]), -ISAS.index(pair[1])))


RECORD = Record("data/crossing.json", Crossing, "setwise report --measure crossing", "points")


def means(maker: str) -> str:
    """By what means a maker's code does it: `setwise`, `look-up`, `look-up by magics` or `fills`.

    >>> means("gcc -march=haswell (look-up)"), means("clang-19 -march=haswell (rays)"), means("setwise apart/1-inner")
    ('look-up', 'fills', 'setwise')
    """
    kind = maker.rpartition("(")[2].rstrip(")")
    return OURS if maker.startswith(OURS) else kind if kind in (PEXT, MAGICS) else FILLS


def _like(isa: str) -> str:
    """The set for which tables are compiled that stand beside a kernel: vectors do not help them."""
    return "bmi2" if TARGETS[isa].vectors else isa


def _cells(cells: Sequence[str]) -> str:
    return "-" if set(cells) == {"-"} else " / ".join(cells)


def crossing(measured: Crossing) -> str:
    """The page."""
    return page(
        "crossing.md",
        **once_of(measured),
        compilers=versions_of(measured.versions),
        apart=_apart(measured),
        kernels=_kernels(measured),
        tables=_tables(measured),
    )


def _apart(measured: Crossing) -> str:
    """How far the processes lie apart, by the way to call."""
    spreads = [(way, [point.spread for point in measured.points if point.mode == way and point.median]) for way in WAYS]
    middle = ", ".join(f"{median(held):.0%} {way}" for way, held in spreads if held)
    return f"in the middle of all figures they lie {middle} apart"


def _kernels(measured: Crossing) -> str:
    rows = []
    for name, isa in measured.pairs:
        ours, fills = ([measured.cycles(name, isa, by, way).get(0) for way in WAYS] for by in (OURS, FILLS))
        starts = (_cells([measured.start(name, isa, by, way) for way in WAYS]) for by in (PEXT, MAGICS))
        rows.append((code(name), isa, _cells([*map(figure, ours)]), _cells([*map(figure, fills)]), *starts))
    head = ("Routine", "", "setwise", "compilers' best fill", "ahead of PEXT tables from", "of magics from")
    return table(head, rows, left=2)


def _tables(measured: Crossing) -> str:
    numbers = measured.numbers
    rows = []
    for name, isa in measured.pairs:
        for by, words in ((PEXT, "PEXT"), (MAGICS, "magics")):
            for way in WAYS:
                if cycles := measured.cycles(name, isa, by, way):
                    rows.append((code(name), f"{words}, {isa}", way, *(figure(cycles.get(n)) for n in numbers)))
    return table(("Routine", "tables", "calls", *map(str, numbers)), rows, left=3)
