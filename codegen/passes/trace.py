"""Trace a description: run it on traced parameters, which yields its graph, or those of its stages."""

from dataclasses import replace
from functools import lru_cache
from itertools import accumulate

from setwise.codegen.ir.description import Composition
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.operations import WRITES
from setwise.codegen.ir.ranges import ValueRanges
from setwise.codegen.ir.routine import Description, Routine
from setwise.codegen.ir.values import ALL, Value, parameter, reshaped
from setwise.codegen.passes.code_motion import bodies_around
from setwise.codegen.passes.state import State
from setwise.codegen.targets.table import Refused, refusal

MOST = 4096
"""The most values in the graph of a routine, constants and parameters included."""

CACHED_GRAPHS = 8  # several descriptions of a routine may end in the same stage


def trace_pass(state: State) -> State:
    """Trace the description. Results are stored through the last parameter if that is a pointer to results.

    Raises Refused unless there is one result or such a pointer, for a value used outside the region or routine that
    computes it, and for a graph of more than MOST values (stages are not limited).
    """
    describe = state.describe
    if isinstance(describe, Composition) and state.layout.lanes > 1:
        *before, last = describe.stages
        stages = [_stage(state.routine, state.layout, stage) for stage in before]
        graph = _whole(state.routine, state.layout, last)
        if not any(map(_has_tables, (*stages, graph))):
            return replace(state, before=tuple(stages), graph=graph)
    graph = _whole(state.routine, state.layout, describe)
    if len(graph.order) > MOST:
        raise Refused(f"{state.routine.name} has more than {MOST:,} operations: divide it into several routines")
    return replace(state, graph=graph)


def _has_tables(graph: Graph) -> bool:
    """Return whether a graph has tables or switches, whose labels selection numbers over the whole routine."""
    return any(v.op == "table" or (v.region is not None and v.region.index is not None) for v in graph.order)


def _parameters(routine: Routine, layout: Layout) -> tuple[Value, ...]:
    contract, boards = routine.contract, layout.lanes if layout.batched else 1
    return tuple(
        parameter(i, 1 if p.scalar else boards, contract.numbering.all if p.on_squares else ALL)
        for i, p in enumerate(contract.parameters)
    )


def _stage(routine: Routine, layout: Layout, describe: Description) -> Graph:
    """Return the graph of a stage that others follow."""
    values = _parameters(routine, layout)
    graph = Graph(values, describe(layout, *values))
    _stays_inside(routine, graph)
    return graph


@lru_cache(CACHED_GRAPHS)
def _whole(routine: Routine, layout: Layout, describe: Description) -> Graph:
    """Return the graph of a whole description, or of its last stage, which several descriptions may share."""
    values = _parameters(routine, layout)
    boards = layout.lanes if layout.batched else 1
    # If the lanes hold several boards, each result of one lane is broadcast to all of them.
    results = tuple(
        result if result.lanes > 1 or boards == 1 or result.op in WRITES else reshaped("broadcast", result, boards)
        for result in describe(layout, *values)
    )
    parameters = routine.contract.parameters
    if parameters and parameters[-1].kind == "results":
        starts = accumulate((8 * result.lanes for result in results), initial=0)
        behind = zip(results, starts, strict=False)
        results = tuple(Value("put", (values[-1], result), at, result.lanes) for result, at in behind)
    elif len(results) != 1:
        name = routine.name
        raise Refused(
            f"{name} gives {len(results)} results, not one: for several let the last parameter be their address"
        )
    graph = Graph(values, results)
    _stays_inside(routine, graph)
    return graph


def _stays_inside(routine: Routine, graph: Graph) -> None:
    """Raise Refused for a use of a value outside the body that computes it, or of another routine's parameter.

    For a user's routine also raise it for a table or switch whose index may be too large. Requirements do not count,
    because a call that violates them must not read or jump to arbitrary memory.
    """
    if {value for value in graph.order if value.op == "param"} - {*graph.parameters}:
        raise Refused(f"{routine.name} uses a value of another routine's description: make it a parameter")
    regions = dict.fromkeys(value.region for value in graph.order if value.region is not None)
    phis = {phi for region in regions for phis in region.phis for phi in phis}
    around = bodies_around(graph.order)
    leaks = [value for value in graph.order if value.op == "phi" and value not in phis]
    leaks += [result for result in graph.results if around[result]]
    for region in regions:
        inside, outside = (region.tested, ()) if region.kind == "loop" else ((), region.tested)
        parts = [(*body, *region.effects[at], *inside) for at, body in enumerate(region.bodies)]
        for at, values in enumerate((*parts, (*region.outside, *outside))):
            leaks += [value for value in values if any(other is region and body != at for other, body in around[value])]
    if leaks:
        what = "a value is used outside the loop, when or switch that computes it"
        what += ": give it a start value and return it there"
        raise refusal(leaks[0], what, f"{routine.name}: ")
    if ":" in routine.name:
        _chooses_among(routine, graph)


def _chooses_among(routine: Routine, graph: Graph) -> None:
    """Raise Refused for an index of a table or switch that is not known to be small enough."""
    pairs = zip(graph.parameters, routine.contract.parameters, strict=True)
    ranges = ValueRanges(graph, {value: (0, parameter.below - 1) for value, parameter in pairs if parameter.below})
    for value in graph.order:
        index = value.args[0] if value.op == "table" else value.region.index if value.region else None
        if index is None:
            continue
        entries, (_, most) = len(value.region.bodies if value.region else value.attr[0]), ranges[index]
        if most >= entries:
            what = f"the index of a {'switch' if value.region else 'table'} of {entries}"
            what += f" may be {most if most < ALL else 'any number'}"
            bound = f"Annotated[Number, Bound({entries})]"
            raise refusal(value, f"{what}: mask it, add entries, or state its bound by {bound}", f"{routine.name}: ")
