"""Push and pull: where the mask lies, on the square that is left or on the square that is reached.

The literature's fill pulls: `gen |= run & step(gen)`. The same attacks pushed are `gen |= step(gen & run)`, with the
runs of the opposite ray. So the pull along a ray and the push against it use the very same runs, which an axis then
needs once; and the push uses each run up where it stands, so on two-operand code copies vanish. Steps of 1, 1, 2 and
3 reach all seven squares. Source: setwise; the fill that it mirrors is Westcott's (CCC, 2002).
"""

from __future__ import annotations

from setwise.codegen.board import INNER_FILES, NOT_A
from setwise.codegen.ir.values import CompassRay, Value, constant, make


def pull(ray: CompassRay, gen: Value, pro: Value) -> Value:
    """Squares attacked, the mask on the square that is reached."""
    pro = ray.path(pro, attacks=True)
    gen |= pro & ray.step(gen)
    gen |= ray.run(pro, 2) & ray.step(gen, 2)
    gen |= ray.run(pro, 3) & ray.step(gen, 3)
    return ray.step(gen)


def push(ray: CompassRay, gen: Value, pro: Value) -> Value:
    """Squares attacked, the mask on the square that is left: one step first, then only through empty squares."""
    back = ray.opposite
    pro = back.path(pro, attacks=True)
    pair = back.run(pro, 2)
    three = back.run(pro, 3)
    reached = ray.step(gen)
    reached |= ray.step(pro & reached)
    reached |= ray.step(pair & reached, 2)
    reached |= ray.step(three & reached, 3)
    return reached


def push_of_two(ray: CompassRay, gen: Value, pro: Value) -> Value:
    """Squares attacked, pushed; the first two steps are one step of a fill by one, two three-input instructions."""
    back = ray.opposite
    pro = back.path(pro, attacks=True)
    reached = ray.step(gen | pro & ray.step(gen))
    reached |= ray.step(back.run(pro, 2) & reached, 2)
    reached |= ray.step(back.run(pro, 3) & reached, 3)
    return reached


def pull_by_two(ray: CompassRay, gen: Value, pro: Value) -> Value:
    """Squares attacked with the runs of two alone: steps of 1, 2 and 2, and 2 more that need only end beside one.

    With three-input logic that is ten operations a ray, the fewest known.
    """
    pro = ray.path(pro, attacks=True)
    near = ray.step(gen)
    beside = ray.step(pro)
    pair = pro & beside
    gen |= pro & near
    gen |= pair & ray.step(gen, 2)
    gen |= pair & ray.step(gen, 2)
    return near | beside & ray.step(gen, 2)


def both_by_two(left: CompassRay, right: CompassRay, gen: Value, pro: Value) -> tuple[Value, Value]:
    """Squares attacked along both rays of an axis by runs of two, pulled; the last step to the right is pushed.

    So one set of squares behind an empty one serves both. The flood to the right goes by two, then by one.
    """
    pro = left.path(pro, attacks=True)
    beside = left.step(pro)
    near = left.step(gen)
    pair = pro & beside
    flood = gen | pro & near
    flood |= pair & left.step(flood, 2)
    flood |= pair & left.step(flood, 2)
    there = near | beside & left.step(flood, 2)
    back = right.step(pair)
    gen |= back & right.step(gen, 2)
    gen |= back & right.step(gen, 2)
    near = right.step(gen)
    gen |= back & near
    return there, near | right.step(gen & beside, 2)


def east_by_addition(ray: CompassRay, gen: Value, pro: Value) -> Value:
    """Squares attacked eastward: a carry walks through the empty squares and stops on the first other one.

    Sliders must not lie on empty squares. The walk keeps to the inner files, so no carry leaves a rank, and a slider on
    the H file soils nothing but an A square, which the mask of all eastward rays clears.
    """
    walk = ray.path(pro, attacks=True) & constant(INNER_FILES, gen.lanes)
    return (walk ^ (walk + (gen << 1))) & constant(NOT_A, gen.lanes)


def east_by_bytes(_: CompassRay, gen: Value, pro: Value) -> Value:
    """The same a byte at a time, where registers add so: no carry leaves a rank, and nothing is masked."""
    return make("add-bytes", twice(gen), pro) ^ pro


def twice(board: Value) -> Value:
    """Each byte moved up by one bit: a step east within ranks."""
    return make("add-bytes", board, board)
