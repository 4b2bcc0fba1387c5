"""All attacks of a side. If results permit, leapers are united with sliders before the lanes are reduced.

In `along`, kings and pawns take one step along the rays of the sliders, in the lanes of their directions. The occupied
squares are a separate parameter, so that a piece may be left out: a king that moves away along a ray must not shield
the squares behind it. Source: setwise.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import or_

from setwise.codegen.board import BISHOP, DIR8, EAST, NOEA, NORT, NOWE, ROOK, SOEA, SOUT, SOWE, WEST, Direction
from setwise.codegen.fills import leapers, push, sliders
from setwise.codegen.fills.sliders import ALTERNATING, ROOKS_FIRST, Board, Form
from setwise.codegen.ir.layout import Layout, folded, halves, united_pair
from setwise.codegen.ir.layout import union as union_of
from setwise.codegen.ir.values import CompassRay, Value, constant

FORMS: tuple[Form, ...] = (sliders.by_axes(push.push_of_two), sliders.ALONE)
"""The forms of the sliders that give the shortest code on some instruction set."""

NONE = constant(0)

DIAGONAL_FIRST = (NOEA, NORT, NOWE, EAST, SOWE, SOUT, SOEA, WEST)
"""All directions, alternating between bishop and rook directions."""


@dataclass(frozen=True, slots=True)
class Side:
    """A side's pieces by kind, NONE if a kind is not given.

    `form` computes the sliders' attacks. `color` is the color of the pawns, "" without pawns, or a value: 0 for White,
    1 for Black.
    """

    form: Form
    color: str | Value
    board: Board
    rooks: Value
    bishops: Value
    queens: Value = NONE
    knights: Value = NONE
    kings: Value = NONE
    pawns: Value = NONE

    @property
    def layout(self) -> Layout:
        """The layout of the values."""
        return self.board.layout

    def along(self, order: Sequence[Direction] = ROOKS_FIRST) -> list[Value]:
        """Return for each ray that `form` makes of the directions the attacks along it by sliders, kings and pawns."""
        rays = self.form(self.board, order, self.rooks, self.bishops)
        return [attacks | self._walked(ray) for ray, attacks in rays]

    def _walked(self, ray: CompassRay) -> Value:
        """Return the squares that kings and pawns attack along a ray."""
        if isinstance(self.color, str):
            return ray.step(self.layout.joined(ray, self.kings, self.pawns, leapers.CAPTURES.get(self.color, ())))
        white, black = self.pawns & (self.color - 1), self.pawns & -self.color
        walkers = self.layout.joined(ray, self.kings, white, leapers.CAPTURES["white"])
        return ray.step(walkers | self.layout.joined(ray, NONE, black, leapers.CAPTURES["black"]))

    def jumps(self, order: Sequence[Direction] = ROOKS_FIRST) -> list[Value]:
        """Return values that unite to the squares that knights attack, one direction per lane if all rays use lanes.

        Eight lanes are for unions with rays in this order.
        """
        if not self.layout.all_in_lanes:
            return [leapers.knights(self.knights)]
        jumps = [leapers.JUMP_BESIDE[way] for way in order] if self.layout.lanes == 8 else leapers.JUMPS
        return [*leapers.leaps(self.layout, self.knights, jumps)]


def side_of(layout: Layout, color: str | Value, occupied: Value, *, form: Form | None = None, **pieces: Value) -> Side:
    """Return a side, given its pieces by kind. Without a form it is the one that suits most instruction sets."""
    form = form or (sliders.ALONE if layout.both_sides else FORMS[0])
    empty = ~occupied
    return Side(sliders.fitting(form, layout, FORMS[0]), color, Board(layout, empty, occupied), **pieces)


def described(
    whole: Callable[[Side], tuple[Value, ...]],
    form: Form,
    color: str,
    names: Sequence[str],
    layout: Layout,
    *values: Value,
) -> tuple[Value, ...]:
    """Return the results of `whole`, one of the functions below, for the form that `sliders.fitting` makes of `form`.

    `names` are those of the values: attributes of Side, and `occupied`.
    """
    given = dict(zip(names, values, strict=False))
    return whole(side_of(layout, given.pop("color", color), given.pop("occupied"), form=form, **given))


def of_both(
    whole: Callable[[Side], tuple[Value, ...]],
    form: Form,
    names: Sequence[str],
    layout: Layout,
    *values: Value,
) -> tuple[Value, ...]:
    """Return the results of `whole` for White, then for Black. Values: White's pieces, Black's, the occupied squares.

    `names` are those of one color's values, attributes of Side, and `occupied`.
    """
    white, black, occupied = values[: len(names) - 1], values[len(names) - 1 : -2], values[-2]
    return (
        *described(whole, form, "white", names, layout, *white, occupied),
        *described(whole, form, "black", names, layout, *black, occupied),
    )


def union(side: Side, order: Sequence[Direction] = ROOKS_FIRST) -> tuple[Value, ...]:
    """Return all attacked squares. Unless all rays use lanes, king attacks are computed in halves."""
    if side.layout.all_in_lanes:
        return (side.layout.union((*side.along(order), *side.jumps(order))),)
    riding = replace(side, kings=NONE)
    return (side.layout.union((*riding.along(order), leapers.kings(side.kings), *side.jumps())),)


def union_captures_first(side: Side) -> tuple[Value, ...]:
    """Return all attacked squares. Directions of captures come first, if the color is known, then other diagonals."""
    captures = leapers.CAPTURES.get(side.color, ()) if isinstance(side.color, str) else ()
    return union(side, tuple(dict.fromkeys((*captures, *BISHOP, *ROOK))))


def pieces(side: Side, beside: bool = True) -> tuple[Value, ...]:
    """Return attacks of rooks, bishops, queens, knights, kings, pawns: 1 and 2 may be lanes of one value.

    So may 4 and 5 if `beside`.
    """
    slid = sliders.pieces(side.form, side.board, side.rooks, side.bishops, side.queens)
    pawns = leapers.pawns(side.color)(side.pawns)
    if not side.layout.all_in_lanes:
        return (*slid, leapers.knights(side.knights), leapers.kings(side.kings), pawns)
    steps = leapers.leaps(side.layout, side.kings, DIR8)
    if beside:
        return (*slid, united_pair(union_of(side.jumps()), union_of(steps)), pawns)
    return (*slid, side.layout.union(side.jumps()), side.layout.union(steps), pawns)


def by_kind(side: Side) -> tuple[Value, ...]:
    """Return the attacks of pawns, knights, bishops, rooks, queens and kings, one board each."""
    layout = side.layout
    slid = sliders.apart(side.form, side.board, side.rooks, side.bishops, side.queens)
    rooks, bishops, queens = slid if len(slid) == 3 else (*halves(slid[0]), layout.union(slid[1:]))
    kings = layout.union(leapers.leaps(layout, side.kings, DIR8)) if layout.all_in_lanes else leapers.kings(side.kings)
    return leapers.pawns(side.color)(side.pawns), layout.union(side.jumps()), bishops, rooks, queens, kings


def threats(side: Side) -> tuple[Value, ...]:
    """Return the attacks of pawns, knights, bishops, rooks, queens and kings, and all attacked squares."""
    layout = side.layout
    if not layout.all_in_lanes:
        return (*by_kind(side), layout.union(by_kind(side)))
    slid, rays = sliders.apart(side.form, side.board, side.rooks, side.bishops, side.queens, DIAGONAL_FIRST)
    jumps, steps = union_of(side.jumps()), union_of(leapers.leaps(layout, side.kings, DIR8))
    if isinstance(side.color, str):
        pawns = union_of(leapers.leaps(layout, side.pawns, leapers.CAPTURES[side.color]))
    else:
        pawns = leapers.pawns(side.color)(side.pawns)
    if rays.lanes == steps.lanes:  # one store takes two results that are neighbors
        pawns, knights, some = _beside(layout, pawns, folded(jumps, 2))
        queens, kings, others = _beside(layout, rays, steps)
    else:
        knights, kings, some = _beside(layout, jumps, steps)
        pawns, queens, others = _beside(layout, pawns, folded(rays, 2))
    return pawns, knights, slid, queens, kings, layout.union((*some, slid, *others))


def _beside(layout: Layout, one: Value, other: Value) -> tuple[Value, Value, tuple[Value, ...]]:
    """Return the unions of all lanes of `one` and of `other`, and the values of which these are lanes."""
    if one.lanes == 1:
        return one, layout.union((other,)), (one, other)
    pair = united_pair(one, other)
    return *halves(pair), (pair,)


def nested(side: Side) -> tuple[Value, ...]:
    """Return the attacks of pawns; of pawns and minor pieces; of those and rooks; of all pieces.

    If a register has lanes for all rays, all attacks without the royal pieces' are in it: minor pieces' in some lanes.
    """
    layout, order = side.layout, ROOKS_FIRST
    by_pawns = leapers.pawns(side.color)(side.pawns)
    if layout.holds_two and side.form is sliders.ALONE:
        ((ray, slid),) = side.form(side.board, order, side.rooks, side.bishops)
        jumps = layout.within(ray, union_of(leapers.two_a_lane(layout, side.knights)), BISHOP)
        attacks = slid | jumps | layout.board(ray, by_pawns)
        by_minors, by_rooks = layout.union((layout.within(ray, attacks, BISHOP),)), layout.union((attacks,))
    else:
        order = ALTERNATING if layout.all_in_lanes else order
        pair = sliders.pair(side.form, side.board, side.rooks, side.bishops)
        orthogonal, diagonal = pair if len(pair) == 2 else halves(pair[0])
        by_minors = by_pawns | diagonal | layout.union(side.jumps())
        by_rooks = by_minors | orthogonal
    royal = replace(side, rooks=side.queens, bishops=side.queens, knights=NONE, pawns=NONE)
    (by_royal,) = union(royal, order)
    return by_pawns, by_minors, by_rooks, by_rooks | by_royal


def nested_three(side: Side) -> tuple[Value, ...]:
    """Return the attacks of pawns; of pawns and minor pieces; of those and rooks."""
    return nested(side)[:3]


def nested_five(side: Side) -> tuple[Value, ...]:
    """Return the attacks of pawns; of those and knights; of those and bishops; of those and rooks; and queens."""
    return tuple(accumulate(by_kind(side)[:5], or_))


def twice(side: Side) -> tuple[Value, ...]:
    """Return all attacked squares, and those attacked at least twice: by two rays, two jumps, or one of each."""
    rays = side.along()
    alike = replace(side.layout, lanes=rays[0].lanes)
    attacks = (*rays, *leapers.leaps(alike, side.knights, leapers.JUMPS))
    return side.layout.overlap(1, attacks), side.layout.overlap(2, attacks)
