"""Attacks of knights, kings and pawns, and pushes of pawns.

A jump is one shift and one mask, like a step, so eight of them fit in lanes as eight rays do. A second description of a
knight's attacks computes them in halves: one or two files aside, then two ranks or one rank up and down. A king's too:
along the rank, then all three squares up and down. Source: setwise; the halves are in wide use.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from setwise.codegen.board import EAST, NOEA, NORT, NOWE, RANK_4, RANK_5, SOEA, SOUT, SOWE, WEST, Direction, leap
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.routine import Description
from setwise.codegen.ir.values import CompassRay, Value

JUMPS = tuple(
    leap(far, far, near)
    for fars, nears in (((NORT, SOUT), (EAST, WEST)), ((EAST, WEST), (NORT, SOUT)))
    for far in fars
    for near in nears
)
"""The eight jumps of a knight."""
JUMP_BESIDE: Mapping[Direction, Direction] = {
    way: leap(way, *others)
    for way, others in (
        *((NORT, (EAST, EAST)), (EAST, (EAST, SOUT)), (SOUT, (WEST, WEST)), (WEST, (WEST, NORT))),
        *((NOEA, (NORT,)), (NOWE, (NORT,)), (SOWE, (SOUT,)), (SOEA, (SOUT,))),
    )
}
"""A jump for the lane of each direction: the mask of a step in that direction clears no target of the jump."""

COLORS = ("white", "black")
FORWARD: Mapping[str, Direction] = {"white": NORT, "black": SOUT}
"""The direction of each side's pawn pushes."""
CAPTURES: Mapping[str, tuple[Direction, Direction]] = {"white": (NOEA, NOWE), "black": (SOEA, SOWE)}
"""The directions of each side's pawn captures."""
_REACHED: Mapping[str, int] = {"white": RANK_4, "black": RANK_5}
"""The rank on which a double push ends."""


def leaps(layout: Layout, leapers: Value, directions: Sequence[Direction]) -> Iterator[Value]:
    """Yield the targets of steps or jumps in these directions: a value for each ray that the layout makes of them."""
    return (ray.step(layout.board(ray, leapers)) for ray in layout.rays(directions))


def two_a_lane(layout: Layout, leapers: Value) -> Iterator[Value]:
    """Yield two values of eight lanes, the targets of jumps up and down. Four lanes of both make up all eight jumps."""
    up = CompassRay(tuple(jump for jump in JUMPS if jump.shift > 0) * 2)
    for ray in (up, CompassRay(tuple(jump.mirrored for jump in up.directions))):
        yield ray.step(layout.board(ray, leapers))


def in_lanes(directions: Sequence[Direction]) -> Description:
    """Return the description of the union of all targets of steps or jumps in these directions."""

    def describe(layout: Layout, leapers: Value) -> tuple[Value, ...]:
        return (layout.union(leaps(layout, leapers, directions)),)

    return describe


def knights(board: Value) -> Value:
    """Return the squares that knights attack, computed in halves."""
    one, two = board.step(EAST) | board.step(WEST), board.step(EAST, EAST) | board.step(WEST, WEST)
    return (one.step(NORT) | two).step(NORT) | (one.step(SOUT) | two).step(SOUT)


def kings(board: Value) -> Value:
    """Return the squares that kings attack, computed in halves; adjacent kings attack each other."""
    beside = board.step(EAST) | board.step(WEST)
    row = beside | board
    return beside | row.step(NORT) | row.step(SOUT)


def pawns(color: str | Value) -> Callable[[Value], Value]:
    """Return a function from a color's pawns to the squares that they attack. A value is 0 for White, 1 for Black."""
    if isinstance(color, Value):
        back = color << 3
        return lambda board: (board.step(EAST) | board.step(WEST)) >> back << (back ^ 8)
    east, west = CAPTURES[color]
    return lambda board: board.step(east) | board.step(west)


def pushes(color: str) -> Callable[[Value, Value], Value]:
    """Return a function from the pawns of a color and the empty squares to the targets of single pushes."""
    return lambda board, empty: board.step(FORWARD[color]) & empty


def double_pushes(color: str) -> Callable[[Value, Value], Value]:
    """Return a function from the pawns of a color and the empty squares to the targets of double pushes."""

    def double(board: Value, empty: Value) -> Value:
        between = board.step(FORWARD[color]) & empty
        return between.step(FORWARD[color]) & (empty & _REACHED[color])

    return double
