"""The best of several kernels for an objective: found by timing on a processor, or else the least forecast there.

A room that sees codegen, as subjects.py is: that emits the calls whose instructions are forecast. What is ranked is
bytes, whoever made them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from heapq import heapify, heapreplace
from itertools import chain

from setwise.analysis.code.count import count
from setwise.analysis.code.decode import Binary, Decoded, decode
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.cost.bounds import cost, round_cost
from setwise.analysis.cost.processors.table import Processor
from setwise.analysis.cost.processors.tuned import Objective, Tuned
from setwise.analysis.cost.simulate import CORES, ROUNDS, simulate
from setwise.analysis.measure.subjects import Subject, round_stream, subject
from setwise.codegen.describe.routine import Routine
from setwise.codegen.kernel import Kernel, unrefused
from setwise.codegen.offers import offered, offered_as
from setwise.codegen.registers.machine import OutOfRegisters, TooLong
from setwise.codegen.run.timer import Mode
from setwise.codegen.targets.table import Refused

WAYS: dict[str, Mode] = {"latency": "chained", "throughput": "independent"}
"""How calls follow each other where an objective counts."""
_INSTRUCTIONS = 100  # about so many are forecast, of short code more calls
_BOARDS, _CALLS = 256, 2  # of arrays, as many, in so many calls: what begins and ends a call counts little


@dataclass(frozen=True, slots=True)
class Forecast:
    """Cycles a call, or a board of an array, the call and all.

    `latency` is where each call waits for the one before by that argument by which it takes longest; None where none
    can wait.
    """

    latency: float | None
    throughput: float

    def of(self, objective: str) -> float:
        """The figure of an objective: where no call can wait for another, both are throughput."""
        return self.throughput if objective == "throughput" or self.latency is None else self.latency


def forecast(kernel: Kernel, on: Processor) -> Forecast:
    """How long the kernel takes on the processor; UnknownCost where that has not its instructions.

    >>> from setwise.analysis.cost.processors import processor
    >>> from setwise.codegen.catalogue import find
    >>> from setwise.codegen.lower import lower
    >>> forecast(lower(find("shift.one.nort")), processor("zen4"))
    Forecast(latency=4.19, throughput=4.19)
    """
    ours = _subject(kernel)
    waits = [_cycles(chained, "chained", on) for chained in ours.waiting]
    return Forecast(max(waits, default=None), _cycles(ours, "independent", on))


def objectives(routine: Routine) -> tuple[Objective, ...]:
    """Those that may take different variants: no call waits for another where boards come in arrays."""
    return ("throughput",) if routine.contract.elements else ("latency", "throughput")


def kernel_for(
    objective: str, on: Processor, routine: Routine, isa: str, abi: str = "sysv", lanes: int | None = None
) -> Kernel:
    """The variant that is best for latency, or throughput, on the processor; raises what `lower` does."""
    return kernel_of(objective, on, routine, (isa,), abi, lanes)


def kernel_of(
    objective: str, on: Processor, routine: Routine, isas: Sequence[str], abi: str = "sysv", lanes: int | None = None
) -> Kernel:
    """The same of all these instruction sets; Refused where none makes it."""
    known = tuned(objective, on, routine, isas, abi, lanes)
    return known or best(offers(routine, tuple(isas), abi, lanes), objective, on)


def tuned(
    objective: str, on: Processor, routine: Routine, isas: Sequence[str], abi: str = "sysv", lanes: int | None = None
) -> Kernel | None:
    """What timing on the processor found; None where nothing was, not for these, or where its code is another now."""
    rows = [row for row in _tuned_rows(routine, objective, on) if row.isa in isas]
    if rows and {name for row in rows for name in row.among_sets}.issuperset(isas):  # else one not timed may be faster
        row = rows[0]
        with suppress(Refused, OutOfRegisters, TooLong):
            kernel = offered_as(row.variant, routine, row.isa, abi, lanes)
            return kernel if is_tuned(kernel, objective, on) else None
    return None


def is_tuned(kernel: Kernel, objective: str, on: Processor) -> bool:
    """Whether it is what timing on the processor found for the objective."""
    rows = _tuned_rows(kernel.routine, objective, on)
    return bool(rows) and digest_of(binary_of(kernel)) in [row.digest for row in rows]


def _tuned_rows(routine: Routine, objective: str, on: Processor) -> tuple[Tuned, ...]:
    """The fastest first."""
    return on.tuned.get((routine.name, objective if objective in objectives(routine) else "throughput"), ())


def digest_of(binary: Binary) -> str:
    """Sixteen hex digits that tell code and data from others."""
    return hashlib.sha256(binary.image).hexdigest()[:16]


@lru_cache(1)  # one objective after the other asks for them
def offers(routine: Routine, isas: tuple[str, ...], abi: str = "sysv", lanes: int | None = None) -> tuple[Kernel, ...]:
    """The variants for all these instruction sets; Refused where none makes it."""
    return (*chain.from_iterable(unrefused(lambda isa: tuple(offered(routine, isa, abi, lanes)), isas)),)


def best(kernels: Iterable[Kernel], objective: str, on: Processor) -> Kernel:
    """The kernel with the least forecast, of equals the one that does least; UnknownCost as `forecast` has it.

    The one that may be best by what is known of it is looked at next, one argument that calls wait by at a time.
    """
    asked = list(kernels)
    known = []
    for at, kernel in enumerate(asked):
        stream = decode(binary_of(kernel).text)
        known.append((round(_least(kernel, stream, objective, on), 2), _done(stream), at))
    left = [_ways(kernel, objective) for kernel in asked]
    heapify(known)
    while True:
        cycles, done, at = known[0]
        way = next(left[at], None)
        if way is None:
            return asked[at]
        heapreplace(known, (max(cycles, _cycles(*way, on)), done, at))


def _done(stream: Sequence[Decoded]) -> int:
    """How many instructions there are, and how often they read or write memory besides."""
    counts = count(stream)
    return counts.instructions + counts.memory_operands


def _ways(kernel: Kernel, objective: str) -> Iterator[tuple[Subject, Mode]]:
    """How the kernel is called where the objective counts; the slowest way tells."""
    ours = _subject(kernel)
    if objective == "latency" and ours.chainable:
        yield from ((each, "chained") for each in ours.waiting)
    else:
        yield ours, "independent"


def _least(kernel: Kernel, stream: Sequence[Decoded], objective: str, on: Processor) -> float:
    """What no call is faster than, as far as a look at straight code tells, or no board, by what is executed.

    Of several results calls wait for the first, which may be there before the longest way through the code ends.
    """
    if kernel.routine.contract.elements:
        ours = _subject(kernel)
        return cost(round_stream(ours, WAYS["throughput"]), on).throughput / (ours.calls * ours.boards)
    bounds = cost(stream, on)
    if any(instruction.flow not in ("next", "return") for instruction in stream):
        return 0.0
    one = len(kernel.routine.contract.results) == 1
    return max(bounds.throughput, bounds.latency if one and objective == "latency" else 0.0)


def _subject(kernel: Kernel) -> Subject:
    ours = subject(kernel, boards=_BOARDS)
    return replace(ours, in_round=min(ours.in_round, 1 + _INSTRUCTIONS // len(kernel.code.instructions)))


def _cycles(ours: Subject, mode: Mode, on: Processor) -> float:
    """Cycles a call or a board."""
    stream, units = round_stream(ours, mode), ours.calls * (ours.boards or 1)
    if on.name in CORES:
        cycles = simulate(stream, on, _CALLS if ours.boards else ROUNDS)
    else:
        cycles = round_cost(stream, on).bound
    return round(cycles / units, 2)
