"""Our cycles beside those of the fastest code that compilers make of C for the same: who is ahead, and who behind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from setwise.analysis.measure.compilers import FOR_SCALE
from setwise.analysis.measure.trials import OURS
from setwise.analysis.report.findings import Finding, about, explained
from setwise.analysis.report.kernels import FigureKey
from setwise.analysis.report.markdown import FAMILIES, code, figure, listed, table, table_if_any, with_lanes
from setwise.analysis.report.measurements import Measured
from setwise.analysis.report.outcomes import OUTCOMES, Outcome, outcome, tallied
from setwise.analysis.report.records import once_of
from setwise.analysis.text import counted
from setwise.codegen.targets.vector import AVX512

EXPORTED = "(exported"
"""What the makers of setwise's own C export are told by."""
PLAIN = "(exported plain)"
"""The same, but the one for x86-64: other operations than a vector kernel's."""
_OTHERS = {(AVX512.name, 8): ("(rays apart)",), (AVX512.name, 4): ("(rays)",)}
"""C that lays rays out otherwise: it stands beside the kernel of so many lanes that lays them out so too."""


@dataclass(frozen=True, slots=True)
class Race:
    """Our cycles and those of the fastest code of compilers, for one kernel and way to call it."""

    key: FigureKey
    mode: str
    ours: float
    theirs: float
    maker: str

    @property
    def title(self) -> str:
        """The instruction set, and the lanes where there are several."""
        return with_lanes(*self.key[1:])

    @property
    def speed(self) -> float:
        """Their cycles over ours: above 1 we are faster."""
        return self.theirs / self.ours

    @property
    def outcome(self) -> Outcome:
        """How ours stands."""
        return outcome(self.ours, self.theirs)


def races(measured: Measured, exported: bool = False) -> Iterator[Race]:
    """Every kernel of ours that was timed beside compilers' code for the same routine and instruction set."""
    for key, mode in dict.fromkeys((timed.key, timed.mode) for timed in measured.timed):
        medians = measured.timings(key, mode)
        others = {
            maker: cycles
            for maker, cycles in medians.items()
            if maker != OURS and (EXPORTED in maker) == exported and _alike(key, maker)
        }
        if OURS in medians and others:
            fastest = min(others, key=lambda maker: others[maker])
            yield Race(key, mode, medians[OURS], others[fastest], fastest)


def _alike(key: FigureKey, maker: str) -> bool:
    """Whether it is the same algorithm: set-wise, and rays in vectors laid out as ours are."""
    routine, isa, lanes = key
    others = (FOR_SCALE, *_OTHERS.get((isa, lanes), ()), *(() if routine.endswith(".batch") else (PLAIN,)))
    return not any(other in maker for other in others)


def outcomes(measured: Measured) -> str | None:
    """How often we are ahead, level and behind: of C after the literature, and of our own export. None without any."""
    found = {"C after the literature": races(measured), "setwise's own C export": races(measured, exported=True)}
    lines = [(title, *tallied(race.outcome for race in run)) for title, run in found.items()]
    return table_if_any(("The compilers' fastest of", "comparisons", *OUTCOMES), [line for line in lines if line[1]])


def sections(measured: Measured | None, findings: Sequence[Finding] = ()) -> dict[str, object]:
    """What the page on compilers says of cycles: ours beside those of the compilers' fastest code."""
    run, own = (list(races(measured, exported)) if measured else [] for exported in (False, True))
    if not measured or not run:
        return {}
    calls = (f"{race.key[0]} {race.title} {race.mode}" for race in run if race.outcome == "behind")
    return {
        **once_of(measured),
        "outcomes": outcomes(measured),
        **_right(measured),
        "races": _by_family(run),
        "behind": _behind(run),
        **explained(calls, about(findings, measured.processor, "compilers.md")),
        "exported_races": _by_family(own) if own else None,
        "exported_behind": _behind(own),
    }


def _by_family(run: Sequence[Race]) -> str:
    """A line a family and instruction set: cycles of all comparisons together, and their outcomes."""
    groups: dict[tuple[str, str], list[Race]] = {}
    for race in run:
        family = race.key[0].partition(".")[0] + (", arrays" if race.key[0].endswith(".batch") else "")
        groups.setdefault((family, race.key[1]), []).append(race)
    lines = []
    for (family, isa), group in groups.items():
        ours, theirs = sum(race.ours for race in group), sum(race.theirs for race in group)
        number, *won = tallied(race.outcome for race in group)
        cells = (figure(ours), figure(theirs), f"{theirs / ours:.2f}", *won)
        lines.append((FAMILIES.get(family, family), isa, number, *cells))
    head = ("Family", "", "comparisons", "setwise", "compilers' best", "speed", *OUTCOMES)
    return table(head, lines, left=2)


def _behind(run: Sequence[Race]) -> str | None:
    """A line for each comparison in which we are behind, the slowest of ours first."""
    lines = []
    for race in sorted((race for race in run if race.outcome == "behind"), key=lambda race: race.speed):
        ours, theirs, speed = (f"{cycles:.2f}" for cycles in (race.ours, race.theirs, race.speed))
        lines.append((code(race.key[0]), race.title, race.mode, ours, theirs, race.maker, speed))
    return table_if_any(("Routine", "", "calls", "setwise", "compilers' best", "made by", "speed"), lines, left=3)


def _right(measured: Measured) -> dict[str, object]:
    """How many of the compilers' functions that were timed are proved."""
    functions = {(timed.key, timed.maker): timed.right for timed in measured.timed if timed.maker != OURS}
    proved = sum(right == "proved" for right in functions.values())
    return {
        "functions": counted(len(functions), "function"),
        "proved": proved,
        "passed": len(functions) - proved,
        "wrong": listed(measured.wrong) or None,
    }
