"""Arrays of boards: a routine of boards run over n of them, as many at once as a register has lanes, then one by one.

They are done from the last one down, so that what counts them is where they lie, and its sign tells of the end. Each
round reads all its boards before it writes, so a single result may be one of the inputs; arrays that overlap otherwise
may not be given. Any n, any alignment.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

from setwise.codegen.describe.control import SIGN, below, while_
from setwise.codegen.describe.description import InTurn
from setwise.codegen.describe.layout import Layout
from setwise.codegen.describe.routine import Description, Parameter, Routine
from setwise.codegen.describe.values import Value, load, store
from setwise.codegen.targets import ALL_SETS

COUNT = Parameter("n", "count")


@cache
def on_arrays(routine: Routine) -> Routine:
    """A routine of boards over n of them, an array a parameter and an array a result; in vectors lanes are boards."""

    count = len(routine.contract.results)
    rest = partial(one_by_one, routine.descriptions[0], count)
    inputs = tuple(p for p in routine.contract.parameters if p.kind != "results")
    results = routine.contract.results if len(routine.contract.results) > 1 else ("result",)
    arrays = tuple(Parameter(name, "boards") for name in (*(p.name for p in inputs), *results))
    return replace(
        routine,
        form=routine.form if routine.direction else f"{routine.form}.batch".lstrip("."),
        direction=f"{routine.direction}.batch" if routine.direction else "",
        contract=replace(routine.contract, parameters=(*arrays, COUNT), elements=inputs),
        descriptions=tuple(InTurn((partial(in_lanes, describe, count), rest)) for describe in routine.descriptions),
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
        index = _down(describe, results, layout.lanes, arrays, index) + (layout.lanes - 1)
    return (index,)


def one_by_one(describe: Description, results: int, _: Layout, *parameters: Value) -> tuple[Value, ...]:
    """The description for one board after the other, from an index on, which is the last parameter."""
    *arrays, index = parameters
    return (Value("done", (_down(describe, results, 1, arrays, index),)),)


def _down(describe: Description, results: int, lanes: int, arrays: list[Value], index: Value) -> Value:
    """`index` is where the next round begins, and below 0 where none is left; so is what comes back."""
    inputs, written = arrays[:-results], arrays[-results:]

    def boards_at(index: Value) -> tuple[Value, ...]:
        boards = (load(pointer, index, lanes) for pointer in inputs)
        made = describe(Layout(lanes, boards=True), *boards)
        writes = [store(array, index, board) for array, board in zip(written, made, strict=True)]
        index -= lanes
        return index, *writes

    (index,) = while_(lambda index: below(index, SIGN), boards_at, index)
    return index
