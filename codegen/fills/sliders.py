"""A whole side at once: rooks and bishops (queens are in both) in all directions, by the best form known.

Each routine has a description for each form below; the one that makes the shortest code for a target is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from setwise.codegen.board import DIR8, EAST, NOEA, NORT, NOWE, SOEA, SOUT, SOWE, WEST, Direction
from setwise.codegen.describe.layout import Layout, folded, halves
from setwise.codegen.describe.values import CompassRay, Value
from setwise.codegen.fills import blockers, push

AROUND = (NORT, EAST, SOUT, WEST, NOEA, NOWE, SOWE, SOEA)
"""All directions, those of rooks first."""

IN_TURNS = (NORT, NOEA, EAST, NOWE, SOUT, SOWE, WEST, SOEA)
"""All directions, one of rooks and one of bishops in turns, as results lie."""

Attacks = list[tuple[CompassRay, Value]]
"""Rays and what is attacked along them."""


@dataclass(frozen=True, slots=True)
class Board:
    """A board as the rays see it: its layout, its empty squares and its occupied ones."""

    layout: Layout
    empty: Value
    occupied: Value


RayFill = Callable[[CompassRay, Value, Value], Value]
Form = Callable[[Board, Sequence[Direction], Value, Value], Attacks]
"""Attacks of rooks and bishops in these directions, in the given order or in one of its own."""


def by_axes(back: RayFill, forth: RayFill = push.pull) -> Form:
    """Axis by axis, `forth` to the left and `back` to the right; on a general register east is an addition."""

    def form(board: Board, order: Sequence[Direction], rooks: Value, bishops: Value) -> Attacks:
        rays: Attacks = []
        for left, right in board.layout.axes(_left(order)):
            gen, pro = board.layout.sliders(left, rooks, bishops), board.layout.board(left, board.empty)
            there = push.east_by_addition if left.directions == (EAST,) else forth
            rays += [(left, there(left, gen, pro)), (right, back(right, gen, pro))]
        return rays

    return form


def by_rays(board: Board, order: Sequence[Direction], rooks: Value, bishops: Value) -> Attacks:
    """Each ray by itself with runs of two alone, where that the last mask costs nothing; else by growing blockers."""
    layout = board.layout
    if not layout.masks:
        return by_blockers(board, order, rooks, bishops)
    return [
        (ray, push.pull_by_two(ray, layout.sliders(ray, rooks, bishops), layout.board(ray, board.empty)))
        for ray in layout.rays(order)
    ]


def by_blockers(board: Board, order: Sequence[Direction], rooks: Value, bishops: Value) -> Attacks:
    """Each ray by growing blockers."""
    layout = board.layout
    return [
        (ray, blockers.attacks(ray, layout.sliders(ray, rooks, bishops), layout.board(ray, board.occupied)))
        for ray in layout.rays(order)
    ]


def by_walls(board: Board, order: Sequence[Direction], rooks: Value, bishops: Value) -> Attacks:
    """Each axis by growing walls, which both its rays share; ranks by subtraction and by steps of two."""
    rays: Attacks = []
    for left, right in board.layout.axes(_left(order)):
        gen = board.layout.sliders(left, rooks, bishops)
        wall = blockers.walls(left, right, board.layout.board(left, board.occupied))
        if left.directions == (EAST,):
            there, back = blockers.east_by_subtraction(gen, wall), blockers.by_two(right, gen, wall)
        else:
            there, back = blockers.axis(left, right, gen, wall)
        rays += [(left, there), (right, back)]
    return rays


def _left(directions: Sequence[Direction]) -> Sequence[Direction]:
    """The left ray of each axis."""
    return [direction for direction in directions if direction.shift > 0]


FORMS: tuple[Form, ...] = (
    by_axes(push.push),  # the same runs for both rays
    by_axes(push.push_of_two),
    by_axes(push.pull),
    by_axes(push.pull_by_two, push.pull_by_two),  # runs of two alone
    by_walls,
    by_blockers,
    by_rays,
)


def described(
    whole: Callable[..., tuple[Value, ...]],
    form: Form,
    given_occupied: bool,
    pieces: int,
    layout: Layout,
    *values: Value,
) -> tuple[Value, ...]:
    """One of the routines below by a form; parameters are so many boards of pieces, then occupied or empty squares."""
    given = values[pieces]
    empty, occupied = (~given, given) if given_occupied else (given, ~given)
    return whole(form, Board(layout, empty, occupied), *values[:pieces])


def union(
    form: Form, board: Board, rooks: Value, bishops: Value, order: Sequence[Direction] = AROUND
) -> tuple[Value, ...]:
    """All squares attacked."""
    return (board.layout.union(attacks for _, attacks in form(board, order, rooks, bishops)),)


def pair(form: Form, board: Board, rooks: Value, bishops: Value) -> tuple[Value, ...]:
    """Squares attacked along ranks and files, and along diagonals; in registers that hold both, lane beside lane."""
    if board.layout.packed > 1:
        rays = form(board, IN_TURNS, rooks, bishops)
        return (folded(reduce(or_, (attacks for _, attacks in rays)), 2),)
    rays = form(board, AROUND, rooks, bishops)
    straight, diagonal = ([attacks for ray, attacks in rays if ray.straight is s] for s in (True, False))
    return board.layout.union(straight), board.layout.union(diagonal)


def pieces(form: Form, board: Board, rooks: Value, bishops: Value, queens: Value) -> tuple[Value, ...]:
    """Squares attacked by rooks, by bishops and by queens, each apart."""
    order = IN_TURNS if board.layout.packed > 1 else AROUND
    return (*pair(form, board, rooks, bishops), *union(form, board, queens, queens, order))


def sides(
    form: Form, board: Board, white_rooks: Value, white_bishops: Value, black_rooks: Value, black_bishops: Value
) -> tuple[Value, ...]:
    """All squares that White's rooks and bishops attack, and all that Black's do."""
    return (*union(form, board, white_rooks, white_bishops), *union(form, board, black_rooks, black_bishops))


def rays(form: Form, board: Board, rooks: Value, bishops: Value) -> tuple[Value, ...]:
    """Squares attacked along each of the eight rays, in the order of dir8."""
    if board.layout.packed == 1:
        attacks = {ray.directions[0]: attacked for ray, attacked in form(board, DIR8, rooks, bishops)}
        return tuple(attacks[direction] for direction in DIR8)
    lanes = [attacked for _, attacked in by_blockers(board, DIR8, rooks, bishops)]
    if len(lanes) == 1:
        return (lanes[0],)
    # Left rays come first and last in dir8's order, right rays between them.
    left, right = lanes
    first, last = halves(left)
    return first, right, last
