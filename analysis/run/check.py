"""The first judge: a kernel, run on this processor or an emulated one, against the ray-walk."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from setwise.analysis.run.inputs import Cases, Column
from setwise.codegen.run.call import Violation

_GUARD, _UNTOUCHED = 8, 0xA5A5_5A5A_C3C3_3C3C
_LENGTHS = (*range(40), 143)  # of up to eight boards a register and eight registers a round, each round at least once

CheckStatus = Literal["passed", "failed", "not run", "proved"]
"""The last for code that a proof spares the run."""


Drive = Callable[[Sequence[int], int, int], Violation | None]
"""Runs a kernel: addresses of the columns, address for the results, number of cases."""
Left = tuple[Column, Violation | None]
"""The results' memory after a trial, and the kernel's violation of its convention."""


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A run over so many cases: the results' memory as it is before and must be after, and the columns.

    Results begin `start` elements behind that memory's start. Where they lie `over` a column, this memory is it.
    """

    before: Column
    after: Column
    start: int
    columns: tuple[Column, ...]
    cases: int
    over: int | None = None

    def difference(self, cases: Cases) -> str:
        """What differs where this trial of arrays does."""
        if self.over is None:
            return f"an array of {self.cases} boards, or what lies around it, differs"
        return f"an array of {self.cases} boards over its own {cases.names[self.over]} differs"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The first case that went wrong: its number, what went in, what should have come out and what did."""

    case: int
    inputs: tuple[tuple[str, int], ...]
    expected: tuple[int, ...]
    got: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a check ended: `reason` says why it failed or was not run; `cases` were run, `on` a processor, or here."""

    status: CheckStatus
    cases: int = 0
    reason: str = ""
    mismatch: Mismatch | None = None
    on: str = ""

    @property
    def right(self) -> bool:
        """Whether it is proved, or passed its cases."""
        return self.status in ("proved", "passed")


def trials(cases: Cases) -> list[Trial]:
    """Return the runs of a check: all cases, and for a kernel on arrays arrays of a few lengths.

    Short arrays lie at any alignment between neighbours that must stay as they are; and each input is the result once.
    """
    # What no kernel gives by chance, so that a result that is never written shows.
    whole = Trial((~cases.expected).copy(), cases.expected, 0, cases.columns, cases.number)
    return [whole, *(_arrays(cases) if cases.arrays else ())]


def _arrays(cases: Cases) -> Iterator[Trial]:
    for length in _LENGTHS:
        rows = slice(length, 2 * length)  # from a place that wanders
        # One word behind what NumPy aligns: no multiple of 16.
        columns = tuple(np.concatenate([column[:1], column[rows]])[1:] for column in cases.columns)
        around = np.full(length + 2 * _GUARD, _UNTOUCHED, np.uint64)
        after = around.copy()
        after[_GUARD : _GUARD + length] = cases.expected[rows, 0]
        yield Trial(around, after, _GUARD, columns, length)
        for at, column in enumerate(columns):
            yield Trial(column, cases.expected[rows, 0], 0, columns, length, over=at)


def check(drive: Drive, cases: Cases) -> Outcome:
    """Run a kernel over all cases, on this processor."""
    tried = trials(cases)
    return verdict(cases, tried, (_driven(drive, trial) for trial in tried))


def _driven(drive: Drive, trial: Trial) -> Left:
    """Run a trial on this processor."""
    memory = trial.before.copy()
    addresses = [memory.ctypes.data if at == trial.over else c.ctypes.data for at, c in enumerate(trial.columns)]
    return memory, drive(addresses, memory.ctypes.data + trial.start * memory.itemsize, trial.cases)


def verdict(cases: Cases, tried: Sequence[Trial], left: Iterable[Left]) -> Outcome:
    """Return how a check ended, by the memory after each trial in order; the first one is that over all cases."""
    number = 0
    for trial, (memory, violation) in zip(tried, left, strict=False):
        if violation is None and (memory == trial.after).all():
            number += trial.cases
        elif trial is not tried[0]:
            return Outcome("failed", number, trial.difference(cases))
        elif violation is not None:
            mismatch = _mismatch(cases, violation.case, memory)
            return Outcome("failed", violation.case + 1, "; ".join(violation.breaches), mismatch)
        else:
            wrong = np.nonzero((memory != trial.after).any(axis=1))[0]
            mismatch = _mismatch(cases, int(wrong[0]), memory)
            return Outcome("failed", cases.number, f"{len(wrong)} of {cases.number} cases differ", mismatch)
    return Outcome("passed", number)


def _mismatch(cases: Cases, case: int, results: Column) -> Mismatch:
    inputs = tuple((name, int(column[case])) for name, column in zip(cases.names, cases.columns, strict=True))
    return Mismatch(case, inputs, tuple(map(int, cases.expected[case])), tuple(map(int, results[case])))
