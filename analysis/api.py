"""What setwise does, for programs: requests, or a function of an ELF file, in; plain results out.

Nothing here prints. Refusals are ValueError in one line. Long work says through `show` what it is at. A judge is
imported where it is first used, so that no call waits for those that it does not need.

>>> from setwise.analysis import api
>>> north = api.request("kogge-stone.attacks.nort", "bmi2")
>>> api.counts([north])[0]["instructions"], api.prove([north])[0].status
(15, 'proved')
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeVar

from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.objects import ObjectFunction
from setwise.analysis.parallel import unrefused
from setwise.codegen.ir.routine import Routine
from setwise.codegen.kernel import Kernel, convention_named, widths
from setwise.codegen.machine.convention import CONVENTIONS
from setwise.codegen.request import Request
from setwise.codegen.targets import TARGETS, target_named
from setwise.codegen.targets.table import Refused

if TYPE_CHECKING:
    from setwise.analysis.bench.benchmark import bench as bench
    from setwise.analysis.bench.choice import best as best
    from setwise.analysis.bench.choice import request as request
    from setwise.analysis.code.decode import Binary
    from setwise.analysis.cost.bounds import Cost
    from setwise.analysis.cost.part import CostedPart
    from setwise.analysis.cost.processors import Processor
    from setwise.analysis.exports.export import export as export
    from setwise.analysis.exports.verify import verify as verify
    from setwise.analysis.proofs import prove as prove
    from setwise.analysis.proofs import prove_function as prove_function
    from setwise.analysis.run.checks import check as check
    from setwise.analysis.run.checks import check_function as check_function
    from setwise.analysis.run.interpreter import Trace
    from setwise.analysis.search.search import session_of as session_of
    from setwise.analysis.search.search import sessions as sessions
    from setwise.analysis.search.search import shorten as shorten

_HOMES = {
    "exports.export": ("export",),
    "exports.verify": ("verify",),
    "bench.benchmark": ("bench",),
    "bench.choice": ("best", "request"),
    "proofs": ("prove", "prove_function"),
    "run.checks": ("check", "check_function"),
    "search.search": ("session_of", "sessions", "shorten"),
}
"""The modules that define what is loaded when it is asked for."""


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"setwise.analysis.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


T = TypeVar("T")
CLASSES = ("moves", "operations", "constants", "transfers", "loads", "stores", "branches", "stack", "other")
"""The classes of instructions."""
COUNTED = ("instructions", *CLASSES, "memory_operands")


Code = Request | ObjectFunction
"""Code that is counted and costed."""


def requests(
    routines: Sequence[Routine],
    isa: str | None = None,
    abi: str | None = None,
    lanes: int | None = None,
    variant: str = "",
) -> list[Request]:
    """Return requests for all kernels of the routines, or for those of one set, convention or number of lanes.

    Those of one contract are next to each other, because judging them has much in common. A variant is one of an
    instruction set, and has its own lanes. Refused where there is no such kernel.
    """
    if variant and not isa:
        raise ValueError("a variant is one of an instruction set: add --isa")
    targets = TARGETS if isa is None else {isa: target_named(isa)}
    conventions = CONVENTIONS if abi is None else {abi: convention_named(abi)}
    asked = [
        (routine, target, convention, None if variant else number, variant)
        for routine in sorted(routines, key=lambda routine: repr(routine.contract))
        for target in (routine.isas if isa is None else targets)
        for number in (widths(routine, targets[target])[: 1 if variant else None] if target in routine.isas else (1,))
        for convention in conventions
        if lanes in (None, number)
    ]
    if not asked:
        raise ValueError(f"no kernel has {lanes} lanes: leave --lanes out, or give 1, 2, 4 or 8")
    return list(unrefused(lambda each: Request(*each), asked))


def kernel(request: Request) -> Kernel:
    """Return the kernel: its code, and the graphs that it was made from."""
    return request.kernel


def listing(request: Request, syntax: str = "nasm", *, endbr64: bool = False, prefix: str = "setwise") -> str:
    """Return the assembly source of a kernel: nasm, gas, att, masm or go; its symbol begins with the prefix."""
    from setwise.analysis.exports.facts import facts_of
    from setwise.codegen.export.listings.listing import listing as text_of
    from setwise.codegen.export.names import checked_name
    from setwise.codegen.export.objects.relocatable import with_endbr64

    kernel = with_endbr64(request.kernel) if endbr64 else request.kernel
    kernel = replace(kernel, prefix=checked_name(prefix))
    return text_of(kernel, facts_of(kernel), syntax)


def comparison(left: Request, right: Request) -> str:
    """Return two kernels side by side, their counts under them."""
    from setwise.analysis.code.compare import side_by_side

    return side_by_side(*((each.kernel.name, binary_of(each.kernel)) for each in (left, right)))


def counts(codes: Sequence[Code], *, skip_refused: bool = False) -> list[dict[str, Any]]:
    """Return the instructions of each code by class; of a function of an ELF file its CPU features, too.

    With `skip_refused`, here and below, kernels that cannot be made are left out unless that is all.
    """
    from setwise.analysis.code.count import count
    from setwise.analysis.code.decode import decode, features

    def counted(code: Code) -> dict[str, Any]:
        binary = _binary(code)
        row = count(binary).as_dict()
        if isinstance(code, Request):
            return {**key_of(code), **row}
        del row["data_bytes"]  # how much of the sections is the function's own is not known
        return {**key_of(code), "features": sorted(features(decode(binary.text))), **row}

    return _each(counted, codes, skip_refused)


def executed_counts(
    requests: Sequence[Request], words_of: Callable[[Routine], Sequence[int]], *, skip_refused: bool = False
) -> list[dict[str, Any]]:
    """Return the instructions by class that a call of each kernel executes, given its routine's arguments."""

    def counted(request: Request) -> dict[str, Any]:
        return {**key_of(request), **_executed(request)(words_of(request.routine))}

    return _each(counted, requests, skip_refused)


def spreads(
    requests: Sequence[Request], positions: Sequence[str], side: str | None = None, *, skip_refused: bool = False
) -> list[dict[str, Any]]:
    """Return minimum, mean and maximum of each class over the calls of each kernel on these positions (FEN)."""
    from setwise.analysis.run.positions import words_of

    def spread(request: Request) -> dict[str, Any]:
        call = _executed(request)
        rows = [call(words_of(request.routine, (), fen, side)) for fen in positions]
        columns = {key: [row[key] for row in rows] for key in COUNTED}
        figures = {key: {"minimum": min(of), "mean": fmean(of), "maximum": max(of)} for key, of in columns.items()}
        return {**key_of(request), "positions": len(positions), **figures}

    return _each(spread, requests, skip_refused)


def _executed(request: Request) -> Callable[[Sequence[int]], dict[str, int]]:
    """Return a function from a kernel's arguments to the instructions by class that the call executes."""
    from setwise.analysis.run.caller import Caller
    from setwise.analysis.run.interpreter import executed_counts as counts_of
    from setwise.analysis.spec.contracts import task_of

    caller = Caller(binary_of(request.kernel), task_of(request.kernel))

    def call(words: Sequence[int]) -> dict[str, int]:
        counted = counts_of(caller.trace(words))
        return {key: getattr(counted, key) for key in COUNTED}

    return call


def trace(request: Request, words: Sequence[int]) -> Trace:
    """Return the instructions that a call of a kernel executes, each with the registers that it writes."""
    from setwise.analysis.run.caller import Caller
    from setwise.analysis.spec.contracts import task_of

    return Caller(binary_of(request.kernel), task_of(request.kernel)).trace(words)


@dataclass(frozen=True, slots=True)
class CostedCode:
    """Some code, the part of it that is costed, its cost on each processor, and the same as rows of a table."""

    key: dict[str, Any]
    part: CostedPart
    costs: Sequence[tuple[Processor, Cost]]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row a processor."""
        return [{**self.key, "part": self.part.kind, "cpu": on.name, **cost.as_dict()} for on, cost in self.costs]


def costs(
    codes: Sequence[Code],
    cpu: str | None = None,
    words_of: Callable[[Routine], Sequence[int]] | None = None,
    *,
    skip_refused: bool = False,
) -> list[CostedCode]:
    """Return lower bounds on the cycles of each code, on one processor or on all that have its instructions.

    With `words_of` they are bounds of the instructions that a call with these arguments executes.
    """
    from setwise.analysis.bench.here import processor_named
    from setwise.analysis.cost.part import CostedPart
    from setwise.analysis.cost.processors import PROCESSORS

    def costed(code: Code) -> CostedCode:
        if words_of is not None and isinstance(code, Request):
            part = CostedPart(trace(code, words_of(code.routine)).instructions, "executed")
        else:
            part = _part(code)
        processors = [processor_named(cpu)] if cpu else [on for on in PROCESSORS if not on.lacking(part.stream)]
        return CostedCode(key_of(code), part, [(on, part.cost(on)) for on in processors])

    return _each(costed, codes, skip_refused)


def _part(code: Code) -> CostedPart:
    from setwise.analysis.cost.part import part_of

    try:
        return part_of(_binary(code))
    except ValueError as error:
        if isinstance(code, ObjectFunction):
            raise
        raise Refused(f"{code.routine.name}: {error}") from None


def _binary(code: Code) -> Binary:
    return code.binary if isinstance(code, ObjectFunction) else binary_of(code.kernel)


def key_of(code: Code) -> dict[str, Any]:
    """Return what tells some code from all other, as rows of tables begin: name, instruction set, lanes, convention."""
    if isinstance(code, ObjectFunction):
        return {"name": code.symbol, "isa": None, "lanes": None, "abi": None}
    of = code.kernel
    return {"name": of.name, "isa": of.target.name, "lanes": of.layout.lanes, "abi": of.convention.name}


S = TypeVar("S")


def _each(work: Callable[[S], T], codes: Sequence[S], skip_refused: bool) -> list[T]:
    return list((unrefused if skip_refused else map)(work, codes))
