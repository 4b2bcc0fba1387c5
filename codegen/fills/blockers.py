"""Kogge-Stone fill with complemented propagators: runs of blockers are united by `or`.

The occupied squares need no complement, and `and-not-or` is one instruction with three-input logic. Two functions for
rays along ranks use a subtraction, or pext, instead. Source: setwise; similar fills run in several engines.
"""

from setwise.codegen.board import NOT_A, NOT_H
from setwise.codegen.ir.values import CompassRay, Value, constant, make


def walls(left: CompassRay, right: CompassRay, occupied: Value) -> Value:
    """Return the squares that stop a flood: occupied squares, and both edge files in lanes of rays not along files.

    A flood need not enter an edge file, since the last step attacks it.
    """
    lanes = occupied.lanes
    return occupied | ~(left.mask(1, lanes, ranks=False) & right.mask(1, lanes, ranks=False))


def axis(left: CompassRay, right: CompassRay, gen: Value, wall: Value) -> tuple[Value, Value]:
    """Return the attacks along the left and the right ray of an axis. `wall` is the result of `walls`.

    The runs of blockers of the right ray are those of the left ray, shifted. Steps are 1, 2 and 3 squares, then 1. The
    edge files are walls unless the rays follow files, so at most the last step needs a mask.
    """
    two = wall | left.shift(wall, 1)
    three = two | left.shift(wall, 2)
    return (_flood(left, gen, wall, two, three), _flood(right, gen, wall, right.shift(two, 1), right.shift(three, 2)))


def _flood(ray: CompassRay, gen: Value, wall: Value, two: Value, three: Value) -> Value:
    gen |= ~wall & ray.shift(gen, 1)
    gen |= ~two & ray.shift(gen, 2)
    gen |= ~three & ray.shift(gen, 3)
    return ray.shift(gen, 1) & ray.mask(1, gen.lanes, ranks=False)


def by_two(ray: CompassRay, gen: Value, wall: Value) -> Value:
    """Return the attacks along one ray with runs of at most two: steps of 1, 2, 2 and 2.

    The last step needs only the first of its two squares free. With three-input logic this takes ten operations without
    the mask, the fewest known.
    """
    near = ray.shift(gen, 1)
    beside = ray.shift(wall, 1)
    two = wall | beside
    gen |= ~wall & near
    gen |= ~two & ray.shift(gen, 2)
    gen |= ~two & ray.shift(gen, 2)
    return (near | ~beside & ray.shift(gen, 2)) & ray.mask(1, gen.lanes, ranks=False)


def east_by_subtraction(gen: Value, wall: Value) -> Value:
    """Return eastward attacks: a borrow propagates to the next wall (Isenberg, 2005).

    The walls must include all sliders and the A and H files.
    """
    return (wall ^ (wall - (gen << 1))) & constant(NOT_A, gen.lanes)


def west_by_gathering(gen: Value, wall: Value) -> Value:
    """Return westward attacks by pext and pdep.

    pext with the walls as mask makes a slider and the next wall below it adjacent, so a shift maps sliders to walls.
    pdep restores the positions. Subtracting the wall from its slider sets the squares between them and the wall itself.
    A slider on the A file meets the H square below, which the mask clears. One on a1 has no wall below: the shift drops
    it, and it is subtracted itself. The walls must include all sliders and the A and H files.
    """
    found = make("gather", gen, wall)
    return (gen - make("scatter", found >> 1, wall) - (found & 1)) & NOT_H
