"""Boards rank by rank: a register holds one rank of many boards, a byte each, and eight registers hold the boards.

Then what goes north or south goes to another register, without shift or mask, and a step east adds bytes to
themselves. So many boards are put by interleaving bytes, and put back likewise.

Descriptions here are of a first stage on arrays: their parameters are the arrays' addresses, that of the result, and n,
and what they give is how many boards are left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import NamedTuple

from setwise.codegen.board import FILE_A, FILE_H, NOT_A, NOT_H
from setwise.codegen.fills.batch import down
from setwise.codegen.fills.push import twice
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.matrices import LOWER_BY_ONE, RISING, RISING_BY_ONE, times
from setwise.codegen.ir.values import Value, load, make, store

REGISTERS = 8
"""One a rank."""

Registers = tuple[Value, ...]
"""Boards, or their ranks from the first to the last."""

UP, DOWN = range(REGISTERS), range(REGISTERS - 1, -1, -1)
"""Orders of ranks: north and south."""

TO_RANKS, TO_BOARDS = 4, 3
"""How often the bytes of eight registers of boards are interleaved until they are ranks, and then till boards again."""


class West(NamedTuple):
    """Westward attacks within ranks: of rooks, and of bishops by a step to the next rank.

    `walls` are occupied squares with those that stop a shift, and `leaving` the bishops that have a step to go.
    """

    walls: Callable[[Value], Value]
    leaving: Callable[[Value], Value]
    attacks: Callable[[Value, Value], Value]
    step: Callable[[Value], Value]


def union(west: West, layout: Layout, *parameters: Value) -> tuple[Value, ...]:
    """All squares attacked, of rooks, bishops and occupied squares."""
    return _rank_by_rank(partial(_union, west), layout, *parameters)


def union_of_empty(west: West, layout: Layout, *parameters: Value) -> tuple[Value, ...]:
    """The same, of rooks, bishops and empty squares."""

    def of_empty(rooks: Registers, bishops: Registers, empty: Registers) -> Registers:
        return _union(west, rooks, bishops, tuple(~register for register in empty))

    return _rank_by_rank(of_empty, layout, *parameters)


def _rank_by_rank(describe: Callable[..., Registers], layout: Layout, *parameters: Value) -> tuple[Value, ...]:
    """What describes eight registers of boards, over all that are as many."""
    *arrays, result, count = parameters
    boards = REGISTERS * layout.lanes

    def writes_at(index: Value) -> list[Value]:
        made = describe(*(loaded(layout, array, index) for array in arrays))
        return written(layout, result, index, made)

    return (down(writes_at, boards, count - boards) + boards,)


def loaded(layout: Layout, array: Value, index: Value) -> Registers:
    """Eight registers of boards, from an index on."""
    return tuple(load(array, index + rank * layout.lanes, layout.lanes) for rank in UP)


def written(layout: Layout, array: Value, index: Value, boards: Registers) -> list[Value]:
    """What writes them, from an index on."""
    return [store(array, index + at * layout.lanes, register) for at, register in enumerate(boards)]


def _union(west: West, rooks: Registers, bishops: Registers, occupied: Registers) -> Registers:
    occupied, rooks, bishops = (interleaved(each, TO_RANKS) for each in (occupied, rooks, bishops))
    walls = tuple(map(west.walls, occupied))
    attacked = [attacks_east(*each) for each in zip(rooks, occupied, strict=True)]
    to_west = [west.attacks(*each) for each in zip(rooks, walls, strict=True)]
    for rank, attacks in (*both_ways(rooks, occupied), *both_ways(bishops, occupied, twice)):
        attacked[rank] |= attacks
    for rank, attacks in both_ways(tuple(map(west.leaving, bishops)), walls, west.step):
        to_west[rank] |= attacks
    return interleaved((e | w for e, w in zip(attacked, to_west, strict=True)), TO_BOARDS)


def interleaved(registers: Iterable[Value], times: int) -> Registers:
    """Bytes in other places: the bits of each one's number, that of its register in front, rotate left so often.

    In a part of 16 bytes a number has seven bits: three for the register, one for the board, three for the rank.
    """
    made = tuple(registers)
    for _ in range(times):
        pairs = zip(made[:4], made[4:], strict=True)
        made = tuple(make(op, *pair) for pair in pairs for op in ("interleave", "interleave-high"))
    return made


def same(squares: Value) -> Value:
    """They go to the next rank on their files."""
    return squares


def both_ways(
    sliders: Registers, blockers: Registers, move: Callable[[Value], Value] = same
) -> Iterator[tuple[int, Value]]:
    """What is attacked in a rank from those behind it, north and south by turns; `move` is to the next rank."""
    return chain.from_iterable(zip(*(_flood(order, sliders, blockers, move) for order in (UP, DOWN)), strict=True))


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


SHIFTED = West(
    lambda occupied: occupied | (FILE_A | FILE_H),
    lambda squares: squares & NOT_A,
    lambda rooks, walls: attacks_west(rooks, walls) & NOT_H,
    lambda squares: squares >> 1,
)
"""By shifts: what stood on the A file would come to another board."""


def _mirrored_attacks(rooks: Value, occupied: Value) -> Value:
    """By subtraction in mirrored ranks."""
    return occupied ^ times(make("sub-bytes", times(occupied, RISING), times(rooks, RISING_BY_ONE)), RISING)


MIRRORED = West(same, same, _mirrored_attacks, lambda squares: times(squares, LOWER_BY_ONE))
"""By matrices of bits, which GFNI has."""
