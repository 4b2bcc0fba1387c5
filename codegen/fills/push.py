"""Push and pull: a mask on the square that a step leaves, or on the square that it reaches.

The literature's fill pulls: `gen |= run & step(gen)`. The same attacks are pushed by `gen |= step(gen & run)`, with the
runs of the opposite ray. So a pull along a ray and a push against it share their runs, and an axis computes them once.
A push is also the last use of its run, so two-operand code overwrites the run without a copy. Steps of 1, 1, 2 and 3
reach all seven squares. Source: setwise; the fill that it mirrors is Westcott's (CCC, 2002).
"""

from setwise.codegen.board import INNER_FILES, NOT_A
from setwise.codegen.fills import blockers
from setwise.codegen.ir.values import CompassRay, Value, constant, make


def pull(ray: CompassRay, gen: Value, pro: Value | int) -> Value:
    """Return the attacks with the mask on the square that is reached; `pro` holds the empty squares."""
    pro = ray.path(pro, attacks=True)
    gen |= pro & ray.step(gen)
    gen |= ray.run(pro, 2) & ray.step(gen, 2)
    gen |= ray.run(pro, 3) & ray.step(gen, 3)
    return ray.step(gen)


def push(ray: CompassRay, gen: Value, pro: Value | int) -> Value:
    """Return the attacks with the mask on the square that is left: a step from all sliders, then from empty squares."""
    back = ray.opposite
    pro = back.path(pro, attacks=True)
    pair = back.run(pro, 2)
    three = back.run(pro, 3)
    reached = ray.step(gen)
    reached |= ray.step(pro & reached)
    reached |= ray.step(pair & reached, 2)
    reached |= ray.step(three & reached, 3)
    return reached


def push_of_two(ray: CompassRay, gen: Value, pro: Value | int) -> Value:
    """Return the attacks, pushed, but with the first two squares by one pulled cycle and a step.

    With three-input logic that cycle takes two instructions.
    """
    back = ray.opposite
    pro = back.path(pro, attacks=True)
    reached = ray.step(gen | pro & ray.step(gen))
    reached |= ray.step(back.run(pro, 2) & reached, 2)
    reached |= ray.step(back.run(pro, 3) & reached, 3)
    return reached


def pull_by_sums(ray: CompassRay, gen: Value, pro: Value | int) -> Value:
    """Return the attacks by steps of 1, 2 and 4 squares, with runs of two only.

    The last square of each step may be occupied. With three-input logic a ray takes ten operations without masks, the
    fewest known, and seven of them are on its longest path.
    """
    pro = ray.path(pro, attacks=True)
    near = ray.step(gen)
    beside = ray.step(pro)
    pair = pro & beside
    gen |= pro & near
    third = ray.step(gen, 2)
    gen |= pair & third
    return near | beside & (third | ray.step(pair, 2) & ray.step(gen, 4))


def east_by_addition(ray: CompassRay, gen: Value, pro: Value) -> Value:
    """Return eastward attacks: a carry propagates through empty squares and stops at the first other square.

    Sliders must not be on empty squares. The propagator is limited to the inner files, so no carry leaves a rank. A
    slider on the H file sets only an A square, which the mask of eastward rays clears.
    """
    walk = ray.path(pro, attacks=True) & constant(INNER_FILES, gen.lanes)
    return (walk ^ (walk + (gen << 1))) & constant(NOT_A, gen.lanes)


def west_by_gathering(_: CompassRay, gen: Value, pro: Value) -> Value:
    """Return westward attacks by `blockers.west_by_gathering`, with all sliders among the walls.

    A slider on an empty square hides what is behind it, but attacks the same squares itself.
    """
    return blockers.west_by_gathering(gen, gen | ~(pro & INNER_FILES))


def east_by_bytes(_: CompassRay, gen: Value, pro: Value) -> Value:
    """Return eastward attacks as `east_by_addition`, but bytewise: no carry leaves a rank, without a mask."""
    return make("add-bytes", twice(gen), pro) ^ pro


def twice(board: Value) -> Value:
    """Return the board with each byte shifted left by one: a step east within ranks."""
    return make("add-bytes", board, board)
