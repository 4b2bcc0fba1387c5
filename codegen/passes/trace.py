"""The description is run on traced parameters: the graph."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

from setwise.codegen.describe.graph import Graph
from setwise.codegen.describe.operations import WRITES
from setwise.codegen.describe.values import Value, parameter, reshaped
from setwise.codegen.passes.unit import Unit
from setwise.codegen.targets.table import Refused


def trace(unit: Unit) -> Unit:
    """The pass: the graph of what the description returns; several results are written behind a pointer.

    Refused for several without one.
    """
    parameters = unit.routine.contract.parameters
    lanes = tuple(unit.layout.lanes if unit.layout.boards and not p.scalar else 1 for p in parameters)
    values = tuple(parameter(i, count) for i, count in enumerate(lanes))
    boards = unit.layout.lanes if unit.layout.boards else 1
    # One number for all boards is given for each of them.
    results = tuple(
        result if result.lanes > 1 or boards == 1 or result.op in WRITES else reshaped("broadcast", result, boards)
        for result in unit.describe(unit.layout, *values)
    )
    if parameters and parameters[-1].kind == "results":
        starts = accumulate((8 * result.lanes for result in results), initial=0)
        behind = zip(results, starts, strict=False)
        results = tuple(Value("put", (values[-1], result), at, result.lanes) for result, at in behind)
    elif len(results) != 1:
        name = unit.routine.name
        raise Refused(
            f"{name} gives {len(results)} results, not one: for several let the last parameter be their address"
        )
    return replace(unit, graph=Graph(values, results))
