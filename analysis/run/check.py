"""The check of a kernel, run on this processor or an emulated one, against its specification."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from setwise.analysis.run.inputs import Cases, Column
from setwise.codegen.run.call import Violation

_GUARD, _UNTOUCHED = 8, 0xA5A5_5A5A_C3C3_3C3C  # number of elements before, and behind, an array, and their content
_LENGTHS = (*range(40), 143)  # 143 is more than an iteration of any kernel takes: eight registers of eight boards

CheckStatus = Literal["passed", "failed", "not run"]


Drive = Callable[[Sequence[int], int, int], Violation | None]
"""A function that runs a kernel, from the addresses of columns, the address of results, and the number of cases."""
Left = tuple[Column, Violation | None]
"""The results' memory after a trial, and the kernel's violation of its convention or None."""


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """One run over `cases` cases: its columns, and the results' memory before the run and as expected after it.

    Results begin `start` elements behind the start of that memory. If `over` is not None, the results overwrite the
    column with that index.
    """

    before: Column
    after: Column
    start: int
    columns: tuple[Column, ...]
    cases: int
    over: int | None = None

    def difference(self, cases: Cases) -> str:
        """Return a sentence that describes a failed trial of arrays."""
        if self.over is None:
            return f"an array of {self.cases} boards, or the memory around it, differs"
        return f"an array of {self.cases} boards over its own {cases.names[self.over]} differs"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The first failing case: its number from 0, the inputs, and the expected and actual results."""

    case: int
    inputs: tuple[tuple[str, int], ...]
    expected: tuple[int, ...]
    got: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a check: `reason` says why it failed or was not run.

    `cases` is the number of cases run, without those of a failed array. `on` names an emulated processor, or is "".
    """

    status: CheckStatus
    cases: int = 0
    reason: str = ""
    mismatch: Mismatch | None = None
    on: str = ""


def trials(cases: Cases) -> list[Trial]:
    """Return the runs of a check: one over all cases, and for a kernel on arrays also short arrays of several lengths.

    For each length, results go once to arrays of their own, between guard elements that must not change, and once over
    each input if there is one result. Arrays of results follow each other.
    """
    # The complement of the expected results, so that a result that is never written is detected.
    expected = np.ascontiguousarray(cases.expected.T) if cases.arrays else cases.expected
    whole = Trial(~expected, expected, 0, cases.columns, cases.number)
    return [whole, *(_arrays(cases) if cases.arrays else ())]


def _arrays(cases: Cases) -> Iterator[Trial]:
    for length in _LENGTHS:
        rows = slice(length, 2 * length)  # each length begins at another case
        # Columns start one word behind NumPy's alignment: not at a multiple of 16.
        columns = tuple(np.concatenate([column[:1], column[rows]])[1:] for column in cases.columns)
        expected = cases.expected[rows].T.ravel()
        around = np.full(len(expected) + 2 * _GUARD, _UNTOUCHED, np.uint64)
        after = around.copy()
        after[_GUARD:-_GUARD] = expected
        yield Trial(around, after, _GUARD, columns, length)
        for at, column in enumerate(columns if len(expected) == length else ()):
            yield Trial(column, cases.expected[rows, 0], 0, columns, length, over=at)


def check(drive: Drive, cases: Cases) -> Outcome:
    """Return the outcome of running a kernel by `drive` in all trials of these cases, on this processor."""
    tried = trials(cases)
    return verdict(cases, tried, (_driven(drive, trial) for trial in tried))


def _driven(drive: Drive, trial: Trial) -> Left:
    """Run a trial on this processor. Return the results' memory and the violation or None."""
    memory = trial.before.copy()
    addresses = [memory.ctypes.data if at == trial.over else c.ctypes.data for at, c in enumerate(trial.columns)]
    return memory, drive(addresses, memory.ctypes.data + trial.start * memory.itemsize, trial.cases)


def verdict(cases: Cases, tried: Sequence[Trial], left: Iterable[Left]) -> Outcome:
    """Return the outcome of a check from `left`, one for each trial in order, up to the first trial that failed."""
    number = 0
    for trial, (memory, violation) in zip(tried, left, strict=False):
        if violation is None and (memory == trial.after).all():
            number += trial.cases
        elif trial is not tried[0]:
            return Outcome("failed", number, trial.difference(cases))
        elif violation is not None:
            mismatch = _mismatch(cases, violation.case, memory.T if cases.arrays else memory)
            return Outcome("failed", violation.case + 1, "; ".join(violation.breaches), mismatch)
        else:
            wrong = np.nonzero((memory != trial.after).any(axis=0 if cases.arrays else 1))[0]
            mismatch = _mismatch(cases, int(wrong[0]), memory.T if cases.arrays else memory)
            return Outcome("failed", cases.number, f"{len(wrong)} of {cases.number} cases differ", mismatch)
    return Outcome("passed", number)


def _mismatch(cases: Cases, case: int, results: Column) -> Mismatch:
    inputs = tuple((name, int(column[case])) for name, column in zip(cases.names, cases.columns, strict=True))
    return Mismatch(case, inputs, tuple(map(int, cases.expected[case])), tuple(map(int, results[case])))
