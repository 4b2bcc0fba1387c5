"""compilers.md: what gcc and clang make of C for the same routines, beside ours, losses as plainly as wins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from setwise.analysis.code.count import count
from setwise.analysis.code.decode import decode
from setwise.analysis.cost.bounds import cost
from setwise.analysis.cost.processors import PROCESSORS, UnknownCost
from setwise.analysis.measure.compilers import FOR_SCALE, Compiled, Compiler, compile_all
from setwise.analysis.report.files import as_json, from_json, row_of
from setwise.analysis.report.kernels import FigureKey, Figures, KernelFigures
from setwise.analysis.report.markdown import ISAS, code, listed, page, table
from setwise.analysis.report.measurements import Measured
from setwise.analysis.report.races import sections
from setwise.analysis.report.wasted import Key, Waste
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
    instructions: int | None = None
    moves: int | None = None
    bytes: int | None = None
    reason: str = ""
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def key(self) -> FigureKey:
        """Routine, instruction set, lanes."""
        return self.routine, self.isa, self.lanes

    @property
    def function(self) -> Key:
        """What function it is."""
        return *self.key, self.kind, self.compiler, self.flags


@dataclass(frozen=True, slots=True)
class Compilers:
    """What all compilers made, with what each says of its version."""

    versions: Mapping[str, str]
    counts: tuple[CompilerCounts, ...]

    def as_json(self) -> str:
        """The file that holds it."""
        return as_json([row_of(counts) for counts in self.counts], versions=dict(self.versions))


def made_by(compiler: Compiler, isa: str, routines: Sequence[str]) -> list[CompilerCounts]:
    """What one compiler makes of these routines for an instruction set."""
    return [_counts_of(function) for function in compile_all(routines, isa, using=(compiler,))]


def recorded(folder: Path) -> Compilers | None:
    """What is recorded in that reports' folder; None if nothing is. ValueError where it is damaged."""
    return from_json(folder / PATH, _compilers, "remove it, and setwise report makes it anew")


def _compilers(held: dict[str, Any]) -> Compilers:
    for row in held["rows"]:
        row["bounds"] = {name: (chained, free) for name, (chained, free) in row.get("bounds", {}).items()}
    return Compilers(held["versions"], tuple(CompilerCounts(**row) for row in held["rows"]))


def to_run(here: Sequence[Compiler], before: Compilers | None, checking: bool) -> list[Compiler]:
    """The compilers of this machine to run: all, or for a check those of the recorded versions."""
    if not checking or before is None:
        return list(here)
    return [compiler for compiler in here if before.versions.get(compiler.name) == compiler.version]


def joined(now: Compilers, before: Compilers | None) -> tuple[Compilers, list[str]]:
    """What was made now, and what is recorded of compilers that did not run.

    Besides, a line on each of the latter: its rows are taken as they are recorded, and not checked.
    """
    before = before or Compilers({}, ())
    recorded_only = {name: version for name, version in before.versions.items() if name not in now.versions}
    kept = (counts for counts in before.counts if counts.compiler in recorded_only)
    notes = [
        f"not checked: the rows of {name} as recorded ({version}), which is not here in that version"
        for name, version in recorded_only.items()
    ]
    versions = dict(sorted({**now.versions, **recorded_only}.items()))
    counts = sorted((*now.counts, *kept), key=lambda row: (row.compiler, ISAS.index(row.isa), row.lanes))
    return Compilers(versions, tuple(counts)), notes


def compilers(compiled: Compilers, figures: Figures, measured: Measured | None, wasted: Sequence[Waste] = ()) -> str:
    """The page; `wasted` says what their code could do without."""
    beside = {isa: list(_with_rivals(compiled, figures, isa)) for isa in ISAS}
    known: Known = {(row.key, row.instructions): row for row in wasted}
    more = ("wasted",) if wasted else ()
    head = ("Routine", "setwise", *chain.from_iterable((code(name), *more) for name in compiled.versions))
    tables = (
        f"### {isa}\n\n{table(head, [_lengths(kernel, theirs, known) for kernel, theirs in pairs])}"
        for isa, pairs in beside.items()
        if pairs
    )
    return page(
        "compilers.md",
        compilers=listed([f"`{name}` ({version})" for name, version in compiled.versions.items()]),
        **sections(measured),
        lengths=_outcomes([pair for pairs in beside.values() for pair in pairs]),
        wasted=_wasted(wasted) if wasted else None,
        instructions="\n\n".join(tables),
    )


def best(compiled: Compilers, key: FigureKey, compiler: str) -> CompilerCounts | None:
    """The shortest set-wise code that a compiler makes of any source."""
    functions = (
        counts
        for counts in compiled.counts
        if (counts.key, counts.compiler) == (key, compiler) and FOR_SCALE not in counts.kind and counts.instructions
    )
    return min(functions, key=lambda counts: counts.instructions or 0, default=None)


def shortest(compiled: Compilers) -> list[Key]:
    """Of each compiler the shortest set-wise code for each kernel, as the page has it, without loops over arrays."""
    keys = dict.fromkeys(counts.key for counts in compiled.counts if counts.kind != "arrays")
    return [counts.function for key in keys for name in compiled.versions if (counts := best(compiled, key, name))]


Pair = tuple[KernelFigures, list[CompilerCounts | None]]
"""A kernel of ours, and the shortest code of each compiler for the same."""


def _with_rivals(compiled: Compilers, figures: Figures, isa: str) -> Iterator[Pair]:
    """Our kernels of the usual lanes for which a compiler made something."""
    kernels = [kernel for kernel in figures.values() if kernel.isa == isa and kernel.shape != "arrays"]
    usual = max((kernel.lanes for kernel in kernels), default=1)
    for kernel in kernels:
        theirs = [best(compiled, kernel.key, name) for name in compiled.versions]
        if kernel.lanes == usual and any(theirs):
            yield kernel, theirs


def _outcomes(pairs: Sequence[Pair]) -> str:
    """How often ours is the shorter one, in words."""
    longer_by = [
        kernel.counts.instructions - min(counts.instructions or 0 for counts in theirs if counts)
        for kernel, theirs in pairs
    ]
    return (
        f"Of {counted(len(pairs), 'kernel')} ours is shorter than the compilers' best in "
        f"{sum(more < 0 for more in longer_by)}, as long in {longer_by.count(0)}, longer in "
        f"{sum(more > 0 for more in longer_by)}."
    )


Known = Mapping[tuple[Key, int | None], Waste]
"""What is wasted, by the function and its instructions."""


def _lengths(kernel: KernelFigures, theirs: Iterable[CompilerCounts | None], known: Known) -> tuple[object, ...]:
    """A line of the table; what is shorter than ours is set off."""
    ours = kernel.counts.instructions
    cells: list[object] = [code(kernel.name), ours]
    for counts in theirs:
        words, waste = "-", None
        if counts:
            words = f"{counts.instructions} ({counts.kind})"
            words = f"**{words}**" if (counts.instructions or 0) < ours else words
            waste = known.get((counts.function, counts.instructions))
        cells += [words, waste.words if waste else "-"] if known else [words]
    return tuple(cells)


def _wasted(rows: Sequence[Waste]) -> str:
    """What the column is, and its sums."""
    searched = [row for row in rows if not row.reason]
    wasteful = [row for row in searched if row.fewest < row.instructions]
    ways = Counter((" and ".join(row.levels), f"{row.budget:g}") for row in searched)
    how = listed([f"{levels} in {budget} seconds each ({number})" for (levels, budget), number in ways.items()])
    return (
        "Wasted is what they could have left out: the same values in other registers, then what `setwise shorten` "
        f"finds, proved, at levels {how}. A + says that not all was tried by then, "
        "a - that nothing was: code with jumps, write masks or loads that are not followed, and what was "
        f"not searched yet. Of {counted(len(searched), 'function')} searched until {max(row.date for row in rows)} "
        f"{len(wasteful)} waste {counted(sum(row.instructions - row.fewest for row in wasteful), 'instruction')}."
    )


def _counts_of(function: Compiled) -> CompilerCounts:
    flags = " ".join(function.flags)
    head = function.routine, function.isa, function.lanes, function.kind, function.compiler.name, flags
    if function.binary is None:
        return CompilerCounts(*head, reason=function.reason)
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
