"""The figures of kernels: counts and lower bounds from their bytes, measured cycles, counts of compilers' code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter, itemgetter
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace as altered

from setwise.analysis import api
from setwise.analysis.bench.choice import boards_of
from setwise.analysis.bench.compilers import FOR_SCALE, Compiler, compile_all
from setwise.analysis.bench.here import machine, processor_here, today
from setwise.analysis.bench.trials import METHOD, Timing
from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.count import Counts, count, tally
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.kernel import widths
from setwise.codegen.run.call import missing
from setwise.codegen.targets import TARGETS

Key = tuple[str, str, int]  # name, instruction set, lanes
Bound = tuple[float | None, float]
"""Lower bounds in cycles, latency and throughput, for a call or for a board of an array; latency is None for arrays."""
TIMED = (  # routines that `setwise report --measure` times, for each instruction set that the processor has
    *(f"{family}.attacks.{way}" for way in ("sout", "noEa", "east", "queen") for family in ("dumb7", "kogge-stone")),
    *("push.attacks.sout", "push.attacks.east", "subtraction.attacks.east"),
    *("sliders.union", "sliders.pair", "side.union.white", "sliders.union.batch"),
)


@dataclass(frozen=True, slots=True)
class KernelFigures:
    """A kernel in the System V convention, and the figures of its bytes.

    `counts` are those of the code. For a routine on `arrays` they are those of one iteration of its loop, which
    processes `boards` boards; for other routines `boards` is 1. `digest` is the start of the image's SHA-256. `bounds`
    are by the name of the processor. Code with jumps has none, except for a routine on arrays.
    """

    name: str
    isa: str
    lanes: int
    arrays: bool
    boards: float
    counts: Counts
    digest: str
    bounds: Mapping[str, Bound]

    @property
    def length(self) -> float:
        """The number of instructions for a call, or for a board of an array."""
        return self.counts.instructions / self.boards


class Figures(dict[Key, KernelFigures]):
    """Figures of kernels by key, in the order of the catalogue."""

    def of(self, isa: str, *names: str) -> list[KernelFigures]:
        """Return the kernels of these routines for an instruction set, those with the most lanes first."""
        return sorted(
            (each for each in self.values() if each.isa == isa and each.name in names), key=lambda of: -of.lanes
        )

    def usual(self, isa: str, name: str) -> KernelFigures | None:
        """Return the kernel with the most lanes, which is the default number, or None if there is no kernel."""
        return next(iter(self.of(isa, name)), None)

    @property
    def differing(self) -> Figures:
        """All kernels but those whose figures are the same in the instruction set that theirs extends."""
        older = {isa: target.extends.name for isa, target in TARGETS.items() if target.extends}
        same = ((key, replace(each, isa=older.get(each.isa, ""))) for key, each in self.items())
        return Figures((key, self[key]) for key, each in same if self.get((each.name, each.isa, each.lanes)) != each)


def keys() -> list[Key]:
    """Return the keys of the reported kernels: for each routine and instruction set, one for each number of lanes.

    If the lanes hold boards, only the default number of lanes is reported.
    """
    pairs = ((routine, isa) for routine in catalogue().values() for isa in routine.isas)
    return [(of.name, isa, n) for of, isa in pairs for n in widths(of, TARGETS[isa])[: 1 if of.batched else None]]


def figures_of(name: str, isa: str, lanes: int | None = None, variant: str = "") -> KernelFigures:
    """Compile one kernel and return its figures."""
    request = api.request(name, isa, lanes=lanes, variant=variant)
    (costed,) = api.costs([request])
    kernel, binary, arrays = request.kernel, binary_of(request.kernel), bool(request.routine.contract.elements)
    boards = boards_of(costed.part, request.routine.contract)
    bounds = {
        on.name: (None if arrays else round(cost.latency, 3), round(cost.bound / boards, 3))
        for on, cost in costed.costs
        if arrays or costed.part.kind == "call"
    }
    counts, digest = tally(costed.part.stream) if arrays else count(binary), binary.image_sha256[:16]
    return KernelFigures(kernel.name, isa, kernel.layout.lanes, arrays, boards, counts, digest, bounds)


class Cycles(NamedTuple):
    """Measured core cycles of a call, or of a board of an array, including call and return; None if not measured."""

    name: str
    isa: str
    lanes: int
    digest: str
    latency: float | None
    throughput: float | None


class Session(Struct, frozen=True, forbid_unknown_fields=True):
    """One run of measurements. `processor` is the processor's name for `setwise cost --cpu`."""

    processor: str
    machine: str
    date: str
    method: str
    cycles: list[Cycles]


class Measurements(Struct, frozen=True, forbid_unknown_fields=True):
    """The content of the file of measurements. Its rows are lists in the order of their fields.

    A `digest` is the start of the SHA-256 of a kernel's image. `shortest` holds the number of instructions and the kind
    of source of the shortest code, by compiler, instruction set and routine.
    """

    sessions: list[Session] = []
    compilers: dict[str, str] = {}  # versions by name
    shortest: dict[str, dict[str, dict[str, tuple[int, str]]]] = {}

    def of(self, figures: Figures) -> Measurements:
        """Return the measurements without timings of kernels whose image differs from that in `figures`."""
        held = {(*key, kernel.digest) for key, kernel in figures.items()}
        fresh = [altered(each, cycles=[row for row in each.cycles if row[:4] in held]) for each in self.sessions]
        return altered(self, sessions=fresh)


def shortest_of(compiler: Compiler, isa: str) -> dict[str, tuple[int, str]]:
    """Return by routine the number of instructions, and the kind of source, of a compiler's shortest code of our C.

    Routines on arrays and look-ups in tables are left out.
    """
    names = [name for name, routine in catalogue().items() if isa in routine.isas and not routine.contract.elements]
    found: dict[str, tuple[int, str]] = {}
    for made in compile_all(names, isa, using=(compiler,)):
        if made.binary and not made.kind.startswith(FOR_SCALE) and (length := count(made.binary).instructions):
            this = length, made.kind
            found[made.routine] = min(found.get(made.routine, this), this, key=itemgetter(0))
    return found


def measure(progress: Callable[[str], None], patience: float) -> Session:
    """Time the kernels of TIMED that this processor can run; `patience` is in seconds for each timing process.

    Raises ValueError if `setwise cost` has no table for this processor.
    """
    here, key = processor_here(), attrgetter("name", "isa", "lanes")
    if here is None:
        raise ValueError(f"setwise cost has no table for {machine()}: measure on a processor that it lists")
    made = [api.request(name, isa) for name in TIMED for isa in find(name).isas if not missing(TARGETS[isa])]
    timings = [each for each in api.bench(made, patience=patience, show=progress).timings if isinstance(each, Timing)]
    medians = {(*key(each.measurand), each.measurand.mode): round(each.median, 2) for each in timings}
    rows = []
    for each in made:
        cycles = (medians.get((*each.key[:3], mode)) for mode in ("chained", "independent"))
        rows.append(Cycles(*each.key[:3], binary_of(each.kernel).image_sha256[:16], *cycles))
    return Session(here.name, machine(), today(), " ".join(METHOD.split()), rows)
