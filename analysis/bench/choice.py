"""The choice of a variant: for size by the number of instructions, for speed by timed.json or static bounds."""

import json
from collections.abc import Sequence
from contextlib import suppress
from importlib.resources import files
from math import inf
from typing import NamedTuple

from setwise.analysis.bench.here import processor_named
from setwise.analysis.code.binary import binary_of
from setwise.analysis.cost.part import CostedPart, part_of
from setwise.analysis.cost.processors import PROCESSORS, Processor, UnknownCost
from setwise.analysis.parallel import Show, silent, unrefused
from setwise.codegen.catalogue import find
from setwise.codegen.export.names import uses_pext
from setwise.codegen.ir.routine import Contract, Routine
from setwise.codegen.kernel import Kernel
from setwise.codegen.machine.processors import lacking
from setwise.codegen.request import Request
from setwise.codegen.run.call import is_batch, missing
from setwise.codegen.run.cpu import has_fast_pext
from setwise.codegen.targets import TARGETS, target_named
from setwise.codegen.variants import enumerate_variants, variant_named

OBJECTIVES = ("size", "latency", "throughput")
"""The objectives: fewest instructions of all variants, shortest latency, or highest throughput of independent calls."""


MOST_INSTRUCTIONS = 8_000
"""The instructions in the variants tried for a choice, beyond which each set has one: more than the catalogue needs."""


class TimedVariant(NamedTuple):
    """The fastest variant of a routine for an objective, as `setwise bench --variants` timed it.

    `cycles` are for one call, or for one board of an array.
    """

    routine: str
    isa: str
    objective: str
    variant: str
    cpu: str
    machine: str
    date: str
    cycles: float


_HELD = json.loads((files(__package__) / "timed.json").read_text("utf-8"))
_WHERE = _HELD["cpu"], _HELD["machine"], _HELD["date"]
TIMED = tuple(TimedVariant._make((*row[:4], *_WHERE, row[4])) for row in _HELD["rows"])
"""Cases in which the bounds choose a variant that is at least 10 % slower than another; at most 40, kept by hand."""


def sets_of(routine: Routine, on: Processor | None, *, native: bool) -> tuple[str, ...]:
    """Return the instruction sets of a routine that the processor `on` has.

    With `native` or without `on`, this machine must have them. For a routine on boards, not arrays, sets with several
    boards in a vector are left out if another set is left.
    """
    had = [isa for isa in routine.isas if on is None or not lacking(on.name, TARGETS[isa].features)]
    has = [isa for isa in had if not ((native or on is None) and missing(TARGETS[isa]))]
    alone = [isa for isa in has if not routine.batched or is_batch(routine) or not TARGETS[isa].vectors]
    return tuple(alone or has)


def request(
    routine: Routine | str,
    isa: str | None = "x86-64",
    abi: str = "sysv",
    lanes: int | None = None,
    *,
    variant: str = "",
    for_: str = "",
    cpu: str | None = None,
    here: bool = False,
    show: Show = silent,
) -> Request:
    """Return the request for a kernel of a routine, which may be given by name. `show` displays the variants tried.

    If `isa` is None, the instruction set is the best of those that this processor has, and `cpu` if it is given.

    `for_` chooses the variant: "size" the shortest, "latency" or "throughput" the fastest by timings and bounds, on the
    processor `cpu`, or over all modelled processors if `cpu` is None. Without `isa`, or with `here`, variants with pext
    are left out if they are slow on this processor. With `isa` and without `for_` the variant is the default one, or
    `variant` names it. Raises ValueError if both choose, or if `variant` has no `isa`.
    """
    if variant and (for_ or not isa):
        raise ValueError("--variant names a kernel of one instruction set: give --isa, and leave out --for")
    routine = find(routine) if isinstance(routine, str) else routine
    on = processor_named(cpu) if cpu else None
    if isa and not for_:
        return Request(routine, isa, abi, lanes, variant)
    isas = (isa,) if isa else sets_of(routine, on, native=True)
    pext = has_fast_pext() or (isa is not None and not here)
    return Request.of(kernel_for(for_, on, routine, isas, abi, lanes, show, pext=pext), lanes)


def best(
    routines: Sequence[Routine],
    objectives: Sequence[str] = OBJECTIVES,
    cpu: str = "native",
    isa: str | None = None,
    abi: str = "sysv",
    show: Show = silent,
) -> list[tuple[str, Request]]:
    """Return pairs of objective and request: for each routine and objective in turn, the request of the best kernel.

    It is the best of `isa`, or else of all sets that the processor `cpu` has. A routine without a kernel is left out.
    Raises Refused if no routine has one.
    """
    if isa:
        target_named(isa)
    on = processor_named(cpu)

    def of(routine: Routine) -> list[tuple[str, Request]]:
        isas = (isa,) if isa else sets_of(routine, on, native=cpu == "native")
        return [(each, Request.of(kernel_for(each, on, routine, isas, abi, None, show), None)) for each in objectives]

    return [pair for pairs in unrefused(of, routines) for pair in pairs]


def kernel_for(
    objective: str,
    on: Processor | None,
    routine: Routine,
    isas: Sequence[str],
    abi: str,
    lanes: int | None,
    show: Show,
    *,
    pext: bool = True,
) -> Kernel:
    """Return the best variant among these instruction sets for the processor `on`; without `pext` one without pext.

    Without an objective it is the shortest of the sets' default kernels. Without a processor, all rows of TIMED apply,
    and scores are averaged over all processors. Beyond MOST_INSTRUCTIONS only default kernels are tried. Raises Refused
    if no set has a kernel, and ValueError for an unknown objective.
    """
    if objective not in ("", *OBJECTIVES):
        raise ValueError(f"unknown objective '{objective}': choose from {', '.join(OBJECTIVES)}")
    kernels: list[Kernel] = []
    shortest = objective in ("", "size")

    def allowed(kernel: Kernel) -> bool:
        return pext or not kernel.variant or not uses_pext(kernel)

    def try_variants(isa: str) -> None:
        """Add the variant that TIMED names (of arrays: for throughput), or all if none, or if `lanes` is given."""
        case = routine.name, isa, objective if routine.contract.elements == () else "throughput"
        rows = [row for row in TIMED if row[:3] == case and lanes is None and (on is None or on.name == row.cpu)]
        timed = [] if shortest else [variant_named(row.variant, routine, isa, abi) for row in rows]
        for kernel in [*filter(allowed, timed)] or filter(allowed, enumerate_variants(routine, isa, abi, lanes)):
            show(f"{routine.name} {isa}: {kernel.variant or 'default'}")
            kernels.append(kernel)
            if not objective or sum(len(kernel.code.instructions) for kernel in kernels) > MOST_INSTRUCTIONS:
                break

    [*unrefused(try_variants, isas)]
    return min(kernels, key=lambda kernel: len(kernel.code.instructions) if shortest else score(kernel, objective, on))


def score(kernel: Kernel, objective: str, on: Processor | None) -> float:
    """Return the estimated cost of a variant, for comparison with other variants of its routine; less is faster.

    For latency the score is twice the critical path plus the throughput bound, because calls that wait for each other
    overlap in part. For throughput, or arrays, it is the bound for a board plus 0.3 of the issue cycles: moves cost
    more than port pressure shows. The weights minimize the total loss over the routines of TIMED. Without a processor
    `on` the score is the mean over all that have the instructions, or inf. Raises UnknownCost if `on` lacks one.
    """
    part, contract = part_of(binary_of(kernel)), kernel.routine.contract
    by_latency, boards = objective == "latency" and not contract.elements, boards_of(part, contract)
    scores = []
    for processor in (on,) if on else PROCESSORS:
        with suppress(*() if on else (UnknownCost,)):
            cost = part.cost(processor)
            scores.append((cost.bound + (2 * cost.latency if by_latency else 0.3 * cost.issue)) / boards)
    return sum(scores) / len(scores) if scores else inf


def boards_of(part: CostedPart, contract: Contract) -> float:
    """Return the number of boards that an iteration over arrays computes; 1 for a call."""
    if not contract.elements:
        return 1.0
    indexed = (i.memory for i in part.stream if i.stores and i.memory and i.memory.index)  # spills have no index
    words = sum(memory.bits // 64 for memory in indexed)
    return max(1, words) / len(contract.results)


def figures(kernel: Kernel, on: Processor) -> tuple[float, float]:
    """Return latency and throughput bound as `setwise cost` prints them: of a call, or of an iteration of its loop."""
    cost = part_of(binary_of(kernel)).cost(on)
    return cost.latency, round(cost.bound, 2)
