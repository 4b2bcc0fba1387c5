"""Boards rank by rank: a register holds one rank of many boards, a byte each, and eight registers hold the boards.

Then what goes north or south goes to another register, without shift or mask, and a step east adds bytes to
themselves. So many boards are put by interleaving bytes, and put back likewise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from setwise.codegen.board import FILE_A, FILE_H, NOT_H
from setwise.codegen.describe.values import Value, constant, make
from setwise.codegen.fills.push import twice

REGISTERS = 8
"""One a rank."""

Registers = tuple[Value, ...]
"""Boards, or their ranks from the first to the last."""

UP, DOWN = range(REGISTERS), range(REGISTERS - 1, -1, -1)
"""Orders of ranks: north and south."""


def union(*boards: Registers) -> tuple[Registers]:
    """All squares attacked, of rooks, bishops and occupied squares."""
    rooks, bishops, occupied = (_interleaved(each, 4) for each in boards)
    walls = tuple(rank | (FILE_A | FILE_H) for rank in occupied)
    east = [_attacks_east(*each) for each in zip(rooks, occupied, strict=True)]
    west = [_attacks_west(*each) for each in zip(rooks, walls, strict=True)]
    for order in (UP, DOWN):
        for rank, attacks in _floods(order, rooks, occupied, lambda ahead: ahead):
            east[rank] |= attacks
        for rank, attacks in _floods(order, bishops, occupied, twice):
            east[rank] |= attacks
        for rank, attacks in _floods(order, bishops, walls, lambda ahead: ahead >> 1):
            west[rank] |= attacks
    return (_interleaved((e | w & NOT_H for e, w in zip(east, west, strict=True)), 3),)


def union_of_empty(rooks: Registers, bishops: Registers, empty: Registers) -> tuple[Registers]:
    """The same, of rooks, bishops and empty squares."""
    return union(rooks, bishops, tuple(~register for register in empty))


def _interleaved(registers: Iterable[Value], times: int) -> Registers:
    """Bytes in other places: the bits of each one's number, that of its register in front, rotate left so often.

    In a part of 16 bytes a number has seven bits: three for the register, one for the board, three for the rank. Four
    times make ranks of boards, three times more make boards of ranks.
    """
    interleaved = tuple(registers)
    for _ in range(times):
        pairs = zip(interleaved[:4], interleaved[4:], strict=True)
        interleaved = tuple(make(op, *pair) for pair in pairs for op in ("interleave", "interleave-high"))
    return interleaved


def _floods(
    order: Iterable[int], sliders: Registers, blockers: Registers, move: Callable[[Value], Value]
) -> Iterable[tuple[int, Value]]:
    """Rank by rank in this order what is attacked from the ranks before, which `move` so from one to the next."""
    attacks = constant(0)
    for rank in order:
        yield rank, attacks
        attacks = move(sliders[rank] | ~blockers[rank] & attacks)


def _attacks_east(rooks: Value, occupied: Value) -> Value:
    """By subtraction."""
    return occupied ^ make("sub-bytes", occupied, twice(rooks))


def _attacks_west(rooks: Value, walls: Value) -> Value:
    """By growing walls, beside squares of the H file that belong to the next rank."""
    west = rooks >> 1
    for squares in (1, 2, 3):
        west |= (~walls & west) >> squares
        walls |= twice(walls)
    return west
