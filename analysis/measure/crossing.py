"""Set-wise kernels beside tables, by the number of pieces on the board: a look-up takes as long as there are pieces."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from setwise.analysis.code.kernel import binary_of
from setwise.analysis.cost.processors.table import Processor
from setwise.analysis.measure.bench import bench
from setwise.analysis.measure.compilers import FOR_SCALE
from setwise.analysis.measure.kept import Kept
from setwise.analysis.measure.objective import WAYS, kernel_for
from setwise.analysis.measure.rivals import rivals_of, runs_right
from setwise.analysis.measure.subjects import Subject, subject
from setwise.analysis.measure.trials import OURS, PROCESSES, Refusal, Timing
from setwise.codegen.catalogue import find
from setwise.codegen.describe.routine import Contract, Routine
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.run.call import missing
from setwise.codegen.run.timer import MODES
from setwise.codegen.targets import ALL_SETS, TARGETS

PIECES = range(1, 11)
"""Sliders on the board; knights or kings where a routine has no sliders."""
ROUTINES = (
    *("sliders.union", "sliders.pair", "sliders.pieces", "sliders.sides", "side.union-knights"),
    *(f"side.{maps}.white" for maps in ("union", "pieces", "nested", "twice")),
    *("leapers.knights", "leapers.kings"),
    *(f"leapers.{moves}.white" for moves in ("pawns", "pushes", "double-pushes")),
)
_ANY = 5  # pieces for code that takes as long for any number
_POSITIONS = 1 << 14
_FEW = 1 << 10  # positions for a look whether code is right
_DIGITS = 16
_WANTED = 12  # blocks of a process
_AGREE = 0.25  # tables lie otherwise in a core's caches in each process, and a predictor of branches learns otherwise
_SEED = 20050522
_ON_BOARD = (8, 28)  # pieces of both sides, at least and at most
_BESIDE = {"knights": 2, "kings": 1, "pawns": 8}  # a side's pieces beside its sliders, at most


@dataclass(frozen=True, slots=True)
class Point:
    """Core cycles of a call, None where the processor was too busy.

    `pieces` are on the board; 0 for code without branches, which takes as long for any number. `fingerprint` is of the
    code: our kernel's in the reports, or of a compiler's bytes. `spread` is how far the processes' medians lie apart,
    as a part of the median.
    """

    name: str
    isa: str
    lanes: int
    maker: str
    pieces: int
    mode: str
    median: float | None
    fingerprint: str = ""
    spread: float = 0.0


@dataclass(frozen=True, slots=True)
class Entrant:
    """Code that is timed on boards with so many pieces, 0 for any number, and what tells it from other code."""

    pieces: int
    subject: Subject
    fingerprint: str

    def point(self, mode: str, timing: Timing | Refusal | None = None) -> Point:
        """What was measured of it."""
        one = self.subject
        point = Point(one.name, one.isa, one.lanes, one.maker, self.pieces, mode, None, self.fingerprint)
        if isinstance(timing, Timing):
            return replace(point, median=round(timing.median, 2), spread=round(timing.spread, 3))
        return point


def measure(
    fingerprint: Callable[[Kernel], str],
    on: Processor | None,
    before: Sequence[Point],
    keep: Callable[[Sequence[Point]], None],
    progress: Callable[[str], None],
    patience: float,
    routines: Sequence[str] = ROUTINES,
    processes: int = PROCESSES,
) -> list[Point]:
    """All figures; those of `before` stay where a routine's code, ours and the compilers', is the same.

    Where there is a table of this processor, `on`, ours are also what it forecasts to be best for each way to call.
    `keep` is given all of them whenever a routine's are made; `patience` is in seconds a process and routine. Raises
    CompilerError, ValueError for wrong code.
    """
    kept = Kept(routines, before, keep)
    for number, name in enumerate(routines, 1):
        progress(f"{number}/{len(routines)} {name}")
        entrants = list(_entrants(name, fingerprint, on))
        wanted = [each.point(mode) for each in entrants for mode in each.subject.modes]
        if [replace(point, median=None, spread=0.0) for point in kept[name]] != wanted:
            kept[name] = _points(entrants, progress, patience, processes)
    return kept.rows


def _entrants(name: str, fingerprint: Callable[[Kernel], str], on: Processor | None) -> Iterator[Entrant]:
    """Our kernels that differ, what is best for speed, and what compilers make for each, with the first few boards."""
    routine = find(name)
    few = {pieces: positions(_names(routine.contract), pieces, number=_FEW) for pieces in PIECES}
    kernels = _kernels(routine)
    for kernel, functions in zip(kernels, rivals_of(kernels, exports=False), strict=True):
        yield Entrant(0, replace(subject(kernel), cases=few[_ANY]), fingerprint(kernel))
        for function in functions:
            if function.binary is None:
                continue
            runs_right(function, kernel, few[_ANY])
            theirs = subject(kernel, function.binary, function.label)
            digest = function.binary.image_sha256[:_DIGITS]
            for pieces in PIECES if function.kind.startswith(FOR_SCALE) else (0,):
                yield Entrant(pieces, replace(theirs, cases=few[pieces or _ANY]), digest)
    if on is None:
        return
    for isa in dict.fromkeys(kernel.target.name for kernel in kernels):
        known = {binary_of(kernel).image for kernel in kernels}
        for objective in WAYS:
            kernel = kernel_for(objective, on, routine, isa)
            ours = subject(kernel, maker=f"{OURS} {kernel.variant}")
            if kernel.variant and ours.binary.image not in known:
                known.add(ours.binary.image)
                yield Entrant(0, replace(ours, cases=few[_ANY]), ours.binary.image_sha256[:_DIGITS])


def _kernels(routine: Routine) -> list[Kernel]:
    """The usual kernels, and those with four lanes, of the sets that this processor has and that add to others."""
    kernels = [
        lower(routine, isa, "sysv", lanes)
        for isa in ALL_SETS
        if isa in routine.isas and not missing(TARGETS[isa])
        for lanes in TARGETS[isa].widths
        if lanes in (TARGETS[isa].widths[0], 4)
    ]
    images = {(kernel.target.name, kernel.layout.lanes): binary_of(kernel).image for kernel in kernels}
    older = {isa: extended.name for isa, target in TARGETS.items() if (extended := target.extends)}
    return [
        kernel
        for kernel in kernels
        if images.get((older.get(kernel.target.name, ""), kernel.layout.lanes)) != binary_of(kernel).image
    ]


def _points(
    entrants: Sequence[Entrant], progress: Callable[[str], None], patience: float, processes: int
) -> Iterator[Point]:
    names = _names(entrants[0].subject.contract)
    boards = {pieces: positions(names, pieces) for pieces in PIECES}
    subjects = [replace(each.subject, cases=boards[each.pieces or _ANY]) for each in entrants]
    timings = iter(bench(subjects, MODES, patience, processes, progress, _WANTED, _AGREE))
    for each in entrants:
        for mode in each.subject.modes:
            yield each.point(mode, next(timings))


def _names(contract: Contract) -> list[str]:
    return [parameter.name for parameter in contract.parameters]


def positions(names: Sequence[str], pieces: int, number: int = _POSITIONS) -> tuple[tuple[int, ...], ...]:
    """Positions with so many sliders, as words for parameters of these names, the results' left out.

    The first has rook, bishop, queen, rook, bishop and so on, what else a side has in full, and is the same whatever
    comes after. In the others each slider is one of these five by chance. The sliders of two sides take turns.
    """
    draw = random.Random(_SEED)
    return tuple(_position(names, _men(names, pieces, draw if at else None), draw) for at in range(number))


Man = tuple[str, ...]
"""The boards that a piece stands on."""


def _men(names: Sequence[str], pieces: int, draw: random.Random | None) -> list[Man]:
    """One's own pieces."""
    sides = [side for side in ("", "white_", "black_") if f"{side}rooks" in names]
    if not sides:
        return [(names[0],)] * pieces
    queen = ("queens",) if "queens" in names else ("rooks", "bishops")
    kinds = (("rooks",), ("bishops",), queen, ("rooks",), ("bishops",))
    men: list[Man] = []
    for at in range(pieces):
        kind = draw.choice(kinds) if draw else kinds[at // len(sides) % len(kinds)]
        men.append(tuple(sides[at % len(sides)] + board for board in kind))
    for name, most in _BESIDE.items():
        if name in names:
            men += [(name,)] * (draw.randint(min(most, 1), most) if draw else most)
    return men


def _position(names: Sequence[str], men: Sequence[Man], draw: random.Random) -> tuple[int, ...]:
    """These men and others' on squares of their own."""
    squares = draw.sample(range(64), max(len(men), draw.randint(*_ON_BOARD)))
    occupied = sum(1 << square for square in squares)
    words = dict.fromkeys(names, 0) | {"occupied": occupied, "empty": ~occupied & (1 << 64) - 1}
    for square, man in zip(squares, men, strict=False):
        for board in man:
            words[board] |= 1 << square
    return tuple(words[name] for name in names if name != "results")
