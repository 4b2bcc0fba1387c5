"""What jumps or steps, whatever stands between: knights, kings and pawns, each by itself.

A jump is one shift and one mask, as a step is, so that eight of either go in lanes as eight rays do. In a general
register a knight goes by halves: one file or two aside, then two ranks or one up and down. So does a king: along its
rank, then all three squares up and down. Source: setwise; the halves are in wide use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from setwise.codegen.board import EAST, NOEA, NORT, NOWE, RANK_4, RANK_5, SOEA, SOUT, SOWE, WEST, Direction, leap
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.routine import Description
from setwise.codegen.ir.values import Value

JUMPS = tuple(
    leap(far, far, near)
    for fars, nears in (((NORT, SOUT), (EAST, WEST)), ((EAST, WEST), (NORT, SOUT)))
    for far in fars
    for near in nears
)
"""A knight's eight."""

COLORS = ("white", "black")
FORWARD: Mapping[str, Direction] = {"white": NORT, "black": SOUT}
"""Where each side's pawns go."""
CAPTURES: Mapping[str, tuple[Direction, Direction]] = {"white": (NOEA, NOWE), "black": (SOEA, SOWE)}
"""Where they attack."""
_REACHED: Mapping[str, int] = {"white": RANK_4, "black": RANK_5}
"""The rank that a double step ends on."""


def leaps(layout: Layout, leapers: Value, directions: Sequence[Direction]) -> Iterator[Value]:
    """Where steps, or jumps, in these directions lead to, a direction a lane."""
    return (ray.step(layout.board(ray, leapers)) for ray in layout.rays(directions))


def in_lanes(directions: Sequence[Direction]) -> Description:
    """The description of all that is a step, or a jump, away."""

    def describe(layout: Layout, leapers: Value) -> tuple[Value, ...]:
        return (layout.union(leaps(layout, leapers, directions)),)

    return describe


def knights(board: Value) -> Value:
    """Squares that knights attack, by halves."""
    one, two = board.step(EAST) | board.step(WEST), board.step(EAST, EAST) | board.step(WEST, WEST)
    return one.step(NORT, NORT) | one.step(SOUT, SOUT) | two.step(NORT) | two.step(SOUT)


def kings(board: Value) -> Value:
    """Squares that kings attack, by halves; those of kings that stand side by side among them."""
    beside = board.step(EAST) | board.step(WEST)
    row = beside | board
    return beside | row.step(NORT) | row.step(SOUT)


def pawns(color: str) -> Callable[[Value], Value]:
    """Squares that pawns of that color attack."""
    east, west = CAPTURES[color]
    return lambda board: board.step(east) | board.step(west)


def pushes(color: str) -> Callable[[Value, Value], Value]:
    """Empty squares before pawns of that color."""
    return lambda board, empty: board.step(FORWARD[color]) & empty


def double_pushes(color: str) -> Callable[[Value, Value], Value]:
    """Empty squares two before those pawns of that color that have not moved, where the square between is empty."""

    def double(board: Value, empty: Value) -> Value:
        between = board.step(FORWARD[color]) & empty
        return between.step(FORWARD[color]) & (empty & _REACHED[color])

    return double
