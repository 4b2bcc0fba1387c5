"""compilers.md: what gcc and clang make of C for the same routines, beside ours, losses as plainly as wins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from setwise.analysis.code.count import count
from setwise.analysis.code.decode import decode
from setwise.analysis.cost.bounds import cost
from setwise.analysis.cost.processors import PROCESSORS, UnknownCost
from setwise.analysis.measure.compilers import FOR_SCALE, Compiled, Compiler, compile_all
from setwise.analysis.report.kernels import FigureKey, Figures, KernelFigures
from setwise.analysis.report.markdown import FAMILIES, ISAS, code, page, table, table_if_any, versions_of
from setwise.analysis.report.records import COMMAND, Record
from setwise.analysis.text import counted
from setwise.codegen.machine.processors import lacking
from setwise.codegen.targets import TARGETS

BOUNDED = frozenset(
    {"sliders.union", *(f"{family}.attacks.{way}" for family in ("dumb7", "kogge-stone") for way in ("sout", "queen"))}
)
"""The routines whose code by compilers is given bounds, as ours is."""


@dataclass(frozen=True, slots=True)
class CompilerCounts:
    """What a compiler made of one C source for a routine: its counts, or why there are none.

    `bounds` are the model's cycles by processor, chained and independent, of a few routines' code without branches.
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


@dataclass(frozen=True, slots=True)
class Compilers:
    """What all compilers made, with what each says of its version."""

    versions: Mapping[str, str]
    counts: tuple[CompilerCounts, ...]


RECORD = Record(
    "data/compilers.json",
    Compilers,
    COMMAND,
    "counts",
    remedy="remove it, and setwise report makes it anew",
)


def made_by(compiler: Compiler, isa: str, routines: Sequence[str]) -> list[CompilerCounts]:
    """What one compiler makes of these routines for an instruction set."""
    return [_counts_of(function) for function in compile_all(routines, isa, using=(compiler,))]


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


def compilers(compiled: Compilers, figures: Figures) -> str:
    """The page."""
    pairs = [pair for isa in ISAS for pair in _with_rivals(compiled, figures, isa)]
    return page(
        "compilers.md",
        compilers=versions_of(compiled.versions),
        kernels=counted(len(pairs), "kernel"),
        **dict(zip(("fewer", "as_many", "more"), _won(pairs), strict=True)),
        instructions=_by_family(pairs) if pairs else None,
        shorter=_shorter(pairs),
    )


def best(compiled: Compilers, key: FigureKey, compiler: str) -> CompilerCounts | None:
    """The shortest set-wise code that a compiler makes of any source."""
    functions = (
        counts
        for counts in compiled.counts
        if (counts.key, counts.compiler) == (key, compiler) and FOR_SCALE not in counts.kind and counts.instructions
    )
    return min(functions, key=lambda counts: counts.instructions or 0, default=None)


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


def _theirs(pair: Pair) -> CompilerCounts:
    """The shortest code of all compilers."""
    return min((counts for counts in pair[1] if counts), key=lambda counts: counts.instructions or 0)


def _more(pair: Pair) -> int:
    """How many instructions ours has more than theirs."""
    return pair[0].counts.instructions - (_theirs(pair).instructions or 0)


def _won(pairs: Sequence[Pair]) -> tuple[int, int, int]:
    """How often ours is shorter, as long, longer."""
    more = [_more(pair) for pair in pairs]
    return sum(each < 0 for each in more), more.count(0), sum(each > 0 for each in more)


def _by_family(pairs: Sequence[Pair]) -> str:
    """A line a family and instruction set: the instructions of all kernels together."""
    groups: dict[tuple[str, str], list[Pair]] = {}
    for pair in pairs:
        groups.setdefault((pair[0].family, pair[0].isa), []).append(pair)
    families = [*dict.fromkeys(family for family, _ in groups)]
    lines = []
    for family, isa in sorted(groups, key=lambda each: families.index(each[0])):
        group = groups[family, isa]
        lengths = [
            sum(pair[0].counts.instructions for pair in group),
            sum(_theirs(pair).instructions or 0 for pair in group),
        ]
        lines.append((FAMILIES.get(family, family), isa, len(group), *lengths, *_won(group)))
    head = ("Family", "", "kernels", "setwise", "compilers' best", "shorter", "as long", "longer")
    return table(head, lines, left=2)


def _shorter(pairs: Sequence[Pair]) -> str | None:
    """A line for each kernel of which a compiler makes shorter code."""
    lines = [
        (
            code(pair[0].name),
            pair[0].isa,
            pair[0].counts.instructions,
            theirs.instructions,
            theirs.compiler,
            theirs.kind,
        )
        for pair in pairs
        if _more(pair) > 0
        for theirs in [_theirs(pair)]
    ]
    return table_if_any(("Routine", "", "setwise", "theirs", "made by", "of"), lines, left=2)


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
            bounds[processor.name] = (round(float(bound.latency), 3), round(float(bound.bound), 3))
    return bounds
