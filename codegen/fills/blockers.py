"""The fill turned over: what grows is the set of squares that a ray cannot pass, not the set that it can.

Grown by `or`, blockers need no complement of the occupied squares, and and-not-or is one three-input instruction.
Source: setwise; kernels of this shape run in several engines, after Westcott's prefix (CCC, 2002).
"""

from __future__ import annotations

from setwise.codegen.board import FILE_A, NOT_A
from setwise.codegen.ir.values import CompassRay, Value, constant, make


def walls(left: CompassRay, right: CompassRay, occupied: Value) -> Value:
    """What a flood cannot enter, or need not: occupied squares and the edge files."""
    lanes = occupied.lanes
    return occupied | ~(left.mask(1, lanes, ranks=False) & right.mask(1, lanes, ranks=False))


def axis(left: CompassRay, right: CompassRay, gen: Value, wall: Value) -> tuple[Value, Value]:
    """Squares attacked along both rays of an axis; what stops the ray to the right is what stops the left one, moved.

    Steps of 1, 2 and 3. The edge files are walls, so no shift needs a mask but the last.
    """
    two = wall | left.shift(wall, 1)
    three = two | left.shift(wall, 2)
    return (
        _flood(left, gen, wall, two, three),
        _flood(right, gen, wall, right.shift(two, 1), right.shift(three, 2)),
    )


def _flood(ray: CompassRay, gen: Value, wall: Value, two: Value, three: Value) -> Value:
    gen |= ~wall & ray.shift(gen, 1)
    gen |= ~two & ray.shift(gen, 2)
    gen |= ~three & ray.shift(gen, 3)
    return ray.shift(gen, 1) & ray.mask(1, gen.lanes, ranks=False)


def by_two(ray: CompassRay, gen: Value, wall: Value) -> Value:
    """Squares attacked along one ray by steps of 1, 2 and 2, and 2 more that need only end beside one.

    With three-input logic that is ten operations, the fewest known.
    """
    near = ray.shift(gen, 1)
    beside = ray.shift(wall, 1)
    two = wall | beside
    gen |= ~wall & near
    gen |= ~two & ray.shift(gen, 2)
    gen |= ~two & ray.shift(gen, 2)
    return (near | ~beside & ray.shift(gen, 2)) & ray.mask(1, gen.lanes, ranks=False)


def east_by_subtraction(gen: Value, wall: Value) -> Value:
    """Squares attacked eastward: a borrow walks to the next wall (Isenberg, 2005); sliders lie within the walls."""
    return (wall ^ (wall - (gen << 1))) & constant(NOT_A, gen.lanes)


def west_by_gathering(gen: Value, occupied: Value) -> Value:
    """Squares attacked westward: each slider's wall is the one below it where walls alone are counted.

    Gathered, the walls are neighbours, and a shift leads from sliders to walls. The A file is all walls, so each rank
    has one; from a slider its wall is subtracted, which leaves the squares between, the wall among them. Sliders lie
    within the occupied squares. Source: setwise, with BMI2's pext and pdep.
    """
    walls = occupied | FILE_A
    movers = gen & ~FILE_A
    return movers - make("scatter", make("gather", movers, walls) >> 1, walls)
