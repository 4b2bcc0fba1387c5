"""Arrays of boards: a routine of boards run over n of them, as many at once as a register has lanes, then one by one.

Where it also has a description rank by rank, code is offered that first runs that over eight registers of boards.

They are done from the last one down, so that what counts them is where they lie, and its sign tells of the end. Each
round reads all its boards before it writes, so a single result may be one of the inputs; arrays that overlap otherwise
may not be given. Any n, any alignment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

from setwise.codegen.ir.control import SIGN, below, while_
from setwise.codegen.ir.description import InTurn
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.routine import Description, Parameter, Routine
from setwise.codegen.ir.values import Value, load, store
from setwise.codegen.targets import ALL_SETS

COUNT = Parameter("n", "count")


@cache
def on_arrays(routine: Routine, *ways: tuple[str, Description]) -> Routine:
    """A routine of boards over n of them, an array a parameter and an array a result; in vectors lanes are boards."""

    count = len(routine.contract.results)
    rest = partial(one_by_one, routine.descriptions[0], count)
    stages = [(partial(in_lanes, describe, count), rest) for describe in routine.descriptions]
    inputs = tuple(p for p in routine.contract.parameters if p.kind != "results")
    results = routine.contract.results if len(routine.contract.results) > 1 else ("result",)
    arrays = tuple(Parameter(name, "boards") for name in (*(p.name for p in inputs), *results))
    return replace(
        routine,
        form=routine.form if routine.direction else f"{routine.form}.batch".lstrip("."),
        direction=f"{routine.direction}.batch" if routine.direction else "",
        contract=replace(routine.contract, parameters=(*arrays, COUNT), elements=inputs),
        descriptions=tuple(map(InTurn, stages)),
        ways=tuple((name, InTurn((first, *stages[0]))) for name, first in ways),
        summary=f"{routine.summary}, for each of n boards",
        isas=ALL_SETS,
        boards=True,
    )


def in_lanes(describe: Description, results: int, layout: Layout, *parameters: Value) -> tuple[Value, ...]:
    """The description for as many boards at once as there are lanes, where those are several.

    Parameters are the inputs' addresses, those of so many results, and n; what is left begins at the index returned.
    """
    *arrays, count = parameters
    index = count - layout.lanes
    if layout.lanes > 1:
        index = down(_lane_by_lane(describe, results, layout.lanes, arrays), layout.lanes, index) + (layout.lanes - 1)
    return (index,)


def one_by_one(describe: Description, results: int, _: Layout, *parameters: Value) -> tuple[Value, ...]:
    """The description for one board after the other, from an index on, which is the last parameter."""
    *arrays, index = parameters
    return (Value("done", (down(_lane_by_lane(describe, results, 1, arrays), 1, index),)),)


Writes = Callable[[Value], list[Value]]
"""What a round writes that begins at an index."""


def _lane_by_lane(describe: Description, results: int, lanes: int, arrays: list[Value]) -> Writes:
    inputs, written = arrays[:-results], arrays[-results:]

    def writes_at(index: Value) -> list[Value]:
        boards = (load(pointer, index, lanes) for pointer in inputs)
        made = describe(Layout(lanes, boards=True), *boards)
        return [store(array, index, board) for array, board in zip(written, made, strict=True)]

    return writes_at


def down(writes_at: Writes, boards: int, index: Value) -> Value:
    """Rounds of so many boards: `index` is where the next begins, below 0 where none is left; so is what comes back."""

    def round_at(index: Value) -> tuple[Value, ...]:
        writes = writes_at(index)
        index -= boards
        return index, *writes

    (index,) = while_(lambda index: below(index, SIGN), round_at, index)
    return index
