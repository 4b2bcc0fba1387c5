"""Parameters that the convention passes on the stack are read from there."""

from __future__ import annotations

from dataclasses import replace

from setwise.codegen.describe.graph import Graph, rewrite
from setwise.codegen.describe.values import Value
from setwise.codegen.passes.unit import Unit
from setwise.codegen.targets import SCALARS, in_words
from setwise.codegen.targets.table import Refused


def arguments(unit: Unit) -> Unit:
    """The pass: the graph, where parameters that find no register are read from the stack.

    Refused where vectors find none.
    """
    parameters = unit.graph.parameters
    vectors, registers = sum(p.lanes > 1 for p in parameters), len(unit.convention.vector_arguments)
    if vectors > registers:
        raise Refused(
            f"{unit.routine.name} takes {vectors} boards in vector registers, and {unit.convention.name} has "
            f"{registers} for arguments: use {in_words(SCALARS)}, or take fewer"
        )
    places = unit.convention.places([p.lanes for p in parameters])
    stack = ((value, place) for value, place in zip(parameters, places, strict=True) if isinstance(place, int))
    read = {value: Value("argument", (), offset) for value, offset in stack}
    body = rewrite(Graph((), unit.graph.results), lambda value, old: read.get(old, value))
    return replace(unit, graph=Graph(parameters, body.results))
