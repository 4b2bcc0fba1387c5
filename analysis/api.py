"""The library interface: judging and exporting kernels, and judging functions of ELF files.

Nothing here prints. Bad input raises a ValueError with a one-line message. Functions with a parameter `show` pass it
the title of each item. Most judges are imported on first use, so that fast calls do not load the slow ones.

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
from typing import TYPE_CHECKING, Any

from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.objects import ObjectFunction
from setwise.analysis.parallel import unrefused
from setwise.codegen.ir.routine import Routine
from setwise.codegen.kernel import convention_named, widths
from setwise.codegen.machine.convention import CONVENTIONS
from setwise.codegen.request import Request
from setwise.codegen.targets import TARGETS, target_named

if TYPE_CHECKING:
    from setwise.analysis.bench.bench import bench as bench
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
    from setwise.analysis.proofs import prove_same as prove_same
    from setwise.analysis.run.caller import Caller
    from setwise.analysis.run.checks import check as check
    from setwise.analysis.run.checks import check_function as check_function
    from setwise.analysis.run.interpreter import Trace
    from setwise.analysis.search.search import session_of as session_of
    from setwise.analysis.search.search import sessions as sessions
    from setwise.analysis.search.search import shorten as shorten

_LATER = {
    "bench.bench": "bench",
    "bench.choice": "best request",
    "exports.export": "export",
    "exports.verify": "verify",
    "proofs": "prove prove_function prove_same",
    "run.checks": "check check_function",
    "search.search": "session_of sessions shorten",
}
"""The modules in `setwise.analysis` that are imported on first use, with the functions that are taken from them."""


def __getattr__(name: str) -> object:
    for module, names in _LATER.items():
        if name in names.split():
            return getattr(import_module(f"setwise.analysis.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


CLASSES = ("moves", "operations", "constants", "transfers", "loads", "stores", "branches", "stack", "other")
"""The instruction classes, as columns of a table."""
COUNTED = ("instructions", *CLASSES, "memory_operands")


Code = Request | ObjectFunction
"""Code that can be counted and costed."""


def requests(
    routines: Sequence[Routine],
    isa: str | None = None,
    abi: str | None = None,
    lanes: int | None = None,
    variant: str = "",
) -> list[Request]:
    """Return requests for the routines, for all instruction sets, conventions and lane counts or for the given ones.

    Requests with equal contracts are adjacent, because their judges share work. A variant needs an instruction set, and
    has the default number of lanes. Refused requests are skipped; if none is left, a ValueError is raised.
    """
    if variant and not isa:
        raise ValueError("a variant belongs to an instruction set: add --isa")
    targets = TARGETS if isa is None else {isa: target_named(isa)}
    conventions = CONVENTIONS if abi is None else {abi: convention_named(abi)}
    wanted = [
        (routine, target, convention, None if variant else number, variant)
        for routine in sorted(routines, key=lambda routine: repr(routine.contract))
        for target in (routine.isas if isa is None else targets)
        for number in (widths(routine, targets[target])[: 1 if variant else None] if target in routine.isas else (1,))
        for convention in conventions
        if lanes in (None, number)
    ]
    if not wanted:
        raise ValueError(f"no kernel has {lanes} lanes for {isa or 'any instruction set'}: omit or change --lanes")
    return list(unrefused(lambda each: Request(*each), wanted))


def with_sets(routines: Sequence[Routine], isa: str | None, lanes: int | None) -> list[tuple[Routine, str]]:
    """Return each routine with `isa`, or else with each of its instruction sets that may have this number of lanes."""
    pairs = [(routine, own) for routine in routines for own in ([isa] if isa else routine.isas)]
    return [(routine, own) for routine, own in pairs if isa or lanes in (None, *TARGETS[own].widths)]


def listing(request: Request, syntax: str = "nasm", *, endbr64: bool = False, prefix: str = "setwise") -> str:
    """Return the assembly source of a kernel in the syntax nasm, gas, att, masm or go.

    With `endbr64` the code begins with one, in Go after loading arguments. The symbol begins with `prefix`, not in Go.
    """
    from setwise.analysis.exports.facts import facts_of
    from setwise.codegen.export.listings.listing import listing as text_of
    from setwise.codegen.export.objects.relocatable import with_endbr64
    from setwise.codegen.export.reserved import checked_name

    kernel = with_endbr64(request.kernel) if endbr64 else request.kernel
    kernel = replace(kernel, prefix=checked_name(prefix))
    return text_of(kernel, facts_of(kernel), syntax)


def comparison(left: Request, right: Request) -> str:
    """Return the listings of two kernels side by side, with their counts below."""
    from setwise.analysis.code.compare import side_by_side

    return side_by_side(*((each.kernel.name, binary_of(each.kernel)) for each in (left, right)))


def counts(codes: Sequence[Code]) -> list[dict[str, Any]]:
    """Return a row for each code: the columns of `key_of`, counts by class, bytes, and an ELF function's features."""
    from setwise.analysis.code.count import UnclassifiedError, count
    from setwise.analysis.code.decode import decode, features

    def counted(code: Code) -> dict[str, Any]:
        binary = _binary(code)
        try:
            row = count(binary).as_dict()
        except UnclassifiedError as error:
            raise UnclassifiedError(f"{key_of(code)['name']}: {error}") from None
        if isinstance(code, Request):
            return {**key_of(code), **row}
        del row["data_bytes"]  # the sections may hold data of other functions too
        return {**key_of(code), "features": sorted(features(decode(binary.text))), **row}

    return list(map(counted, codes))


def executed_counts(requests: Sequence[Request], words_of: Callable[[Routine], Sequence[int]]) -> list[dict[str, Any]]:
    """Return a row a kernel: `key_of`, and counts of the instructions that a call with `words_of(routine)` executes."""
    return [{**key_of(request), **_executed(request)(words_of(request.routine))} for request in requests]


def spreads(requests: Sequence[Request], positions: Sequence[str], side: str | None = None) -> list[dict[str, Any]]:
    """Return a row for each kernel: minimum, mean and maximum of its executed counts by class over positions (FEN).

    `side`, w or b, owns the pieces of a routine without a color; the default is the side to move.
    """
    from setwise.analysis.run.positions import words_of

    def spread(request: Request) -> dict[str, Any]:
        call = _executed(request)
        rows = [call(words_of(request.routine, (), fen, side)) for fen in positions]
        columns = {key: [row[key] for row in rows] for key in COUNTED}
        figures = {key: {"minimum": min(of), "mean": fmean(of), "maximum": max(of)} for key, of in columns.items()}
        return {**key_of(request), "positions": len(positions), **figures}

    return list(map(spread, requests))


def _executed(request: Request) -> Callable[[Sequence[int]], dict[str, int]]:
    """Return a function from a kernel's arguments to the counts by class of the instructions that the call executes."""
    from setwise.analysis.run.interpreter import executed_counts as counts_of

    caller = _caller(request)

    def call(words: Sequence[int]) -> dict[str, int]:
        counted = counts_of(caller.trace(words))
        return {key: getattr(counted, key) for key in COUNTED}

    return call


def trace(request: Request, words: Sequence[int]) -> Trace:
    """Return the trace of a kernel's call: each executed instruction, with the registers that it wrote."""
    return _caller(request).trace(words)


def _caller(request: Request) -> Caller:
    from setwise.analysis.run.caller import Caller
    from setwise.analysis.spec.contracts import task_of

    return Caller(binary_of(request.kernel), task_of(request.kernel))


@dataclass(frozen=True, slots=True)
class CostedCode:
    """A piece of code (its `key_of`), its costed part, and the cost of that part on each processor."""

    key: dict[str, Any]
    part: CostedPart
    costs: Sequence[tuple[Processor, Cost]]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The table rows, one for each processor."""
        return [{**self.key, "part": self.part.kind, "cpu": on.name, **cost.as_dict()} for on, cost in self.costs]


def costs(
    codes: Sequence[Code], cpu: str | None = None, words_of: Callable[[Routine], Sequence[int]] | None = None
) -> list[CostedCode]:
    """Return lower bounds on the cycles of a part of each code, on `cpu` or on all processors that support it.

    `part_of` selects it. With `words_of`, which gives arguments for a routine, it is a kernel's call with them.
    """
    from setwise.analysis.bench.here import processor_named
    from setwise.analysis.cost.part import CostedPart, part_of
    from setwise.analysis.cost.processors import PROCESSORS

    def costed(code: Code) -> CostedCode:
        if words_of is not None and isinstance(code, Request):
            part = CostedPart(trace(code, words_of(code.routine)).instructions, "executed")
        else:
            part = part_of(_binary(code))
        processors = [processor_named(cpu)] if cpu else [on for on in PROCESSORS if not on.lacking(part.stream)]
        return CostedCode(key_of(code), part, [(on, part.cost(on)) for on in processors])

    return list(map(costed, codes))


def _binary(code: Code) -> Binary:
    return code.binary if isinstance(code, ObjectFunction) else binary_of(code.kernel)


def key_of(code: Code) -> dict[str, Any]:
    """Return a code's name, isa, lanes and abi, which identify it in a table. An ELF function has only a name."""
    if isinstance(code, ObjectFunction):
        return {"name": code.symbol, "isa": None, "lanes": None, "abi": None}
    of = code.kernel
    return {"name": of.name, "isa": of.target.name, "lanes": of.layout.lanes, "abi": of.convention.name}
