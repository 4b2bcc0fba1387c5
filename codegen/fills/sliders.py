"""A whole side at once: rooks and bishops (queens are in both) in all directions, by the best form known."""

from __future__ import annotations

from codegen.board import EAST, NOEA, NORT, NOWE, Direction
from codegen.expr import Value
from codegen.fills import push
from codegen.layout import Layout

ORTHOGONAL = (NORT, EAST)
DIAGONAL = (NOEA, NOWE)


def union(
    layout: Layout, rooks: Value, bishops: Value, board: Value, *_: Value, given_occupied: bool
) -> tuple[Value, ...]:
    """All squares attacked."""
    orthogonal, diagonal = pair(layout, rooks, bishops, board, given_occupied=given_occupied)
    return (orthogonal | diagonal,)


def pair(
    layout: Layout, rooks: Value, bishops: Value, board: Value, *_: Value, given_occupied: bool
) -> tuple[Value, ...]:
    """Squares attacked along ranks and files, and squares attacked along diagonals."""
    empty = ~board if given_occupied else board
    return (
        layout.union(_axis(layout, direction, rooks, empty) for direction in ORTHOGONAL),
        layout.union(_axis(layout, direction, bishops, empty) for direction in DIAGONAL),
    )


def _axis(layout: Layout, direction: Direction, sliders: Value, empty: Value) -> Value:
    """Both rays of an axis: pulled to the left and pushed to the right, with the same runs; east by addition."""
    (left,), (right,) = layout.rays((direction,)), layout.rays((direction.opposite,))
    pulled = push.east_by_addition if direction is EAST else push.pull
    return pulled(left, sliders, empty) | push.push(right, sliders, empty)
