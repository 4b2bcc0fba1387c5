"""Routines over arrays: n boards per parameter, as many at once as a register has lanes, the rest one by one.

A short loop over registers is unrolled: a loop that takes UNROLLED registers per array and iteration runs before it.

A rank-by-rank description of a routine makes further variants, which first run it over eight registers of boards at a
time.

The loops run from the last element down, so the index is also the counter, and its sign ends the loop. Each iteration
reads all its inputs before it writes, so a result array may be one of the input arrays. Result arrays must not overlap
other arrays in any other way. n may be 0. Arrays need no alignment.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise

from setwise.codegen.ir.control import below, while_
from setwise.codegen.ir.description import Composition
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.operations import SIGN
from setwise.codegen.ir.routine import Description, Parameter, Routine, free_name
from setwise.codegen.ir.values import Value, load, store
from setwise.codegen.targets import ALL_SETS

COUNT = Parameter("n", "count")
UNROLLED = 4
"""The registers per array in an iteration of an unrolled loop."""
_SHORT = (
    14  # most operations of a short iteration, loads and stores included: longer ones are as fast without unrolling
)


@cache
def on_arrays(routine: Routine, *ways: tuple[str, Description]) -> Routine:
    """Return the routine over arrays, with one array per parameter and per result, and n. Vector lanes hold boards.

    Each of `ways` is the name of a variant, and the description of the loop that this variant runs first.
    """
    count = len(routine.contract.results)
    rest = partial(one_by_one, routine.descriptions[0], count)
    stages = [(partial(in_lanes, describe, count), rest) for describe in routine.descriptions]
    inputs = tuple(p for p in routine.contract.parameters if p.kind != "results")
    results = routine.contract.results if len(routine.contract.results) > 1 else ("result",)
    arrays = [Parameter(each.name, "boards") for each in inputs]
    for name in (*results, COUNT.name):
        arrays.append(Parameter(free_name(name, [array.name for array in arrays]), "boards"))
    count_of_boards = replace(COUNT, name=arrays.pop().name)
    return replace(
        routine,
        form=routine.form if routine.direction else f"{routine.form}.batch".lstrip("."),
        direction=f"{routine.direction}.batch" if routine.direction else "",
        contract=replace(routine.contract, parameters=(*arrays, count_of_boards), elements=inputs),
        descriptions=tuple(map(Composition, stages)),
        named_descriptions=tuple((name, Composition((first, *stages[0]))) for name, first in ways),
        summary=f"{routine.summary}, for each of n boards",
        isas=ALL_SETS,
        batched=True,
    )


def in_lanes(describe: Description, results: int, layout: Layout, *parameters: Value) -> tuple[Value, ...]:
    """Run the description on `layout.lanes` boards an iteration, while as many remain; not at all with one lane.

    If an iteration is short, a loop on UNROLLED times as many boards runs first. Parameters are the addresses of the
    inputs and of the `results` results, and the number of boards. Return the index of the last board that remains, -1
    if none does.
    """
    *arrays, count = parameters
    lanes, steps = layout.lanes, [1]
    if lanes > 1:
        steps.insert(0, lanes)
        body = Graph((), tuple(_lane_by_lane(describe, results, lanes, lanes, arrays)(count))).order
        if sum(not value.operation.free for value in body) <= _SHORT and not any(value.region for value in body):
            steps.insert(0, UNROLLED * lanes)
    index = count - steps[0]
    for boards, following in pairwise(steps):
        index = down(_lane_by_lane(describe, results, lanes, boards, arrays), boards, index) + (boards - following)
    return (index,)


def one_by_one(describe: Description, results: int, _: Layout, *parameters: Value) -> tuple[Value, ...]:
    """Run the description on one board at a time, from the index that is the last parameter down to 0."""
    *arrays, index = parameters
    return (Value("done", (down(_lane_by_lane(describe, results, 1, 1, arrays), 1, index),)),)


Writes = Callable[[Value], list[Value]]
"""A function from the index of the first board of an iteration to the stores of the iteration."""


def _lane_by_lane(describe: Description, results: int, lanes: int, boards: int, arrays: list[Value]) -> Writes:
    inputs, written = arrays[:-results], arrays[-results:]

    def writes_at(start: Value) -> list[Value]:
        writes = []
        for index in (start + at for at in range(0, boards, lanes)):
            made = describe(Layout(lanes, batched=True), *(load(pointer, index, lanes) for pointer in inputs))
            writes += [store(array, index, board) for array, board in zip(written, made, strict=True)]
        return writes

    return writes_at


def down(writes_at: Writes, boards: int, index: Value) -> Value:
    """Loop downwards from `index` in steps of `boards` while the index is not negative. Return its final value.

    Each iteration does the stores of `writes_at` for its index.
    """

    def round_at(index: Value) -> tuple[Value, ...]:
        writes = writes_at(index)
        index -= boards
        return index, *writes

    (index,) = while_(lambda index: below(index, SIGN), round_at, index)
    return index
