"""Routines over arrays: n boards per parameter, as many at once as a register has lanes.

The rest takes one pass first, whose mask leaves out the lanes without a board. Without masks it takes a pass a board,
behind the others.

A short loop over registers is unrolled: another loop takes UNROLLED registers per array and iteration. It runs first
without masks, and last with them.

A rank-by-rank description of a routine makes further variants, which first run it over eight registers of boards at a
time.

The passes run from the last element down, so the index is also the counter, and its sign ends the loop. Each iteration
reads all its inputs before it writes, so a result array may be one of the input arrays. Result arrays must not overlap
other arrays in any other way. n may be 0. Arrays need no alignment.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise

from setwise.codegen.ir.control import below, nonzero, when, while_
from setwise.codegen.ir.description import Composition
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.operations import SIGN
from setwise.codegen.ir.routine import Description, Parameter, Routine, free_name
from setwise.codegen.ir.values import Value, constant, load, load_some, reshaped, store, store_some
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


Writes = Callable[[Value], list[Value]]
"""A function from the index of the first board of an iteration to the stores of the iteration."""


def in_lanes(describe: Description, results: int, layout: Layout, *parameters: Value) -> tuple[Value, ...]:
    """Run the description on `layout.lanes` boards an iteration, while as many remain; not at all with one lane.

    If an iteration is short, a loop on UNROLLED times as many boards runs first. Parameters are the addresses of the
    inputs and of the `results` results, and the number of boards. Return the index of the last board that remains, -1
    if none does.

    If lanes can be masked, the rest comes first: see `_rest`. So all accesses behind it are aligned to registers if the
    arrays are.
    """
    *arrays, count = parameters
    lanes, steps = layout.lanes, [1]
    if lanes > 1:
        steps.insert(0, lanes)
        body = Graph((), tuple(_lane_by_lane(describe, results, lanes, lanes, arrays)(count))).order
        if sum(not value.operation.free for value in body) <= _SHORT and not any(value.region for value in body):
            steps.insert(0, UNROLLED * lanes)
    if layout.masked:
        count, steps = _rest(describe, results, lanes, steps[0], arrays, count), steps[:1] * 2
    index = count - steps[0]
    for boards, following in pairwise(steps):
        index = down(_lane_by_lane(describe, results, lanes, boards, arrays), boards, index) + (boards - following)
    return (index,)


def _rest(describe: Description, results: int, lanes: int, boards: int, arrays: list[Value], count: Value) -> Value:
    """Run the description on the last of `count` boards, until a multiple of `boards` remain. Return their number.

    One pass under a mask does those that fill no register, and each other pass a register.
    """
    rest, index = count & lanes - 1, count & -lanes
    (index,) = when(nonzero(rest), partial(_in_some_lanes, describe, results, lanes, arrays, rest), index)
    writes_at, fill = _lane_by_lane(describe, results, lanes, lanes, arrays), boards - lanes

    def fewer(at: Value, left: Value) -> tuple[Value, ...]:
        return at - lanes, left - lanes, *writes_at(at - lanes)

    count, _ = while_(lambda _, left: nonzero(left), fewer, index, index & fill)
    return count


def _in_some_lanes(
    describe: Description, results: int, lanes: int, arrays: list[Value], rest: Value, index: Value
) -> tuple[Value, ...]:
    """Return the index of the first of `rest` boards, fewer than lanes, and the stores of a pass over them."""
    remaining = reshaped("broadcast", rest, lanes)
    mask = constant(tuple(range(lanes))).less(remaining)
    boards = [load_some(pointer, index, mask) for pointer in arrays[:-results]]
    made = zip(arrays[-results:], describe(Layout(lanes, batched=True), *boards), strict=True)
    return (index, *(store_some(array, index, board, mask) for array, board in made))


def one_by_one(describe: Description, results: int, layout: Layout, *parameters: Value) -> tuple[Value, ...]:
    """Run the description on one board at a time, from the index that is the last parameter down to 0.

    If lanes can be masked, no board remains.
    """
    *arrays, index = parameters
    if layout.masked:
        return (Value("done", (index,)),)
    return (Value("done", (down(_lane_by_lane(describe, results, 1, 1, arrays), 1, index),)),)


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
