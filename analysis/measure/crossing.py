"""Set-wise kernels beside tables, by the number of pieces on the board: a look-up takes as long as there are pieces."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from setwise.analysis.measure.bench import bench
from setwise.analysis.measure.compilers import FOR_SCALE
from setwise.analysis.measure.rivals import rivals_of, runs_right
from setwise.analysis.measure.subjects import Subject, subject
from setwise.analysis.measure.trials import OURS, PROCESSES, Timing
from setwise.codegen.catalogue import find
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.run.call import missing
from setwise.codegen.targets import PACKED, TARGETS

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
_SEED = 20050522
_ON_BOARD = (8, 28)  # pieces of both sides, at least and at most
_BESIDE = {"knights": 2, "kings": 1, "pawns": 8}  # a side's pieces beside its sliders, at most


@dataclass(frozen=True, slots=True)
class Point:
    """Core cycles of a call, None where the processor was too busy.

    `pieces` are on the board; 0 for code without branches, which takes as long for any number. `fingerprint` is that
    of our kernel's row in the reports.
    """

    name: str
    isa: str
    lanes: int
    maker: str
    pieces: int
    mode: str
    median: float | None
    fingerprint: str = ""


def measure(
    fingerprint: Callable[[Kernel], str],
    progress: Callable[[str], None],
    patience: float,
    routines: Sequence[str] = ROUTINES,
    processes: int = PROCESSES,
) -> list[Point]:
    """All figures; `patience` is in seconds a process and routine. Raises CompilerError, ValueError for wrong code."""
    return [point for name in routines for point in _of_routine(name, fingerprint, progress, patience, processes)]


def _of_routine(
    name: str, fingerprint: Callable[[Kernel], str], progress: Callable[[str], None], patience: float, processes: int
) -> Iterator[Point]:
    progress(f"positions and tables for {name}")
    routine = find(name)
    given = {pieces: positions([p.name for p in routine.contract.parameters], pieces) for pieces in PIECES}
    kernels = [
        lower(routine, isa, "sysv", lanes)
        for isa in PACKED
        if isa in routine.isas and not missing(TARGETS[isa])
        for lanes in TARGETS[isa].widths
        if lanes in (TARGETS[isa].widths[0], 4)
    ]
    marks = {(kernel.target.name, kernel.layout.lanes): fingerprint(kernel) for kernel in kernels}
    subjects: list[tuple[int, Subject]] = []
    for kernel, functions in zip(kernels, rivals_of(kernels, exports=False), strict=True):
        subjects.append((0, replace(subject(kernel), cases=given[_ANY])))
        for function in functions:
            if function.binary is None:
                continue
            runs_right(function, kernel, given[_ANY])
            theirs = subject(kernel, function.binary, function.label)
            numbers = PIECES if function.kind.startswith(FOR_SCALE) else (0,)
            subjects += [(pieces, replace(theirs, cases=given[pieces or _ANY])) for pieces in numbers]
    timings = iter(bench([one for _, one in subjects], patience=patience, processes=processes, report=progress))
    for pieces, one in subjects:
        for mode in one.modes:
            timing = next(timings)
            cycles = round(timing.median, 2) if isinstance(timing, Timing) else None
            mark = marks[one.isa, one.lanes] if one.maker == OURS else ""
            yield Point(one.name, one.isa, one.lanes, one.maker, pieces, mode, cycles, mark)


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
