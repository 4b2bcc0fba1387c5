"""Boards rank by rank: a register holds one rank of many boards, a byte each, and eight registers hold the boards.

Then what goes north or south goes to another register, without shift or mask, and a step east adds bytes to
themselves. So many boards are put by interleaving bytes, and put back likewise.

Most of the work is steps of which each waits for the one before. So it is told in which order they go: side by side
with others that they need not wait for.

Descriptions here are of a first stage on arrays: their parameters are the arrays' addresses, that of the result, and n,
and what they give is how many boards are left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from operator import itemgetter

from setwise.codegen.board import FILE_A, FILE_H, NOT_H
from setwise.codegen.describe.control import sequence
from setwise.codegen.describe.layout import Layout
from setwise.codegen.describe.values import Value, load, make, store
from setwise.codegen.fills.batch import down
from setwise.codegen.fills.push import twice

REGISTERS = 8
"""One a rank."""

Registers = tuple[Value, ...]
"""Boards, or their ranks from the first to the last."""

Told = tuple[Registers, list[Value]]
"""Boards, and the order in which what they are made of is made."""

UP, DOWN = range(REGISTERS), range(REGISTERS - 1, -1, -1)
"""Orders of ranks: north and south."""

TO_RANKS, TO_BOARDS = 4, 3
"""How often the bytes of eight registers of boards are interleaved until they are ranks, and then till boards again."""


def union(layout: Layout, *parameters: Value) -> tuple[Value, ...]:
    """All squares attacked, of rooks, bishops and occupied squares."""
    return _rank_by_rank(_union, layout, *parameters)


def union_of_empty(layout: Layout, *parameters: Value) -> tuple[Value, ...]:
    """The same, of rooks, bishops and empty squares."""

    def of_empty(rooks: Registers, bishops: Registers, empty: Registers) -> Told:
        return _union(rooks, bishops, tuple(~register for register in empty))

    return _rank_by_rank(of_empty, layout, *parameters)


def _rank_by_rank(describe: Callable[..., Told], layout: Layout, *parameters: Value) -> tuple[Value, ...]:
    """What describes eight registers of boards, over all that are as many."""
    *arrays, result, count = parameters
    boards = REGISTERS * layout.lanes

    def writes_at(index: Value) -> list[Value]:
        made, order = describe(*(loaded(layout, array, index) for array in arrays))
        return [sequence(index, *order), *written(layout, result, index, made)]

    return (down(writes_at, boards, count - boards) + boards,)


def loaded(layout: Layout, array: Value, index: Value) -> Registers:
    """Eight registers of boards, from an index on."""
    return tuple(load(array, index + rank * layout.lanes, layout.lanes) for rank in UP)


def written(layout: Layout, array: Value, index: Value, boards: Registers) -> list[Value]:
    """What writes them, from an index on."""
    return [store(array, index + at * layout.lanes, register) for at, register in enumerate(boards)]


def _union(rooks: Registers, bishops: Registers, occupied: Registers) -> Told:
    put = [interleaved(each, TO_RANKS) for each in (occupied, rooks, bishops)]
    occupied, rooks, bishops = (each[-REGISTERS:] for each in put)
    walls = tuple(rank | (FILE_A | FILE_H) for rank in occupied)
    east = [attacks_east(*each) for each in zip(rooks, occupied, strict=True)]
    west = [attacks_west(*each) for each in zip(rooks, walls, strict=True)]
    along = [*chain(*zip(east, west, strict=True))]
    upright = []
    for rank, attacks in both_ways(rooks, occupied):
        east[rank] |= attacks
        upright.append(attacks)
    steps = [*slanting(bishops, occupied, both_ways(bishops, walls, lambda ahead: ahead >> 1))]
    last = {rank: at for at, (rank, *_) in enumerate(steps)}
    slanted: list[Value] = []
    for at, (rank, eastward, westward) in enumerate(steps):
        east[rank] |= eastward
        west[rank] |= westward
        slanted += eastward, westward
        if at == last[rank]:  # joined any earlier, they would take registers
            slanted += east[rank], west[rank]
    attacked = (e | w & NOT_H for e, w in zip(east, west, strict=True))
    return interleaved(attacked, TO_BOARDS)[-REGISTERS:], [*chain(*put), *evenly(along, upright, slanted)]


def evenly(*works: Sequence[Value]) -> list[Value]:
    """The values of several works side by side: each work's are evenly spread."""
    placed = [
        ((at + 0.5) / len(work), number, value) for number, work in enumerate(works) for at, value in enumerate(work)
    ]
    return [value for *_, value in sorted(placed, key=itemgetter(0, 1))]


def interleaved(registers: Iterable[Value], times: int) -> Registers:
    """Bytes in other places: the bits of each one's number, that of its register in front, rotate left so often.

    In a part of 16 bytes a number has seven bits: three for the register, one for the board, three for the rank. What
    comes of each time is given, the last at the end.
    """
    made = tuple(registers)
    for _ in range(times):
        pairs = zip(made[-REGISTERS:-4], made[-4:], strict=True)
        made += tuple(make(op, *pair) for pair in pairs for op in ("interleave", "interleave-high"))
    return made[REGISTERS:]


def same(squares: Value) -> Value:
    """They go to the next rank on their files."""
    return squares


def both_ways(
    sliders: Registers, blockers: Registers, move: Callable[[Value], Value] = same
) -> Iterator[tuple[int, Value]]:
    """What is attacked in a rank from those behind it, north and south by turns; `move` is to the next rank."""
    return chain.from_iterable(zip(*(_flood(order, sliders, blockers, move) for order in (UP, DOWN)), strict=True))


def slanting(
    bishops: Registers, occupied: Registers, to_west: Iterable[tuple[int, Value]]
) -> Iterator[tuple[int, Value, Value]]:
    """The same of bishops: a rank, what is attacked there eastward and, as is given, westward."""
    to_east = both_ways(bishops, occupied, twice)
    return ((rank, eastward, westward) for (rank, eastward), (_, westward) in zip(to_east, to_west, strict=True))


def _flood(
    order: Iterable[int], sliders: Registers, blockers: Registers, move: Callable[[Value], Value]
) -> Iterator[tuple[int, Value]]:
    """Rank by rank in this order, but the first, in which nothing is attacked."""
    first, *others = order
    attacks = move(sliders[first])
    for rank in others:
        yield rank, attacks
        attacks = move(sliders[rank] | ~blockers[rank] & attacks)


def attacks_east(rooks: Value, occupied: Value) -> Value:
    """By subtraction."""
    return occupied ^ make("sub-bytes", occupied, twice(rooks))


def attacks_west(rooks: Value, walls: Value) -> Value:
    """By parallel prefix, beside squares of the H file that belong to the next rank."""
    west = rooks
    for squares in (1, 2, 4):
        west |= ~walls & west >> squares
        walls |= walls >> squares
    return west >> 1
