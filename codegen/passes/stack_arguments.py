"""Parameters that the convention passes on the stack are read from there, and those that go to all lanes through it."""

from __future__ import annotations

from dataclasses import replace

from setwise.codegen.describe.graph import Graph, rewrite
from setwise.codegen.describe.values import Value
from setwise.codegen.passes.state import State
from setwise.codegen.targets import SCALARS, in_words
from setwise.codegen.targets.table import Refused


def stack_arguments_pass(state: State) -> State:
    """The pass: the graph, where parameters that find no register are read from the stack.

    Where the target asks for it, others that go to all lanes are, too: `stores` puts them there, below the stack
    pointer, as far as the convention keeps that. Refused where vectors find no register.
    """
    parameters = state.graph.parameters
    vectors, registers = sum(p.lanes > 1 for p in parameters), len(state.convention.vector_arguments)
    if vectors > registers:
        raise Refused(
            f"{state.routine.name} takes {vectors} boards in vector registers, and {state.convention.name} has "
            f"{registers} for arguments: use {in_words(SCALARS)}, or take fewer"
        )
    places = state.convention.places([p.lanes for p in parameters])
    stack = ((value, place) for value, place in zip(parameters, places, strict=True) if isinstance(place, int))
    read = {value: Value("argument", (), offset) for value, offset in stack}
    body = rewrite(Graph((), state.graph.results), lambda value, old: read.get(old, value))
    graph = Graph(parameters, body.results)
    if state.target.has("splat-reload", 2) and 8 * len(parameters) <= state.convention.red_zone:
        graph = _through_memory(graph)
    return replace(state, graph=graph)


def _through_memory(graph: Graph) -> Graph:
    """The graph, where parameters in general registers go to all lanes from slots below the stack pointer."""
    slots = {value: -1 - at for at, value in enumerate(graph.parameters)}

    def rule(value: Value, _: Value) -> Value:
        board = value.args[0].args[0] if value.args[0].op == "from-general" else None
        return Value("splat-reload", (), slots[board], value.lanes) if board in slots else value

    return rewrite(graph, rule, operations=("splat",))


def parameter_stores(graph: Graph) -> tuple[Value, ...]:
    """What puts parameters where the graph reads them, by the slots that it reads."""
    slots = sorted({value.count for value in graph.order if value.op == "splat-reload"}, reverse=True)
    return tuple(Value("store", (graph.parameters[-1 - slot],), slot) for slot in slots)
