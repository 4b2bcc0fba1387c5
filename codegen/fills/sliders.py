"""Attacks of all sliders in all directions. Queens are among rooks and among bishops, unless they are a parameter.

A routine has a description for each of FORMS; the one that makes the shortest code for a target is taken.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from operator import or_

from setwise.codegen.board import DIR8, EAST, INNER_FILES, NOEA, NORT, NOWE, ROOK, SOEA, SOUT, SOWE, WEST, Direction
from setwise.codegen.fills import blockers, push, turned
from setwise.codegen.ir.layout import Layout, folded, halves, reduced_halves, united_pair
from setwise.codegen.ir.values import CompassRay, Value

ROOKS_FIRST = (NORT, EAST, SOUT, WEST, NOEA, NOWE, SOWE, SOEA)
"""All directions, rook directions first."""

ALTERNATING = (NORT, NOEA, EAST, NOWE, SOUT, SOWE, WEST, SOEA)
"""All directions, alternating between rook and bishop directions as the lanes of the results do."""

PAIRS = tuple(direction for direction in ROOKS_FIRST for _ in range(2))
"""Each direction in two lanes, for two sets of sliders in turns."""

Attacks = list[tuple[CompassRay, Value]]
"""Rays, each with the squares attacked along it."""


@dataclass(frozen=True, slots=True)
class Board:
    """The empty and the occupied squares of a board, and the layout of values."""

    layout: Layout
    empty: Value
    occupied: Value


RayFill = Callable[[CompassRay, Value, Value], Value]
AxisFill = Callable[[CompassRay, CompassRay, Value, Value], tuple[Value, Value]]
Form = Callable[..., Attacks]
"""A function of a Board, directions, rooks and bishops that returns the attacks along rays in these directions.

It may reorder the directions. Forms along axes also accept two sets of rooks and bishops if a register holds both.
"""


def along_axes(axis: AxisFill) -> Form:
    """Return the form that computes both rays of each axis together, by `axis(left ray, right ray, sliders, empty)`."""

    def form(board: Board, order: Sequence[Direction], *sliders: Value) -> Attacks:
        rays: Attacks = []
        sets, lefts = len(sliders) // 2, [d for d in order if d.shift > 0]
        for left, right in board.layout.axes(lefts if len(lefts) == 4 * sets else lefts * sets):
            gen, pro = board.layout.sliders(left, *sliders), board.layout.board(left, board.empty)
            rays += zip((left, right), axis(left, right, gen, pro), strict=True)
        return rays

    return form


def by_axes(back: RayFill) -> Form:
    """Return the form that pulls along left rays and uses `back` along right rays of each axis.

    If the second lane is a flipped board, `back` is used along each ray. A ray whose only direction is east uses an
    addition.
    """
    there = _east_by_addition(push.pull)

    def axis(left: CompassRay, right: CompassRay, gen: Value, pro: Value) -> tuple[Value, Value]:
        return there(left, gen, pro), back(right, gen, pro)

    axes, rays = along_axes(axis), by_rays(back)
    return lambda board, *of: (rays if board.layout.mirrored else axes)(board, *of)


def walls(left: CompassRay, right: CompassRay, gen: Value, pro: Value) -> tuple[Value, Value]:
    """Return the attacks of an axis with runs of blockers, which both rays share.

    If the left ray goes only east: subtraction to the east, steps of two to the west.
    """
    wall = blockers.walls(left, right, ~pro)
    if left.directions == (EAST,):
        return blockers.east_by_subtraction(gen, wall), blockers.by_two(right, gen, wall)
    return blockers.axis(left, right, gen, wall)


def by_rays(fill: RayFill) -> Form:
    """Return the form that computes each ray by `fill`, but a ray whose only direction is east by an addition."""
    along = _east_by_addition(fill)

    def form(board: Board, order: Sequence[Direction], *sliders: Value) -> Attacks:
        layout = board.layout
        return [
            (ray, along(ray, layout.sliders(ray, *sliders), layout.board(ray, board.empty)))
            for ray in layout.rays(order)
        ]

    return form


def _east_by_addition(fill: RayFill) -> RayFill:
    """Return the fill, with `push.east_by_addition` in its place for a ray that only goes east."""
    return lambda ray, *of: (push.east_by_addition if ray.directions == (EAST,) else fill)(ray, *of)


def _alone(ray: CompassRay, gen: Value, pro: Value) -> Value:
    """Return the attacks along a ray that shares no runs: of boards in vectors with runs of at most two squares."""
    return (push.pull if gen.lanes == 1 else push.pull_by_sums)(ray, gen, pro)


ALONE = by_rays(_alone)
"""The form that computes rays separately, a ray only to the east by addition."""


def turned_rooks(attacks: Callable[[Direction, Value, Value], Value]) -> Form:
    """Return the form of `attacks` along the directions of rooks, files first, and of pull and push along diagonals."""
    diagonal = by_axes(push.push_of_two)

    def form(board: Board, order: Sequence[Direction], rooks: Value, bishops: Value) -> Attacks:
        if board.layout.scalar_directions:
            raise ValueError("this form assigns the general registers itself: give a layout without scalar directions")
        rays = board.layout.rays([direction for direction in (NORT, SOUT, EAST, WEST) if direction in order])
        turns = [(ray, attacks(ray.directions[0], rooks, board.occupied)) for ray in rays]
        return turns + diagonal(board, [direction for direction in order if direction not in ROOK], rooks, bishops)

    return form


def gathering(left: CompassRay, right: CompassRay, gen: Value, pro: Value) -> tuple[Value, Value]:
    """Return the attacks of an axis: if its left ray goes only east, by addition and pext, else by pull and push."""
    if left.directions == (EAST,):
        return push.east_by_addition(left, gen, pro), blockers.west_by_gathering(gen, ~(pro & INNER_FILES))
    return push.pull(left, gen, pro), push.push_of_two(right, gen, pro)


BESIDE: Mapping[str, Form] = {"transposed": turned_rooks(turned.attacks), "pext": along_axes(gathering)}
"""Forms that suit some processors, by name. They are for variants alone, not for the default kernel."""

IN_LANES: tuple[Form, ...] = (along_axes(walls), ALONE)
"""Forms that `fitting` admits only if registers hold more than two directions, or lanes hold boards."""

ON_BOARDS = turned_rooks(turned.of_boards)
"""The form that `fitting` admits only if lanes hold boards."""

FORMS: tuple[Form, ...] = (
    by_axes(push.push),  # both rays of an axis use the same runs
    by_axes(push.push_of_two),
    by_axes(push.pull),
    *IN_LANES,
    ON_BOARDS,
)


def fitting(form: Form, layout: Layout, usual: Form) -> Form:
    """Return the form if IN_LANES and ON_BOARDS say that it suits the layout, else `usual`."""
    if layout.batched or form not in (*IN_LANES, ON_BOARDS):
        return form
    return usual if layout.directions_per_register <= 2 or form is ON_BOARDS else form


def described(
    whole: Callable[..., tuple[Value, ...]],
    form: Form,
    given_occupied: bool,
    pieces: int,
    layout: Layout,
    *values: Value,
) -> tuple[Value, ...]:
    """Return the results of `whole`, one of the functions below, by `form`, or by FORMS[0] if `fitting` prefers it.

    Values are `pieces` boards of pieces, then the occupied squares if `given_occupied`, otherwise the empty ones.
    """
    form = fitting(form, layout, FORMS[0])
    given = values[pieces]
    empty, occupied = (~given, given) if given_occupied else (given, ~given)
    return whole(form, Board(layout, empty, occupied), *values[:pieces])


def union(
    form: Form, board: Board, rooks: Value, bishops: Value, order: Sequence[Direction] = ROOKS_FIRST
) -> tuple[Value, ...]:
    """Return all attacked squares."""
    return (board.layout.union(attacks for _, attacks in form(board, order, rooks, bishops)),)


def pair(
    form: Form, board: Board, rooks: Value, bishops: Value, order: Sequence[Direction] = ALTERNATING
) -> tuple[Value, ...]:
    """Return the squares attacked along ranks and files, and along diagonals: one value if all rays use lanes.

    Its lanes are then in the order of the first two directions.
    """
    if board.layout.all_in_lanes:
        rays = form(board, order, rooks, bishops)
        return (folded(_any_ray(rays), 2),)
    rays = form(board, ROOKS_FIRST, rooks, bishops)
    straight, diagonal = ([attacks for ray, attacks in rays if ray.straight is s] for s in (True, False))
    return board.layout.union(straight), board.layout.union(diagonal)


def pieces(form: Form, board: Board, rooks: Value, bishops: Value, queens: Value) -> tuple[Value, ...]:
    """Return the squares attacked by rooks, by bishops and by queens. The first two may be lanes of one value."""
    *both, its = apart(form, board, rooks, bishops, queens)
    return *both, board.layout.union((its,))


def apart(
    form: Form, board: Board, rooks: Value, bishops: Value, queens: Value, order: Sequence[Direction] = ALTERNATING
) -> tuple[Value, ...]:
    """Return the squares attacked by rooks, by bishops and by queens: of queens, perhaps in several lanes to unite.

    The first two are lanes of one value if all rays use lanes, in the order of the first two directions.
    """
    if board.layout.holds_two and form is not ALONE:
        return reduced_halves(_any_ray(form(board, order, rooks, bishops, queens, queens)))
    if not board.layout.all_in_lanes:
        return (*pair(form, board, rooks, bishops), *union(form, board, queens, queens))
    return (*pair(form, board, rooks, bishops, order), _any_ray(form(board, order, queens, queens)))


def sides(
    form: Form, board: Board, white_rooks: Value, white_bishops: Value, black_rooks: Value, black_bishops: Value
) -> tuple[Value, ...]:
    """Return the squares that White's sliders attack, and Black's: two lanes of one value if all rays use lanes."""
    if not board.layout.all_in_lanes:
        return (*union(form, board, white_rooks, white_bishops), *union(form, board, black_rooks, black_bishops))
    if board.layout.holds_two and form is not ALONE:
        return (folded(_any_ray(form(board, PAIRS, white_rooks, white_bishops, black_rooks, black_bishops)), 2),)
    white = form(board, ROOKS_FIRST, white_rooks, white_bishops)
    return (united_pair(_any_ray(white), _any_ray(form(board, ROOKS_FIRST, black_rooks, black_bishops))),)


def mobility(form: Form, board: Board, rooks: Value, bishops: Value, targets: Value) -> tuple[Value, Value]:
    """Return the number of moves of rooks, and that of bishops, to the target squares.

    A square counts once for each ray along which it is attacked.
    """
    straight: list[Value] = []
    diagonal: list[Value] = []
    for ray, attacks in form(board, ROOKS_FIRST, rooks, bishops):
        moves = attacks & board.layout.board(ray, targets)
        if ray.straight is None:
            for half, boards in zip(halves(moves), (straight, diagonal), strict=True):
                boards.append(half)
        else:
            (straight if ray.straight else diagonal).append(moves)
    return board.layout.counted(straight), board.layout.counted(diagonal)


def counts(form: Form, board: Board, rooks: Value, bishops: Value, targets: Value) -> tuple[Value, ...]:
    """Return the number of moves of all sliders to the target squares."""
    layout = board.layout
    rays = form(board, ROOKS_FIRST, rooks, bishops)
    return (layout.counted(attacks & layout.board(ray, targets) for ray, attacks in rays),)


def _any_ray(rays: Attacks) -> Value:
    return reduce(or_, (attacks for _, attacks in rays))


def rays(form: Form, board: Board, rooks: Value, bishops: Value) -> tuple[Value, ...]:
    """Return the squares attacked along each ray, in the order of dir8, as lanes of one or more values."""
    layout = board.layout
    if not layout.all_in_lanes:
        by_ray = form(board, DIR8, rooks, bishops)
        attacks = dict(chain.from_iterable(layout.by_direction(ray, attacked) for ray, attacked in by_ray))
        return tuple(attacks[direction] for direction in DIR8)
    order = DIR8 if layout.both_sides and form is ALONE else (*DIR8[-2:], *DIR8[:-2])
    found = [attacked for _, attacked in form(board, order, rooks, bishops)]
    if len(found) == 1:
        return (found[0],)
    # In the order of dir8 the left rays come last and first, with the right rays in between.
    left, right = found
    last, first = halves(left)
    return first, right, last
