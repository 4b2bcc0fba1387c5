"""What setwise does, for programs: requests, or a function of an ELF file, in; plain results out.

Nothing here prints. Refusals are ValueError in one line. Long work says through `show` what it is at. Judges are
imported where they are used, so that no call waits for those that it does not need.

>>> from setwise.analysis import api
>>> north = api.request("kogge-stone.attacks.nort", "bmi2")
>>> api.counts([north])[0]["instructions"], api.prove([north])[0].status
(17, 'proved')
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeVar

from setwise.analysis.code.kernel import binary_of
from setwise.analysis.parallel import Show, in_processes, silent, unrefused
from setwise.codegen.catalogue import find
from setwise.codegen.describe.routine import Routine
from setwise.codegen.kernel import Kernel, convention_named, widths
from setwise.codegen.machine.convention import CONVENTIONS
from setwise.codegen.request import Request
from setwise.codegen.targets import TARGETS, target_named
from setwise.codegen.targets.table import Refused

if TYPE_CHECKING:
    from setwise.analysis.code.decode import Binary, Decoded
    from setwise.analysis.cost.bounds import Cost
    from setwise.analysis.cost.part import Part
    from setwise.analysis.cost.processors import Processor
    from setwise.analysis.exports.export import Exported
    from setwise.analysis.exports.verify import Finding
    from setwise.analysis.measure.benchmark import Benchmark
    from setwise.analysis.proofs import Proof
    from setwise.analysis.run.check import Outcome
    from setwise.analysis.run.checks import Checked
    from setwise.analysis.run.steps import Trace
    from setwise.analysis.search.search import Hunt
    from setwise.codegen.run import bochs

T = TypeVar("T")
CLASSES = ("moves", "operations", "constants", "transfers", "loads", "stores", "branches", "stack", "other")
"""The classes of instructions."""
COUNTED = ("instructions", *CLASSES, "memory_operands")
TIME_LIMIT = 60.0
"""Seconds a proof."""


@dataclass(frozen=True, slots=True)
class ObjectFunction:
    """A function of an ELF object, program or shared library, by its symbol."""

    file: str
    symbol: str


Code = Request | ObjectFunction
"""Code that is counted and costed."""


def request(
    routine: Routine | str,
    isa: str = "x86-64",
    abi: str = "sysv",
    lanes: int | None = None,
    *,
    variant: str = "",
    for_: str = "size",
    cpu: str | None = None,
) -> Request:
    """Return the request for a kernel of a routine, which may be given by name.

    `for_` chooses the variant: "size" the one with the fewest instructions, "latency" or "throughput" the fastest by
    timings and bounds, on the processor `cpu` or on none in particular. `variant` names one instead.
    """
    from setwise.analysis.measure.choice import chosen_request
    from setwise.analysis.measure.here import processor_named

    routine = find(routine) if isinstance(routine, str) else routine
    if for_ == "size" or variant:
        return Request(routine, isa, abi, lanes, variant)
    return chosen_request(for_, processor_named(cpu) if cpu else None, routine, (isa,), abi, lanes)


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
    from setwise.analysis.run.steps import executed_counts as counts_of
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
    part: Part
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
    from setwise.analysis.cost.part import Part
    from setwise.analysis.cost.processors import PROCESSORS
    from setwise.analysis.measure.here import processor_named

    def costed(code: Code) -> CostedCode:
        if words_of is not None and isinstance(code, Request):
            part = Part(_instructions(code, words_of(code.routine)), "executed")
        else:
            part = _part(code)
        processors = [processor_named(cpu)] if cpu else [on for on in PROCESSORS if not on.lacking(part.stream)]
        return CostedCode(key_of(code), part, [(on, part.cost(on)) for on in processors])

    return _each(costed, codes, skip_refused)


def _instructions(request: Request, words: Sequence[int]) -> tuple[Decoded, ...]:
    return trace(request, words).instructions


def _part(code: Code) -> Part:
    from setwise.analysis.cost.part import part_of

    try:
        return part_of(_binary(code))
    except ValueError as error:
        if isinstance(code, ObjectFunction):
            raise
        raise Refused(f"{code.routine.name}: {error}") from None


def check(
    requests: Sequence[Request],
    *,
    quick: bool = False,
    on: str | None = None,
    processes: int = 1,
    show: Show = silent,
) -> list[Checked]:
    """Run kernels against their specifications, on this processor or an emulated one, by so many processes.

    Kernels for which this processor lacks something run in Bochs; `on` names a processor there. Needs NumPy.
    """
    from functools import partial

    from setwise.analysis.run.checks import check_kernels

    work = partial(check_kernels, quick=quick, on=_emulated(on))
    return sorted(in_processes(work, requests, processes, show), key=lambda checked: checked.key)


def check_function(
    function: ObjectFunction, spec: Routine, abi: str = "sysv", *, quick: bool = False, on: str | None = None
) -> Outcome:
    """Run a function of an ELF file in Bochs, against the specification of a routine. Needs NumPy and Bochs."""
    from setwise.analysis.run.checks import check_binary

    emulated = _emulated(on)
    return check_binary(_binary(function), spec, abi, quick=quick, on=emulated)


def _emulated(on: str | None) -> bochs.Processor | None:
    from setwise.codegen.run.bochs import ready

    return None if on is None else ready(on)


def prove(
    requests: Sequence[Request],
    *,
    time_limit: float = TIME_LIMIT,
    keep: bool = False,
    processes: int = 1,
    show: Show = silent,
) -> list[Proof]:
    """Prove kernels right for all inputs, in `time_limit` seconds each; `keep` the questions to the solver.

    Needs bitwuzla.
    """
    from functools import partial

    from setwise.analysis.proofs import proof_effort, prove_kernels

    work = partial(prove_kernels, time_limit=time_limit, keep=keep)
    return sorted(in_processes(work, requests, processes, show, proof_effort), key=lambda proof: proof.key)


def prove_function(
    function: ObjectFunction,
    spec: Routine,
    abi: str = "sysv",
    lanes: int | None = None,
    *,
    time_limit: float = TIME_LIMIT,
    keep: bool = False,
) -> Proof:
    """Prove a function of an ELF file right by the contract of a routine; nothing of the file runs. Needs bitwuzla."""
    from setwise.analysis.proofs import prove_function as prove

    return prove(function.file, function.symbol, spec, abi, lanes, time_limit=time_limit, keep=keep)


def bench(
    requests: Sequence[Request],
    modes: Sequence[str] = ("chained", "independent", "mixed"),
    *,
    beside: Sequence[str] = (),
    boards: int = 512,
    patience: float = 30.0,
    named: bool = False,
    show: Show = silent,
) -> Benchmark:
    """Time kernels on this processor, in core cycles.

    `modes` say how calls follow each other, `beside` names compilers whose code for the same is timed, too, `boards` is
    the length of arrays, and `patience` the seconds to wait for a quiet moment. `named` tells variants apart by name.
    Raises CannotRunHere if this processor runs none of them, NotInstalled for a compiler that is missing.
    """
    from setwise.analysis.measure.benchmark import benchmark

    return benchmark(requests, modes, beside, boards, patience, show, named=named)


def best(
    routines: Sequence[Routine],
    objectives: Sequence[str] = ("size", "latency", "throughput"),
    cpu: str = "native",
    isa: str | None = None,
    abi: str = "sysv",
) -> list[tuple[str, Request]]:
    """Return for each routine and objective the best kernel among all sets that the processor has, or of one set.

    Routines of which there is no kernel are left out unless that is all.
    """
    from setwise.analysis.measure.choice import check_objective, chosen_request, sets_of
    from setwise.analysis.measure.here import processor_named

    if isa:
        target_named(isa)
    for objective in objectives:
        check_objective(objective)
    on = processor_named(cpu)

    def of(routine: Routine) -> list[tuple[str, Request]]:
        isas = (isa,) if isa else sets_of(routine, on, native=cpu == "native")
        return [(objective, chosen_request(objective, on, routine, isas, abi, None)) for objective in objectives]

    return [pair for pairs in unrefused(of, routines) for pair in pairs]


def export(
    routines: Sequence[Routine],
    directory: str,
    format: str,
    isas: Sequence[str] = ("x86-64",),
    abi: str | None = None,
    lanes: int | None = None,
    *,
    variant: str = "",
    for_: str = "size",
    cpu: str | None = None,
    endbr64: bool = False,
    dispatch: bool = False,
    name: str = "",
    prefix: str = "",
    force: bool = False,
    unproved: bool = False,
    time_limit: float = TIME_LIMIT,
    show: Show = silent,
) -> Exported:
    """Write kernels as listings, objects or source into a directory that is new or empty, with their proofs.

    `force` replaces an earlier export. Without bitwuzla, or with `unproved`, nothing is proved. Nothing is written if
    one of the files cannot be; CannotRunHere if a kernel is not proved.
    """
    from setwise.analysis.exports.export import export_request, write_export
    from setwise.analysis.proof.prover import Prover

    prover, solver = None, True
    if not unproved:
        try:
            prover = Prover()
        except ModuleNotFoundError as error:
            if error.name != "bitwuzla":
                raise
            solver = False
    request = export_request(
        routines,
        format,
        isas,
        abi,
        lanes,
        show,
        variant=variant,
        for_=for_,
        cpu=cpu,
        endbr64=endbr64,
        dispatch=dispatch,
        name=name,
        prefix=prefix,
        proved=prover is not None,
    )
    exported = write_export(request, routines, directory, time_limit, show, force=force, prover=prover)
    return exported if solver else replace(exported, proved=None)


def verify(
    directory: str | Path,
    *,
    time_limit: float = TIME_LIMIT,
    run_descriptions: bool = False,
    show: Show = silent,
) -> list[Finding]:
    """Make every file of an export again, compare, and prove its kernels again.

    Python files that describe users' routines run only with `run_descriptions`. Raises CannotRunHere for an export that
    another version of setwise wrote.
    """
    from setwise.analysis.errors import CannotRunHere
    from setwise.analysis.exports.metadata import OtherVersion, read
    from setwise.analysis.exports.verify import findings

    try:
        recorded = read(directory)
    except OtherVersion as error:
        raise CannotRunHere(str(error)) from None
    return list(findings(Path(directory), recorded, time_limit, show, run_descriptions))


def hunts(requests: Sequence[Request]) -> list[Hunt]:
    """Return a search for shorter code of each kernel, not begun; kernels with the same bytes have one."""
    from setwise.analysis.parallel import made
    from setwise.analysis.search.search import Hunt
    from setwise.analysis.search.subject import Subject

    found: dict[tuple[Binary, str], Hunt] = {}
    for request, kernel in made(requests):
        if isinstance(kernel, str):
            continue
        name, isa, _, abi = request.key
        boards = kernel.layout.lanes if kernel.layout.boards else 1
        binary = binary_of(kernel)
        found.setdefault((binary, name), Hunt(request.title, Subject(name, isa, abi, boards), binary, binary))
    return [*found.values()]


def hunt_of(function: ObjectFunction, spec: Routine, abi: str = "sysv", lanes: int = 1) -> Hunt:
    """Return a search for shorter code of a function of an ELF file, not begun."""
    from setwise.analysis.search.search import Hunt, refusal
    from setwise.analysis.search.subject import Subject, instruction_set

    binary = _binary(function)
    subject = Subject(spec.name, instruction_set(binary), abi, lanes)
    if why := refusal(subject, binary):
        raise ValueError(f"{function.symbol}: {why}")
    return Hunt(f"{function.symbol} as {spec.name}", subject, binary, binary)


def shorten(
    hunts: Sequence[Hunt],
    levels: Sequence[str] = ("a", "b", "c"),
    budget: float = 60.0,
    *,
    processes: int = 1,
    show: Show = silent,
) -> None:
    """Search for shorter code with the same contract, in place; an interrupted search keeps its findings.

    `levels` are a (another value in the place of a result), b (one new instruction) and c (two or three); each takes at
    most `budget` seconds of a processor. Needs NumPy and bitwuzla.
    """
    from setwise.analysis.search.search import hunt_all

    hunt_all(hunts, levels, budget, processes, show)


def _binary(code: Code) -> Binary:
    if isinstance(code, Request):
        return binary_of(code.kernel)
    from setwise.analysis.code.objects import load

    return load(code.file, code.symbol)


def key_of(code: Code) -> dict[str, Any]:
    """Return what tells some code from all other, as rows of tables begin: name, instruction set, lanes, convention."""
    if isinstance(code, ObjectFunction):
        return {"name": code.symbol, "isa": None, "lanes": None, "abi": None}
    of = code.kernel
    return {"name": of.name, "isa": of.target.name, "lanes": of.layout.lanes, "abi": of.convention.name}


S = TypeVar("S")


def _each(work: Callable[[S], T], codes: Sequence[S], skip_refused: bool) -> list[T]:
    return list((unrefused if skip_refused else map)(work, codes))
