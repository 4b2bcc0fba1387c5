"""The best of several kernels for an objective: the least forecast on a processor.

A room that sees codegen, as subjects.py is: that emits the calls whose instructions are forecast. What is ranked is
bytes, whoever made them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import inf

from setwise.analysis.code.decode import decode
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.cost.bounds import cost, round_cost
from setwise.analysis.cost.processors.table import Processor
from setwise.analysis.cost.simulate import CORES, simulate
from setwise.analysis.measure.subjects import Subject, round_stream, subject
from setwise.codegen.describe.routine import Routine
from setwise.codegen.kernel import Kernel, unrefused
from setwise.codegen.offers import offered
from setwise.codegen.run.timer import Mode

_INSTRUCTIONS = 100  # about so many are forecast, of short code more calls
_BOARDS = 64  # of arrays, as many
_DIGIT = 0.01  # of a figure, the last


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


def kernel_for(
    objective: str, on: Processor, routine: Routine, isa: str, abi: str = "sysv", lanes: int | None = None
) -> Kernel:
    """The variant that is best for latency, or throughput, on the processor; raises what `lower` does."""
    return best(offered(routine, isa, abi, lanes), objective, on)


def kernel_of(
    objective: str, on: Processor, routine: Routine, isas: Sequence[str], abi: str = "sysv", lanes: int | None = None
) -> Kernel:
    """The same of all these instruction sets; Refused where none makes it."""
    offers = unrefused(lambda isa: tuple(offered(routine, isa, abi, lanes)), isas)
    return best(chain.from_iterable(offers), objective, on)


def best(kernels: Iterable[Kernel], objective: str, on: Processor) -> Kernel:
    """Of the kernels the one with the least forecast, of equals the shortest; UnknownCost as `forecast` has it.

    None is simulated that cannot be better than the best so far, for its bound says so.
    """
    asked = list(kernels)
    bounds = [_least(kernel, objective, on) for kernel in asked]
    lengths = [len(kernel.code.instructions) for kernel in asked]
    found, least = 0, inf
    for at in sorted(range(len(asked)), key=bounds.__getitem__):
        if bounds[at] > least:
            break
        cycles = _forecast(asked[at], objective, on, least)
        if (cycles, lengths[at], at) < (least, lengths[found], found):
            found, least = at, cycles
    return asked[found]


def _least(kernel: Kernel, objective: str, on: Processor) -> float:
    """What no call is faster than, as far as a look at straight code tells."""
    stream = decode(binary_of(kernel).text)
    bounds = cost(stream, on)
    if any(instruction.flow not in ("next", "return") for instruction in stream):
        return 0.0
    return max(bounds.throughput, bounds.latency if objective == "latency" else 0.0)


def _forecast(kernel: Kernel, objective: str, on: Processor, most: float) -> float:
    """The figure of the objective; of what takes longer than `most` another one that is more."""
    ours = _subject(kernel)
    cycles = 0.0
    for each in ours.waiting if objective == "latency" and ours.chainable else (ours,):
        cycles = max(cycles, _cycles(each, "independent" if each is ours else "chained", on, cycles, most))
        if cycles > most:
            break
    return cycles


def _subject(kernel: Kernel) -> Subject:
    ours = subject(kernel, boards=_BOARDS)
    return replace(ours, in_round=min(ours.in_round, 1 + _INSTRUCTIONS // len(kernel.code.instructions)))


def _cycles(ours: Subject, mode: Mode, on: Processor, enough: float = 0.0, most: float = inf) -> float:
    """Cycles a call or a board; what is not above `enough`, or surely above `most`, need not be told exactly."""
    stream, units = round_stream(ours, mode), ours.calls * (ours.boards or 1)
    if on.name in CORES:
        cycles = simulate(stream, on, enough * units, (most + _DIGIT) * units)
    else:
        cycles = round_cost(stream, on).bound
    return round(cycles / units, 2)
