"""The variant of every routine of single boards that is taken for speed, beside all else here that computes the same.

That is every other variant that is offered, of any instruction set that this processor has, and what each compiler
makes of each C, for these sets and for this very processor. All are timed shortly; then those that came out first, with
the one that is taken, again and at length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from itertools import islice
from math import inf
from operator import attrgetter

from setwise.analysis.code.decode import Binary
from setwise.analysis.cost.processors.table import Processor
from setwise.analysis.measure.compilers import FOR_SCALE, Compiler, compile_all, installed
from setwise.analysis.measure.fields import SHORTLY, Field, Taken, all_made, field_of, timed
from setwise.analysis.measure.kept import Kept
from setwise.analysis.measure.objective import WAYS
from setwise.analysis.measure.rivals import judge_binary
from setwise.analysis.measure.subjects import Subject
from setwise.analysis.proof.prover import Prover
from setwise.analysis.run.workers import Workers
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from setwise.codegen.run.call import missing
from setwise.codegen.run.timer import Mode
from setwise.codegen.targets import TARGETS

OBJECTIVES: dict[Mode, str] = {**{way: objective for objective, way in WAYS.items()}, "mixed": "throughput"}
"""What a way to call a routine asks for."""
FOR_THIS = ("-march=native",)
_OTHER_CALLS = ("vectors", "arrays", FOR_SCALE)  # kinds of C that take other arguments, or are no fills
_AT_LENGTH = {"processes": 2, "wanted": 12}
_FINALISTS = 2  # of ours beside the one that is taken, and of the compilers'
_PROOF = 10.0  # seconds; then code is run on the check's cases


@dataclass(frozen=True, slots=True)
class Row:
    """A routine called one way: the variant that is taken, the fastest other one, the compilers' fastest.

    Where calls are chained, each figure is of the argument by which it takes longest. `digest` is of all the code that
    was timed.
    """

    name: str
    mode: str
    digest: str
    ours: Taken
    other: Taken | None = None
    theirs: Taken | None = None

    @property
    def speed(self) -> float:
        """The least cycles of all others, over those of the variant that is taken: above 1 that is the fastest."""
        return min((each.cycles for each in (self.other, self.theirs) if each), default=inf) / self.ours.cycles


def measure(
    names: Sequence[str],
    on: Processor,
    before: Sequence[Row],
    keep: Callable[[Sequence[Row]], None],
    progress: Callable[[str], None],
    patience: float,
) -> list[Row]:
    """A row a routine and way to call it. Those of `before` whose code is the same stay, others are made anew.

    `keep` is given all rows now and then; `patience` is in seconds a process and routine. What found no undisturbed
    moment has no row. Raises CompilerError, ValueError for code that is wrong.
    """
    kept = Kept(names, before, keep)
    prover = Prover()
    for number, field in enumerate(_fields(names, on, progress), 1):
        if [(row.mode, row.digest) for row in kept[field.name]] != [(mode, field.digest) for mode in field.modes]:
            progress(f"{number}/{len(names)} {field.name}")
            kept[field.name] = _rows(field, prover, patience)
    return kept.rows


def _fields(names: Sequence[str], on: Processor, progress: Callable[[str], None]) -> list[Field]:
    """Everything that is timed: made, all of it, before anything is, for that takes all cores."""
    with Workers() as workers:
        compiling = [
            workers.submit(_compiled, compiler, isa, names, flags)
            for compiler in installed()
            for isa in TARGETS
            # What is made for this processor has the instructions of sets that extend others.
            if not missing(TARGETS[isa]) and TARGETS[isa].extends is None
            for flags in ((), FOR_THIS)
        ]
        making = [workers.submit(field_of, name, on) for name in names]
        theirs: dict[str, dict[bytes, tuple[str, Binary]]] = {}
        for compiled in compiling:
            for name, label, binary in compiled.result():
                theirs.setdefault(name, {}).setdefault(binary.image, (label, binary))
        return list(_joined(making, theirs, progress))


def _joined(
    making: Sequence[Future[Field]],
    theirs: Mapping[str, Mapping[bytes, tuple[str, Binary]]],
    progress: Callable[[str], None],
) -> Iterator[Field]:
    for field in all_made(making, progress):
        beside = theirs.get(field.name, {}).values()
        like = field.ours[0]
        yield replace(field, theirs=tuple(replace(like, maker=label, binary=binary) for label, binary in beside))


def _compiled(
    compiler: Compiler, isa: str, names: Sequence[str], flags: tuple[str, ...]
) -> list[tuple[str, str, Binary]]:
    """In another process: the compiler's functions that are called as those on single boards are."""
    made = compile_all(names, isa, using=(compiler,), flags=flags)
    return [
        (function.routine, function.label, function.binary)
        for function in made
        if function.binary is not None and not function.kind.startswith(_OTHER_CALLS)
    ]


def _rows(field: Field, prover: Prover, patience: float) -> Iterator[Row]:
    for mode in field.modes:
        row = _row(field, mode, prover, patience)
        if row is not None:
            yield row


def _row(field: Field, mode: Mode, prover: Prover, patience: float) -> Row | None:
    """None where the one that is taken has no figure."""
    everyone = {each.maker: each for each in (*field.ours, *field.theirs)}
    shortly = timed([*everyone.values()], mode, patience, **SHORTLY)
    taken, others = field.taken[OBJECTIVES[mode]], {each.maker for each in field.theirs}
    ranked = sorted(shortly, key=lambda maker: shortly[maker].cycles)
    ours = [maker for maker in ranked if maker not in {taken, *others}][:_FINALISTS]
    theirs = [*islice((maker for maker in ranked if maker in others and _right(everyone[maker], prover)), _FINALISTS)]
    final = timed([everyone[maker] for maker in (taken, *ours, *theirs)], mode, patience, **_AT_LENGTH)
    if taken not in final:
        return None
    first = [
        min((final[maker] for maker in group if maker in final), key=attrgetter("cycles"), default=None)
        for group in (ours, theirs)
    ]
    for maker in (taken, *(each.maker for each in first if each)):
        if not _right(everyone[maker], prover):
            raise ValueError(f"{field.name} by {maker} is wrong: setwise prove says how")
    return Row(field.name, mode, field.digest, final[taken], *first)


def _right(one: Subject, prover: Prover) -> bool:
    """Whether it is proved, or passes the check's cases where no proof is found."""
    kernel = lower(find(one.name), "x86-64")  # single boards are called alike for every instruction set
    return judge_binary(one.binary, kernel, prover, _PROOF).right
