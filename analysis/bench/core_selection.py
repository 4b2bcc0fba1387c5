"""The search for the least disturbed processor.

A hardware thread may share its core with another one, which runs another program or, on a virtual machine, another
tenant's. Measurements cannot prevent that, but one of several processors is usually quieter than the others. So rows of
additions are timed on each processor for about a millisecond, again and again, and the measurement moves to the
processor on which most rows are undisturbed.

The duration of an undisturbed row depends on the core: 1 cycle with four ALUs, 0.76 with the six of Zen 5. It is
estimated as the minimum of 1 and the least first quartile seen on any processor. If it falls by over 3 %, all earlier
measurements were disturbed, and they are discarded.
"""

import os
import time
from collections.abc import Mapping, Sequence
from functools import cache
from math import inf
from typing import Self

from setwise.analysis.bench.trials import WIDE_SLOWDOWN, percentile, row_of
from setwise.codegen.run.call import host
from setwise.codegen.run.harness import GENERAL, Signature
from setwise.codegen.run.stopwatch import ArgumentSets, Stopwatch
from setwise.codegen.run.timer import Calls, Timer, timer

QUARTILE = 0.25
"""The quantile that estimates a processor's shortest row; the minimum itself can be wrong by chance."""
_TRIALS = 64
_EVERY = 0.25  # seconds from one search to the next, at least
_SHARE = 10  # the search takes at most a tenth of all time


class QuietCore:
    """The least disturbed processor. `look` binds this thread to it; the end of a `with` block undoes that.

    `row` is the cycles of an undisturbed row of additions, at most the value given. `undisturbed` is the fraction of
    that processor's rows that took hardly longer.
    """

    def __init__(self, row: float = 1.0) -> None:
        self.row, self.undisturbed = row, 0.0
        self._trusted = row
        self._allowed = processors()
        self._next = 0.0

    def look(self) -> bool:
        """Bind this thread to the least disturbed processor, unless the last search was a short time ago.

        Return whether the estimate of an undisturbed row fell so far that earlier measurements must be discarded.
        """
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
    """Return the numbers of the processors that this thread may run on; none if the system cannot tell."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def _bind(processors: Sequence[int]) -> bool:
    """Bind this thread to these processors. Return whether that succeeded; for no processors it does not."""
    if not processors or not hasattr(os, "sched_setaffinity"):
        return False
    try:
        os.sched_setaffinity(0, processors)
    except OSError:
        return False
    return True


def quietest(seen: Mapping[int, Sequence[float]], known: float) -> tuple[int, float, float]:
    """Return the processor with the largest fraction of undisturbed rows, an undisturbed row's cycles, that fraction.

    `seen` maps each processor to the cycles of its rows. `known` is the least duration of a row so far, in cycles.

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
    """Return for each of some trials the cycles of a row of additions, infinite if the trial's two chains disagree."""
    records = Stopwatch(_loop(), ArgumentSets((0,))).run(1, _TRIALS)
    return [inf if (cycles := row_of(record)) is None else cycles for record in records]


@cache
def _loop() -> Timer:
    return timer(b"\xc3", Signature(host(), (GENERAL,)), Calls("independent", in_round=1), host())
