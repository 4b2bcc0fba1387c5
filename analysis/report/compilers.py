"""compilers.md: what gcc and clang make of C for the same routines, beside ours, losses as plainly as wins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from setwise.analysis.code.count import count
from setwise.analysis.code.decode import decode
from setwise.analysis.cost.bounds import cost
from setwise.analysis.cost.processors import PROCESSORS, UnknownCost
from setwise.analysis.measure.compilers import FOR_SCALE, Compiled, Compiler, compile_all
from setwise.analysis.report.files import as_json, from_json
from setwise.analysis.report.kernels import FigureKey, Figures, KernelFigures
from setwise.analysis.report.markdown import ISAS, code, listed, page, table
from setwise.analysis.report.measurements import Measured
from setwise.analysis.report.races import cycles
from setwise.analysis.text import counted
from setwise.codegen.machine.processors import lacking
from setwise.codegen.targets import TARGETS

PATH = "data/compilers.json"
BOUNDED = frozenset(
    {"sliders.union", *(f"{family}.attacks.{way}" for family in ("dumb7", "kogge-stone") for way in ("sout", "queen"))}
)
"""The routines whose code by compilers is given bounds, as ours is."""


@dataclass(frozen=True, slots=True)
class CompilerCounts:
    """What a compiler made of one C source for a routine: its counts, or why there are none.

    `bounds` are the model's cycles by processor, chained and independent, of code without branches; only for BOUNDED.
    """

    routine: str
    isa: str
    lanes: int
    kind: str
    compiler: str
    flags: str
    instructions: int | None
    moves: int | None
    bytes: int | None
    reason: str = ""
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def key(self) -> FigureKey:
        """Routine, instruction set, lanes."""
        return self.routine, self.isa, self.lanes

    @property
    def maker(self) -> str:
        """As measurements call it."""
        return f"{self.compiler} {self.flags} ({self.kind})"


@dataclass(frozen=True, slots=True)
class Compilers:
    """What all compilers made, with what each says of its version."""

    versions: Mapping[str, str]
    counts: tuple[CompilerCounts, ...]

    def as_json(self) -> str:
        """The file that holds it."""
        return as_json([_row(counts) for counts in self.counts], versions=dict(self.versions))


def made_by(compiler: Compiler, isa: str, routines: Sequence[str]) -> list[CompilerCounts]:
    """What one compiler makes of these routines for an instruction set."""
    return [_counts_of(function) for function in compile_all(routines, isa, using=(compiler,))]


def recorded(folder: Path) -> Compilers | None:
    """What is recorded in that reports' folder; None if nothing is. ValueError where it is damaged."""
    return from_json(folder / PATH, _compilers, "remove it, and setwise report makes it anew")


def _compilers(held: dict[str, Any]) -> Compilers:
    empty = {"instructions": None, "moves": None, "bytes": None}
    return Compilers(held["versions"], tuple(_from_json({**empty, **row}) for row in held["rows"]))


def to_run(here: Sequence[Compiler], before: Compilers | None, checking: bool) -> list[Compiler]:
    """The compilers of this machine to run: all, or for a check those of the recorded versions."""
    if not checking or before is None:
        return list(here)
    return [one for one in here if before.versions.get(one.name) == one.version]


def joined(now: Compilers, before: Compilers | None) -> tuple[Compilers, list[str]]:
    """What was made now, and what is recorded of compilers that did not run.

    Besides, a line on each of the latter: its rows are taken as they are recorded, and not checked.
    """
    recorded_only = {} if before is None else {n: v for n, v in before.versions.items() if n not in now.versions}
    kept = () if before is None else tuple(counts for counts in before.counts if counts.compiler in recorded_only)
    notes = [
        f"not checked: the rows of {name} as recorded ({said}), which is not here in that version"
        for name, said in recorded_only.items()
    ]
    versions = dict(sorted({**now.versions, **recorded_only}.items()))
    return Compilers(versions, _sorted((*now.counts, *kept))), notes


def compilers(compiled: Compilers, figures: Figures, measured: Measured | None) -> str:
    """The page."""
    return page(
        "Beside the compilers",
        f"{listed([f'`{name}` ({said})' for name, said in compiled.versions.items()])}, `-O3`. What they are given is "
        "C in our own words after the literature, in `analysis/measure/sources`; the bytes of their objects are "
        "counted and timed as ours are, in the same loop and run. Kinds of source: *plain* (a `uint64_t` a board, one "
        "direction after the other), *vectors* (GCC's vectors of boards), *rays* (intrinsics, a ray a lane), *arrays* "
        "(a plain loop, which they make vectors of), *exported* (setwise's own C export of that kernel).",
        "## Cycles",
        *cycles(measured),
        "## Instructions",
        "All instructions of the code but the final `ret`; of each compiler the shortest that it makes of any of its "
        f"sources, in bold where it is shorter than ours. {_lengths(compiled, figures)} Shorter is not faster: above "
        "are the cycles.",
        *(_instructions(compiled, figures, isa) for isa in ISAS),
        *_scale(compiled, measured),
    )


def best(compiled: Compilers, key: FigureKey, compiler: str) -> CompilerCounts | None:
    """The shortest set-wise code that a compiler makes of any source."""
    mine = [one for one in compiled.counts if one.key == key and one.compiler == compiler and one.kind != FOR_SCALE]
    return min(
        (one for one in mine if one.instructions is not None), key=lambda one: one.instructions or 0, default=None
    )


def _with_rivals(
    compiled: Compilers, figures: Figures, isa: str
) -> Iterator[tuple[KernelFigures, list[CompilerCounts | None]]]:
    """Our kernels of the usual lanes for which a compiler made something, with the shortest of each compiler."""
    mine = [kernel for kernel in figures.values() if kernel.isa == isa and kernel.shape != "arrays"]
    usual = max((kernel.lanes for kernel in mine), default=1)
    for kernel in mine:
        theirs = [best(compiled, kernel.key, name) for name in compiled.versions]
        if kernel.lanes == usual and any(theirs):
            yield kernel, theirs


def _lengths(compiled: Compilers, figures: Figures) -> str:
    """How often ours is the shorter one, in words."""
    pairs = [
        (kernel.counts.instructions, min(one.instructions or 0 for one in theirs if one))
        for isa in ISAS
        for kernel, theirs in _with_rivals(compiled, figures, isa)
    ]
    less, same = sum(one < other for one, other in pairs), sum(one == other for one, other in pairs)
    return (
        f"Of {counted(len(pairs), 'kernel')} ours is shorter than the compilers' best in {less}, as long in {same}, "
        f"longer in {len(pairs) - less - same}."
    )


def _instructions(compiled: Compilers, figures: Figures, isa: str) -> str:
    lines = []
    for kernel, theirs in _with_rivals(compiled, figures, isa):
        ours = kernel.counts.instructions
        lines.append((code(kernel.name), ours, *(_length(one, ours) for one in theirs)))
    head = ("Routine", "setwise", *(code(name) for name in compiled.versions))
    return f"### {isa}\n\n{table(head, lines)}" if lines else ""


def _length(one: CompilerCounts | None, ours: int) -> str:
    if one is None or one.instructions is None:
        return "-"
    written = f"{one.instructions} ({one.kind})"
    return f"**{written}**" if one.instructions < ours else written


def _scale(compiled: Compilers, measured: Measured | None) -> Iterator[str]:
    """The look-up of one piece at a time, which is no set-wise kernel."""
    looked_up = [one for one in compiled.counts if one.kind == FOR_SCALE]
    if not looked_up:
        return
    yield "## When not to use a set-wise kernel"
    yield (
        "Where the attacks of each piece are wanted apart, or one or two sliders are on the board, a table for each "
        "square, indexed by `pext`, is the better tool: its cycles grow with the pieces, while a set-wise kernel takes "
        "as many for one piece as for ten. The tables want room in the cache, and `pext` is slow on AMD before Zen 3."
    )
    if measured:
        lines = []
        for key in dict.fromkeys(one.key for one in looked_up):
            mixed, ours = measured.timings(key, "mixed"), measured.ours(key, "independent")
            if ours is not None:
                looked = ((maker, cycles) for maker, cycles in mixed.items() if FOR_SCALE in maker)
                lines += [(code(key[0]), key[1], maker, f"{cycles:.1f}", f"{ours:.1f}") for maker, cycles in looked]
        if lines:
            yield (
                "Measured on sets of arguments that a loop repeats, with one to four pieces of a kind: the processor "
                "learns how many they are, and touches a part of the tables only. In a search, where neither holds, a "
                "look-up takes more; a set-wise kernel takes the same."
            )
            yield table(("Routine", "", "made by", "look-up, mixed", "setwise, independent"), lines, left=3)


def _from_json(row: dict[str, Any]) -> CompilerCounts:
    bounds = {name: (chained, independent) for name, (chained, independent) in row.pop("bounds", {}).items()}
    return CompilerCounts(**row, bounds=bounds)


def _counts_of(function: Compiled) -> CompilerCounts:
    head = (
        function.routine,
        function.isa,
        function.lanes,
        function.kind,
        function.compiler.name,
        " ".join(function.flags),
    )
    if function.binary is None:
        return CompilerCounts(*head, None, None, None, function.reason)
    counts = count(function.binary)
    bounds = _bounds(function) if function.routine in BOUNDED and not counts.branches else {}
    return CompilerCounts(*head, counts.instructions, counts.moves, counts.bytes, bounds=bounds)


def _bounds(function: Compiled) -> dict[str, tuple[float, float]]:
    """On each processor that has the instructions and whose table knows them all."""
    assert function.binary is not None
    bounds = {}
    for processor in PROCESSORS:
        if lacking(processor.name, TARGETS[function.isa].features):
            continue
        with suppress(UnknownCost):
            bound = cost(decode(function.binary.text), processor)
            bounds[processor.name] = (round(bound.latency, 3), round(bound.bound, 3))
    return bounds


def _sorted(made: Iterable[CompilerCounts]) -> tuple[CompilerCounts, ...]:
    order = {isa: at for at, isa in enumerate(ISAS)}
    return tuple(sorted(made, key=lambda one: (one.compiler, order[one.isa], one.lanes)))


def _row(counts: CompilerCounts) -> dict[str, Any]:
    return {key: value for key, value in asdict(counts).items() if value not in (None, "", {})}
