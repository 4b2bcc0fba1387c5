"""The first judge: a kernel, run on this processor, against the ray-walk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from analysis.cases import Cases, Column

_LENGTHS, _GUARD, _UNTOUCHED = 40, 8, 0xA5A5_5A5A_C3C3_3C3C

Status = Literal["passed", "failed", "not run"]


class Violation(Protocol):
    """What a kernel broke of its calling convention, and in which case."""

    @property
    def case(self) -> int:
        """The number of the case."""

    @property
    def what(self) -> Sequence[str]:
        """What is broken, in words."""


Drive = Callable[[Sequence[int], int, int], Violation | None]
"""Runs a kernel: addresses of the columns, address for the results, number of cases."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The first case that went wrong: its number, what went in, what should have come out and what did."""

    case: int
    inputs: tuple[tuple[str, int], ...]
    expected: tuple[int, ...]
    got: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a check ended: `reason` says why it failed or was not run; `cases` were run."""

    status: Status
    cases: int = 0
    reason: str = ""
    mismatch: Mismatch | None = None


def check(drive: Drive, cases: Cases, *, arrays: bool = False) -> Outcome:
    """Run a kernel over all cases; with `arrays`, which it takes whole, over arrays of a few lengths besides."""
    # What no kernel gives by chance, so that a result that is never written shows.
    results = (~cases.expected).copy()
    address = results.ctypes.data
    columns = [column.ctypes.data for column in cases.columns]
    violation = drive(columns, address, cases.number)
    if violation is not None:
        inputs = _inputs(cases, violation.case)
        mismatch = Mismatch(violation.case, inputs, _row(cases.expected, violation.case), _row(results, violation.case))
        return Outcome("failed", violation.case + 1, "; ".join(violation.what), mismatch)
    wrong = np.nonzero((results != cases.expected).any(axis=1))[0]
    if not len(wrong):
        return _lengths(drive, cases) if arrays else Outcome("passed", cases.number)
    first = int(wrong[0])
    mismatch = Mismatch(first, _inputs(cases, first), _row(cases.expected, first), _row(results, first))
    return Outcome("failed", cases.number, f"{len(wrong)} of {cases.number} cases differ", mismatch)


def _lengths(drive: Drive, cases: Cases) -> Outcome:
    """Short arrays at any alignment, whose neighbours must stay as they are; and each input as the result as well."""
    number = cases.number
    for length in range(_LENGTHS):
        rows = slice(length, 2 * length)  # from a place that wanders
        # One word behind what NumPy aligns: no multiple of 16.
        columns = [np.concatenate([column[:1], column[rows]])[1:] for column in cases.columns]
        addresses = [column.ctypes.data for column in columns]
        around = np.full(length + 2 * _GUARD, _UNTOUCHED, np.uint64)
        expected = around.copy()
        expected[_GUARD : _GUARD + length] = cases.expected[rows, 0]
        broken = drive(addresses, around[_GUARD:].ctypes.data, length)
        if broken or (around != expected).any():
            return Outcome("failed", number, f"an array of {length} boards, or what lies around it, differs")
        for name, column, address in zip(cases.names, columns, addresses, strict=True):
            before = column.copy()
            drive(addresses, address, length)
            if (column != cases.expected[rows, 0]).any():
                return Outcome("failed", number, f"an array of {length} boards over its own {name} differs")
            column[:] = before
        number += length * (1 + len(columns))
    return Outcome("passed", number)


def _inputs(cases: Cases, case: int) -> tuple[tuple[str, int], ...]:
    return tuple((name, int(column[case])) for name, column in zip(cases.names, cases.columns, strict=True))


def _row(words: Column, case: int) -> tuple[int, ...]:
    return tuple(int(word) for word in words[case])
