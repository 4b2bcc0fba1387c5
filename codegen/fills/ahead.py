"""Boards rank by rank, and those that come next are put rank by rank meanwhile.

What interleaves bytes wants one unit of a processor, and other work goes to any. One after the other, units are idle,
and no processor looks so many instructions ahead that it would mend that. So they go side by side: bishops are
interleaved while rooks go along their ranks, and rooks and occupied squares of the next round while bishops go. What
is told here is the order of the code as well; few values wait in it, for rooks are done when bishops begin.

Parameters and what is given are those of `ranks`. In the last round there is no next one; then its own boards are read
again, and left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from setwise.codegen.board import FILE_A, FILE_H, NOT_A, NOT_H
from setwise.codegen.describe.control import SIGN, at_least, below, once_and_while, sequence, when
from setwise.codegen.describe.layout import Layout
from setwise.codegen.describe.matrices import LOWER_BY_ONE, RISING, RISING_BY_ONE, times
from setwise.codegen.describe.values import Value, make
from setwise.codegen.fills import ranks
from setwise.codegen.fills.ranks import REGISTERS, TO_BOARDS, TO_RANKS, Registers, evenly, interleaved, loaded, same
from setwise.codegen.targets.table import Refused

_LANES = 8  # with vectors of fewer come too few registers


class West(NamedTuple):
    """How squares of a rank go west.

    `walls` are what stops them, of occupied squares, and `leaving` those that have a step to go; `attacks` are those of
    rooks, given walls.
    """

    walls: Callable[[Value], Value]
    leaving: Callable[[Value], Value]
    attacks: Callable[[Value, Value], Value]
    step: Callable[[Value], Value]


SHIFTED = West(
    lambda occupied: occupied | (FILE_A | FILE_H),
    lambda squares: squares & NOT_A,
    lambda rooks, walls: ranks.attacks_west(rooks, walls) & NOT_H,
    lambda squares: squares >> 1,
)
"""By shifts: what stood on the A file would come to another board."""


def _mirrored_attacks(rooks: Value, occupied: Value) -> Value:
    """By subtraction in mirrored ranks."""
    return occupied ^ times(make("sub-bytes", times(occupied, RISING), times(rooks, RISING_BY_ONE)), RISING)


MIRRORED = West(same, same, _mirrored_attacks, lambda squares: times(squares, LOWER_BY_ONE))
"""By matrices of bits, which GFNI has."""


def union(west: West, layout: Layout, *parameters: Value) -> tuple[Value, ...]:
    """All squares attacked, of rooks, bishops and occupied squares."""
    return _rounds(west, same, layout, *parameters)


def union_of_empty(west: West, layout: Layout, *parameters: Value) -> tuple[Value, ...]:
    """The same, of rooks, bishops and empty squares."""
    return _rounds(west, lambda empty: ~empty, layout, *parameters)


def _rounds(west: West, occupied_of: Callable[[Value], Value], layout: Layout, *parameters: Value) -> tuple[Value, ...]:
    if layout.lanes != _LANES:
        raise Refused(f"what goes ahead takes vectors of {_LANES} lanes")
    rooks, bishops, squares, result, count = parameters
    boards = REGISTERS * layout.lanes

    def interleaving(array: Value, index: Value) -> Registers:
        return interleaved(loaded(layout, array, index), TO_RANKS)

    def round_at(index: Value, *before: Value) -> tuple[Value, ...]:
        (following,) = when(at_least(index - boards, SIGN), lambda _: (index,), index - boards)
        coming = [interleaving(array, following) for array in (rooks, squares)]
        attacks, order = _attacks(
            west,
            before[:REGISTERS],
            interleaving(bishops, index),
            tuple(map(occupied_of, before[REGISTERS:])),
            [*chain(*coming)],
        )
        writes = ranks.written(layout, result, index, interleaved(attacks, TO_BOARDS)[-REGISTERS:])
        return (index - boards, *_done(coming), sequence(following, *order), *writes)

    def all_rounds(index: Value) -> tuple[Value, ...]:
        first = _done(interleaving(array, index) for array in (rooks, squares))
        return once_and_while(lambda index, *_: below(index, SIGN), round_at, index, *first)[:1]

    (index,) = when(below(count - boards, SIGN), all_rounds, count - boards)
    return (index + boards,)


def _done(made: Iterable[Registers]) -> Registers:
    """The last registers that came of interleaving each."""
    return tuple(chain.from_iterable(each[-REGISTERS:] for each in made))


def _attacks(
    west: West, rooks: Registers, interleaving: Registers, occupied: Registers, coming: Sequence[Value]
) -> tuple[list[Value], list[Value]]:
    """What is attacked in each rank, and the order: `interleaving` goes beside rooks, `coming` beside bishops."""
    bishops, walls = interleaving[-REGISTERS:], tuple(map(west.walls, occupied))
    along = zip(rooks, occupied, walls, strict=True)
    attacked = [ranks.attacks_east(rook, stop) | west.attacks(rook, wall) for rook, stop, wall in along]
    for rank, attacks in ranks.both_ways(rooks, occupied):
        attacked[rank] |= attacks
    order = evenly(attacked, interleaving)

    leaving = tuple(map(west.leaving, bishops))
    slanted = []
    for rank, eastward, westward in ranks.slanting(bishops, occupied, ranks.both_ways(leaving, walls, west.step)):
        attacked[rank] |= eastward | westward
        slanted.append(attacked[rank])
    return attacked, [*order, *evenly(slanted, coming)]
