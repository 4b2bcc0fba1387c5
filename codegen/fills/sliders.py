"""A whole side at once: rooks and bishops (queens are in both) in all directions, by the best form known.

Each routine has a description for each form below; the one that makes the shortest code for a target is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from setwise.codegen.board import DIR8, EAST, NOEA, NORT, NOWE, SOEA, SOUT, SOWE, WEST, Direction
from setwise.codegen.describe.layout import Layout, halves
from setwise.codegen.describe.ray import CompassRay
from setwise.codegen.describe.values import Value
from setwise.codegen.fills import blockers, push

LEFT = (NORT, EAST, NOEA, NOWE)
"""The left ray of each axis, those of rooks first."""

AROUND = (NORT, EAST, SOUT, WEST, NOEA, NOWE, SOWE, SOEA)
"""All directions, those of rooks first."""

Attacks = list[tuple[CompassRay, Value]]
"""Rays and what is attacked along them."""

RayFill = Callable[[CompassRay, Value, Value], Value]
Form = Callable[[Layout, Sequence[Direction], Value, Value, Value, bool], Attacks]


def by_push(
    layout: Layout, _: Sequence[Direction], rooks: Value, bishops: Value, board: Value, given_occupied: bool
) -> Attacks:
    """Each axis pulled to the left and pushed to the right, with the same runs."""
    return _by_axes(layout, rooks, bishops, ~board if given_occupied else board, push.push)


def by_pull(
    layout: Layout, _: Sequence[Direction], rooks: Value, bishops: Value, board: Value, given_occupied: bool
) -> Attacks:
    """Each axis pulled to both sides."""
    return _by_axes(layout, rooks, bishops, ~board if given_occupied else board, push.pull)


def by_two(
    layout: Layout, _: Sequence[Direction], rooks: Value, bishops: Value, board: Value, given_occupied: bool
) -> Attacks:
    """Each axis pulled to both sides with runs of two alone."""
    empty = ~board if given_occupied else board
    return _by_axes(layout, rooks, bishops, empty, push.pull_by_two, push.pull_by_two)


def by_blockers(
    layout: Layout, order: Sequence[Direction], rooks: Value, bishops: Value, board: Value, given_occupied: bool
) -> Attacks:
    """Each ray by growing blockers."""
    occupied = board if given_occupied else ~board
    return [
        (ray, blockers.attacks(ray, layout.sliders(ray, rooks, bishops), layout.board(ray, occupied)))
        for ray in layout.rays(order)
    ]


def by_walls(
    layout: Layout, _: Sequence[Direction], rooks: Value, bishops: Value, board: Value, given_occupied: bool
) -> Attacks:
    """Each axis by growing walls, which both its rays share; ranks by subtraction and by steps of two."""
    occupied = board if given_occupied else ~board
    rays: Attacks = []
    for left, right in layout.axes(LEFT):
        gen = layout.sliders(left, rooks, bishops)
        wall = blockers.walls(left, right, layout.board(left, occupied))
        if left.directions == (EAST,):
            there, back = blockers.east_by_subtraction(gen, wall), blockers.by_two(right, gen, wall)
        else:
            there, back = blockers.axis(left, right, gen, wall)
        rays += [(left, there), (right, back)]
    return rays


def _by_axes(
    layout: Layout, rooks: Value, bishops: Value, empty: Value, back: RayFill, forth: RayFill = push.pull
) -> Attacks:
    """Attacks along both rays of each axis; on a general register east is an addition."""
    rays = []
    for left, right in layout.axes(LEFT):
        gen, pro = layout.sliders(left, rooks, bishops), layout.board(left, empty)
        there = push.east_by_addition if left.directions == (EAST,) else forth
        rays += [(left, there(left, gen, pro)), (right, back(right, gen, pro))]
    return rays


FORMS: tuple[Form, ...] = (by_push, by_pull, by_two, by_walls, by_blockers)


def _pair(layout: Layout, rays: Attacks) -> tuple[Value, Value]:
    """What is attacked along ranks and files, and along diagonals; registers that hold both have rooks' lanes first."""
    whole = [(ray, attacks) for ray, attacks in rays if ray.straight is not None]
    parts = [(halves(attacks)) for ray, attacks in _joined(rays)]
    orthogonal = [attacks for ray, attacks in whole if ray.straight] + [low for low, _ in parts]
    diagonal = [attacks for ray, attacks in whole if not ray.straight] + [high for _, high in parts]
    return layout.union(orthogonal), layout.union(diagonal)


def _joined(rays: Attacks) -> Attacks:
    """Registers with lanes of both sorts, united where they lie alike."""
    mixed = [(ray, attacks) for ray, attacks in rays if ray.straight is None]
    if not mixed:
        return []
    united = mixed[0][1]
    for _, attacks in mixed[1:]:
        united = united | attacks
    return [(mixed[0][0], united)]


def union(form: Form) -> Callable[..., tuple[Value, ...]]:
    """All squares attacked."""

    def describe(layout: Layout, rooks: Value, bishops: Value, board: Value, given_occupied: bool) -> tuple[Value, ...]:
        return (layout.union(a for _, a in form(layout, AROUND, rooks, bishops, board, given_occupied)),)

    return describe


def pair(form: Form) -> Callable[..., tuple[Value, ...]]:
    """Squares attacked along ranks and files, and along diagonals."""

    def describe(
        layout: Layout, rooks: Value, bishops: Value, board: Value, _: Value, given_occupied: bool
    ) -> tuple[Value, ...]:
        return _pair(layout, form(layout, AROUND, rooks, bishops, board, given_occupied))

    return describe


def pieces(form: Form) -> Callable[..., tuple[Value, ...]]:
    """Squares attacked by rooks, by bishops and by queens, each apart."""

    def describe(
        layout: Layout, rooks: Value, bishops: Value, queens: Value, board: Value, _: Value, given_occupied: bool
    ) -> tuple[Value, ...]:
        apart = _pair(layout, form(layout, AROUND, rooks, bishops, board, given_occupied))
        of_queens = layout.union(a for _, a in form(layout, AROUND, queens, queens, board, given_occupied))
        return (*apart, of_queens)

    return describe


def sides(form: Form) -> Callable[..., tuple[Value, ...]]:
    """All squares that White's rooks and bishops attack, and all that Black's do."""

    def describe(
        layout: Layout,
        white_rooks: Value,
        white_bishops: Value,
        black_rooks: Value,
        black_bishops: Value,
        board: Value,
        _: Value,
        given_occupied: bool,
    ) -> tuple[Value, ...]:
        both = ((white_rooks, white_bishops), (black_rooks, black_bishops))
        return tuple(
            layout.union(a for _, a in form(layout, AROUND, rooks, bishops, board, given_occupied))
            for rooks, bishops in both
        )

    return describe


def rays(form: Form) -> Callable[..., tuple[Value, ...]]:
    """Squares attacked along each of the eight rays, in the order of dir8."""

    def describe(
        layout: Layout, rooks: Value, bishops: Value, board: Value, _: Value, given_occupied: bool
    ) -> tuple[Value, ...]:
        if layout.packed == 1:
            attacks = {ray.directions[0]: a for ray, a in form(layout, DIR8, rooks, bishops, board, given_occupied)}
            return tuple(attacks[direction] for direction in DIR8)
        lanes = [attacked for _, attacked in by_blockers(layout, DIR8, rooks, bishops, board, given_occupied)]
        if len(lanes) == 1:
            return (lanes[0],)
        # Left rays come first and last in dir8's order, right rays between them.
        left, right = lanes
        first, last = halves(left)
        return first, right, last

    return describe
