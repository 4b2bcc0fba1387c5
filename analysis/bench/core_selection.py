"""The quietest of the processors that this thread may run on, looked for now and then, and work by turns on it.

A processor may be a thread of a core whose other thread runs somebody else's program, on a virtual machine another
tenant's. Who measures cannot end that, but among several processors one is mostly quieter than the others. So rows of
additions are timed on each of them for about a millisecond, again and again, and the work goes on where most of them
are undisturbed.

How long a row takes while nobody else uses the core is a matter of the core: four units take 1 cycle, Zen 5's six 0.76.
It is at most 1, and else the least that was seen on any of the processors. When far less is seen than before, nothing
was quiet before, and what was kept until then is forgotten.
"""

import os
import time
from collections.abc import Mapping, Sequence
from functools import cache
from math import inf
from typing import Protocol, Self

from setwise.analysis.bench.trials import WIDE_SLOWDOWN, Sections, percentile, row_of
from setwise.codegen.run.call import host
from setwise.codegen.run.harness import GENERAL, Signature
from setwise.codegen.run.stopwatch import ArgumentSets, Stopwatch
from setwise.codegen.run.timer import CHAIN_ADDS, WIDE_ROWS, Calls, Timer, timer

QUARTILE = 0.25
"""A quarter of a processor's rows take at most what is its least: fewer may be wrong by chance."""
_TRIALS = 64
_EVERY = 0.25  # seconds
_SHARE = 10  # of all time at most one part in so many goes into looking, however many processors there are


class TimedWork(Protocol):
    """Something that is measured a block of trials at a time."""

    @property
    def kept(self) -> int:
        """How many blocks were kept."""

    def run(self, row: float) -> None:
        """Run a block on a core on which a row takes so many cycles when it is quiet."""

    def forget(self) -> None:
        """What was kept counts no more."""


class QuietCore:
    """The quietest processor, to which this thread is bound until the end of `with QuietCore() as core`.

    `row` has the cycles of a row of additions on a quiet core, from the least that is known before; `undisturbed` is
    the part of the rows that took them.
    """

    def __init__(self, row: float = 1.0) -> None:
        self.row, self.undisturbed = row, 0.0
        self._trusted = row
        self._allowed = processors()
        self._next = 0.0

    def look(self) -> bool:
        """Go where it is quiet now; whether nothing was quiet since this was last said, or since the beginning."""
        begun = time.monotonic()
        if begun < self._next:
            return False
        seen = {processor: rows_here() for processor in self._allowed if _bind([processor])}
        chosen, self.row, self.undisturbed = quietest(seen or {0: rows_here()}, self.row)
        if seen:
            _bind([chosen])
        took = time.monotonic() - begun
        self._next = begun + max(_EVERY, _SHARE * took)
        if self.row * WIDE_SLOWDOWN >= self._trusted:
            return False
        self._trusted = self.row
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        _bind(self._allowed)


def processors() -> list[int]:
    """Those that this thread may run on; none where the system does not tell."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def _bind(processors: Sequence[int]) -> bool:
    """Whether this thread runs there now; not where a processor has gone since, or the system lets nobody choose."""
    if not processors or not hasattr(os, "sched_setaffinity"):
        return False
    try:
        os.sched_setaffinity(0, processors)
    except OSError:
        return False
    return True


def quietest(seen: Mapping[int, Sequence[float]], known: float) -> tuple[int, float, float]:
    """Of processors the one with most undisturbed rows, the cycles of a quiet row, and the part that is undisturbed.

    `seen` has the cycles of rows on each of them, `known` the least that a row took before.

    >>> quietest({0: [0.8, 0.97, 0.98, 0.99], 1: [0.75, 0.75, 0.76, 0.99]}, known=1.0)
    (1, 0.75, 0.75)
    """
    row = min([known, *(percentile(rows, QUARTILE) for rows in seen.values() if rows)])
    parts = {
        processor: sum(cycles <= WIDE_SLOWDOWN * row for cycles in rows) / max(1, len(rows))
        for processor, rows in seen.items()
    }
    chosen = max(parts, key=lambda processor: parts[processor])
    return chosen, row, parts[chosen]


def rows_here() -> list[float]:
    """Cycles that rows of additions take on this processor now; infinite where the chains beside them do not agree."""
    stopwatch = Stopwatch(_loop(), ArgumentSets((0,)))
    try:
        records = stopwatch.run(1, _TRIALS)
    finally:
        stopwatch.close()
    sections = Sections(CHAIN_ADDS, WIDE_ROWS, 1)
    return [inf if (cycles := row_of(record, sections)) is None else cycles for record in records]


@cache
def _loop() -> Timer:
    return timer(b"\xc3", Signature(host(), (GENERAL,)), Calls("independent", in_round=1), host())


def by_turns(every: Sequence[TimedWork], wanted: int, patience: float, row: float = 1.0) -> float:
    """Run all by turns, so that a disturbance meets all alike, until so many blocks are kept of each.

    After `patience` seconds no turn is begun but the first. What comes back is the cycles of a quiet row, and `row` the
    same from before.
    """
    end = time.monotonic() + patience
    waiting, begun = list(every), False
    with QuietCore(row) as core:
        while waiting and (not begun or time.monotonic() < end):
            begun = True
            for one in waiting:
                if core.look():
                    for known in every:
                        known.forget()
                one.run(core.row)
            waiting = [one for one in every if one.kept < wanted]
    return core.row
