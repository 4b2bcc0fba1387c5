"""The choice among a kernel's variants: by the table of timings below, else by static bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from setwise.analysis.code.kernel import binary_of
from setwise.analysis.cost.part import part_of
from setwise.analysis.cost.processors import PROCESSORS, Processor, UnknownCost
from setwise.codegen.describe.routine import Routine
from setwise.codegen.kernel import Kernel, unrefused
from setwise.codegen.offers import offered, offered_as

OBJECTIVES = ("size", "latency", "throughput")
"""What is best: fewest instructions, the shortest wait for a result, or the most calls that wait for none."""


class Timed(NamedTuple):
    """The fastest variant of a routine for an objective, as `setwise bench --variants` timed it.

    `cycles` are those of a call, or of a board of an array.
    """

    routine: str
    isa: str
    objective: str
    variant: str
    cpu: str
    machine: str
    date: str
    cycles: float


TIMED: tuple[Timed, ...] = ()
"""At most 40 rows, kept by hand: where bounds choose a variant that is slower by more than timings differ."""


def kernel_for(
    objective: str, on: Processor | None, routine: Routine, isas: Sequence[str], abi: str, lanes: int | None
) -> Kernel:
    """Return the best variant of these instruction sets; Refused where none makes it.

    Without a processor every row of the table counts, and bounds of all processors together.
    """
    if objective == "size":
        usual = unrefused(lambda isa: next(offered(routine, isa, abi, lanes)), isas)
        return min(usual, key=lambda kernel: len(kernel.code.instructions))
    kernels = chain.from_iterable(unrefused(lambda isa: (*_candidates(objective, on, routine, isa, abi, lanes),), isas))
    return best(kernels, objective, on)


def _candidates(
    objective: str, on: Processor | None, routine: Routine, isa: str, abi: str, lanes: int | None
) -> Iterable[Kernel]:
    """The variant that the table names, else all."""
    wanted = routine.name, isa, objective if routine.contract.elements == () else "throughput"
    for row in TIMED:
        if row[:3] == wanted and lanes is None and (on is None or on.name == row.cpu):
            return (offered_as(row.variant, routine, isa, abi),)
    return offered(routine, isa, abi, lanes)


def best(kernels: Iterable[Kernel], objective: str, on: Processor | None) -> Kernel:
    """Return the first kernel with the least score; UnknownCost where a processor is named that has not its code."""
    return min(kernels, key=lambda kernel: score(kernel, objective, on))


def score(kernel: Kernel, objective: str, on: Processor | None) -> float:
    """Return a figure by which variants of a routine are compared: the less, the faster.

    For latency it is the longest chain twice and the bound of throughput once, for calls that wait for each other
    overlap in part; for throughput, by board, the bound and 0.3 of the cycles of issue, for moves cost more than ports
    say. These weights lose least over the routines of TIMED. Without a processor it is the mean over all that have the
    instructions.
    """
    return sum(bounds := [*_scores(kernel, objective, (on,) if on else PROCESSORS, on is None)]) / len(bounds)


def _scores(kernel: Kernel, objective: str, processors: Sequence[Processor], passing_over: bool) -> Iterable[float]:
    binary = binary_of(kernel)
    part = part_of(binary)
    boards, arrays = 1.0, bool(kernel.routine.contract.elements)
    if arrays:  # what is stored by an index are results; what waits on the stack has none
        stores = (i.memory for i in part.stream if i.stores and i.memory is not None)
        words = sum(memory.bits // 64 for memory in stores if memory.index is not None)
        boards = max(1, words) / len(kernel.routine.contract.results)
    for on in processors:
        try:
            cost = part.cost(on)
        except UnknownCost:
            if passing_over:
                continue
            raise
        second = 2 * cost.latency if objective == "latency" and not arrays else 0.3 * cost.issue
        yield (cost.bound + second) / boards


def figures(kernel: Kernel, on: Processor) -> tuple[float, float]:
    """Return latency and bound as `setwise cost` has them: of a call, or of a round of its loop."""
    cost = part_of(binary_of(kernel)).cost(on)
    return cost.latency, round(cost.bound, 2)
