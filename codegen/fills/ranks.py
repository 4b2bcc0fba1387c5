"""Attacks rank by rank: a register holds one rank of many boards, one byte per board; eight registers hold all ranks.

A step north or south then only changes the register, without shift or mask. A step east adds bytes to themselves.
Interleaving bytes transposes boards to ranks, and ranks to boards.

Descriptions here are first stages of routines over arrays. Their parameters are the addresses of the arrays and of the
result, and n. They store results for full groups, from the last board down, and return the number of boards left.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import NamedTuple

from setwise.codegen.board import EAST, FILE_A, FILE_H, NOT_A, NOT_H, WEST
from setwise.codegen.fills.batch import down
from setwise.codegen.fills.push import twice
from setwise.codegen.fills.turned import of_boards
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.matrices import LOWER_BY_ONE, times
from setwise.codegen.ir.values import Value, load, make, store

REGISTERS = 8
"""The number of registers, one per rank."""

Registers = tuple[Value, ...]
"""Eight registers of boards, or of ranks from the first to the last."""

UP, DOWN = range(REGISTERS), range(REGISTERS - 1, -1, -1)
"""The orders of ranks for northward and southward floods."""

TO_RANKS, TO_BOARDS = 4, 3
"""The numbers of interleaving stages from boards to ranks, and from ranks to boards."""


class West(NamedTuple):
    """Functions for westward attacks within ranks, and for westward steps.

    `walls` maps the occupied squares to them and any others that must stop `attacks` or `step`. `leaving` drops the
    bishops on the A file, unless `step` does. `attacks` maps rooks and walls to attacks. `step` goes one file west.
    """

    walls: Callable[[Value], Value]
    leaving: Callable[[Value], Value]
    attacks: Callable[[Value, Value], Value]
    step: Callable[[Value], Value]


def union(west: West, layout: Layout, *parameters: Value) -> tuple[Value, ...]:
    """Store all attacked squares by a loop over full groups, given arrays of rooks, bishops and occupied squares."""
    return _rank_by_rank(partial(_union, west), layout, *parameters)


def union_of_empty(west: West, layout: Layout, *parameters: Value) -> tuple[Value, ...]:
    """Store all attacked squares by a loop over full groups, given arrays of rooks, bishops and empty squares."""

    def of_empty(rooks: Registers, bishops: Registers, empty: Registers) -> Registers:
        return _union(west, rooks, bishops, tuple(~register for register in empty))

    return _rank_by_rank(of_empty, layout, *parameters)


def _rank_by_rank(describe: Callable[..., Registers], layout: Layout, *parameters: Value) -> tuple[Value, ...]:
    """Run a function of eight registers per array over all full groups of boards. Return the number of boards left."""
    *arrays, result, count = parameters
    boards = REGISTERS * layout.lanes

    def writes_at(index: Value) -> list[Value]:
        made = describe(*(loaded(layout, array, index) for array in arrays))
        return written(layout, result, index, made)

    return (down(writes_at, boards, count - boards) + boards,)


def loaded(layout: Layout, array: Value, index: Value) -> Registers:
    """Return eight registers of boards, loaded from index `index` of an array on."""
    return tuple(load(array, index + rank * layout.lanes, layout.lanes) for rank in UP)


def written(layout: Layout, array: Value, index: Value, boards: Registers) -> list[Value]:
    """Return the stores of eight registers of boards to an array from index `index` on."""
    return [store(array, index + at * layout.lanes, register) for at, register in enumerate(boards)]


def _union(west: West, rooks: Registers, bishops: Registers, occupied: Registers) -> Registers:
    occupied, rooks, bishops = (interleaved(each, TO_RANKS) for each in (occupied, rooks, bishops))
    walls = tuple(map(west.walls, occupied))
    attacked = [of_boards(EAST, *each) for each in zip(rooks, occupied, strict=True)]
    to_west = [west.attacks(*each) for each in zip(rooks, walls, strict=True)]
    for rank, attacks in (*both_ways(rooks, occupied), *both_ways(bishops, occupied, twice)):
        attacked[rank] |= attacks
    for rank, attacks in both_ways(tuple(map(west.leaving, bishops)), walls, west.step):
        to_west[rank] |= attacks
    return interleaved((e | w for e, w in zip(attacked, to_west, strict=True)), TO_BOARDS)


def interleaved(registers: Iterable[Value], times: int) -> Registers:
    """Interleave the bytes of eight registers `times` times.

    In one 128-bit part of all registers, seven bits number a byte: three for the register, one for the board, three for
    the rank. Each interleaving rotates these bits left by one.
    """
    made = tuple(registers)
    for _ in range(times):
        pairs = zip(made[:4], made[4:], strict=True)
        made = tuple(make(op, *pair) for pair in pairs for op in ("interleave", "interleave-high"))
    return made


def same(squares: Value) -> Value:
    """Return the squares unchanged: rooks keep their file from rank to rank."""
    return squares


def both_ways(
    sliders: Registers, blockers: Registers, move: Callable[[Value], Value] = same
) -> Iterator[tuple[int, Value]]:
    """Yield the number of a rank and the squares attacked in it from the ranks before, northward and southward in turn.

    `move` maps squares of one rank to those that they reach on the next.
    """
    return chain.from_iterable(zip(*(_flood(order, sliders, blockers, move) for order in (UP, DOWN)), strict=True))


def _flood(
    order: Iterable[int], sliders: Registers, blockers: Registers, move: Callable[[Value], Value]
) -> Iterator[tuple[int, Value]]:
    """Yield the number of each rank in this order and the attacks in it, without the first rank, which has none."""
    first, *others = order
    attacks = move(sliders[first])
    for rank in others:
        yield rank, attacks
        attacks = move(sliders[rank] | ~blockers[rank] & attacks)


def attacks_west(rooks: Value, walls: Value) -> Value:
    """Return westward attacks by parallel prefix. Rooks on the A file set stray bits on another board's H file."""
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
"""Westward attacks by shifts. Bits that leave the A file would enter another board and are masked."""


MIRRORED = West(same, same, partial(of_boards, WEST), lambda squares: times(squares, LOWER_BY_ONE))
"""Westward attacks by bit matrices (GFNI)."""
