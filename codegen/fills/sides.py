"""All that a side attacks: leapers join the sliders' rays, so that lanes are folded once for all.

King and pawns ride along: what a ray steps on from last is united with them, a direction a lane. Occupied squares are
given apart, so that a piece may be left out of them: a king that flees along a ray does not shield the squares behind
it. Source: setwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from setwise.codegen.board import DIR8, Direction
from setwise.codegen.fills import leapers, push, sliders
from setwise.codegen.fills.sliders import AROUND, IN_TURNS, Board, Form
from setwise.codegen.ir.layout import Layout, by_width, halves, united_beside
from setwise.codegen.ir.layout import union as union_of
from setwise.codegen.ir.values import CompassRay, Value, constant

FORMS: tuple[Form, ...] = (sliders.by_axes(push.push_of_two), sliders.ALONE)
"""Those of the sliders of which some instruction set has the shortest code."""

NONE = constant(0)

Tally = tuple[Value, Value]
"""Squares attacked, and those attacked twice or more."""


@dataclass(frozen=True, slots=True)
class Side:
    """A side's pieces by kind, none where a kind is not given; `form` is how sliders go, `color` how pawns capture."""

    form: Form
    color: str
    board: Board
    rooks: Value
    bishops: Value
    queens: Value = NONE
    knights: Value = NONE
    kings: Value = NONE
    pawns: Value = NONE

    @property
    def layout(self) -> Layout:
        """The board's."""
        return self.board.layout

    def along(self, order: Sequence[Direction] = AROUND) -> list[Value]:
        """Squares attacked along each ray, king and pawns riding."""
        rays = self.form(self.board, order, self.rooks, self.bishops)
        return [attacks | ray.step(self._riders(ray)) for ray, attacks in rays]

    def _riders(self, ray: CompassRay) -> Value:
        """What steps along a ray, in each lane: kings, and pawns where they capture."""
        ways = leapers.CAPTURES.get(self.color, ())
        return self.layout.joined(ray, self.kings, self.pawns, ways)

    def jumps(self) -> list[Value]:
        """Squares that knights attack, in lanes where there are some."""
        if not self.layout.abreast:
            return [leapers.knights(self.knights)]
        return [*leapers.leaps(self.layout, self.knights, leapers.JUMPS)]


def described(
    whole: Callable[[Side], tuple[Value, ...]],
    form: Form,
    color: str,
    names: Sequence[str],
    layout: Layout,
    *values: Value,
) -> tuple[Value, ...]:
    """One of the routines below by a form; parameters are boards of these kinds of pieces, then occupied squares."""
    occupied = values[len(names)]
    pieces = dict(zip(names, values, strict=False))
    form = sliders.fitting(form, layout, FORMS[0])
    return whole(Side(form, color, Board(layout, ~occupied, occupied), **pieces))


def union(side: Side, order: Sequence[Direction] = AROUND) -> tuple[Value, ...]:
    """All squares attacked; in a general register kings go by halves."""
    if side.layout.abreast:
        return (side.layout.union((*side.along(order), *side.jumps())),)
    riding = replace(side, kings=NONE)
    return (side.layout.union((*riding.along(order), leapers.kings(side.kings), *side.jumps())),)


def pieces(side: Side) -> tuple[Value, ...]:
    """Squares that each kind of pieces attacks: rooks, bishops, queens, knights, kings, pawns."""
    slid = sliders.pieces(side.form, side.board, side.rooks, side.bishops, side.queens)
    pawns = leapers.pawns(side.color)(side.pawns)
    if not side.layout.abreast:
        return (*slid, leapers.knights(side.knights), leapers.kings(side.kings), pawns)
    steps = leapers.leaps(side.layout, side.kings, DIR8)
    return (*slid, united_beside(union_of(side.jumps()), union_of(steps)), pawns)


def nested(side: Side) -> tuple[Value, ...]:
    """Squares that pawns attack; pawns and minor pieces; those and rooks; all pieces."""
    pair = sliders.pair(side.form, side.board, side.rooks, side.bishops)
    orthogonal, diagonal = pair if len(pair) == 2 else halves(pair[0])
    by_pawns = leapers.pawns(side.color)(side.pawns)
    by_minors = by_pawns | diagonal | side.layout.union(side.jumps())
    by_rooks = by_minors | orthogonal
    royal = replace(side, rooks=side.queens, bishops=side.queens, knights=NONE, pawns=NONE)
    (by_royal,) = union(royal, IN_TURNS if side.layout.abreast else AROUND)
    return by_pawns, by_minors, by_rooks, by_rooks | by_royal


def twice(side: Side) -> tuple[Value, ...]:
    """All squares attacked, and those attacked from two directions, by two jumps or by both, or more."""
    rays = side.along()
    alike = replace(side.layout, lanes=rays[0].lanes)
    groups = by_width((*rays, *leapers.leaps(alike, side.knights, leapers.JUMPS)))
    tallies = (reduce(_together, ((attacks, constant(0, attacks.lanes)) for attacks in group)) for group in groups)
    return reduce(_together, (_folded(side.layout, tally) for tally in tallies))


def _together(some: Tally, others: Tally) -> Tally:
    again = some[1] | others[1] | some[0] & others[0]
    return some[0] | others[0], again


def _folded(layout: Layout, tally: Tally) -> Tally:
    while tally[0].lanes > 1:
        (low, high), (low_again, high_again) = map(layout.halves, tally)
        tally = _together((low, low_again), (high, high_again))
    return tally
