"""Stack arguments: read parameters from the stack if the convention passes them there, or for a broadcast."""

from dataclasses import replace

from setwise.codegen.ir.graph import Graph, rewrite
from setwise.codegen.ir.values import Value
from setwise.codegen.passes.state import State
from setwise.codegen.targets import SCALARS, in_words
from setwise.codegen.targets.table import Refused


def stack_arguments_pass(state: State) -> State:
    """Read parameters without a register from the stack.

    If the target broadcasts from memory and the red zone has room for all parameters, broadcasts of register parameters
    read the red zone, where `parameter_stores` puts them. Raises Refused if a vector parameter has no register.
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
    """Let broadcasts of parameters in general registers read these from slots in the red zone."""
    slots = {value: -1 - at for at, value in enumerate(graph.parameters)}

    def rule(value: Value, _: Value) -> Value:
        board = value.args[0].args[0] if value.args[0].op == "from-general" else None
        return Value("splat-reload", (), slots[board], value.lanes) if board in slots else value

    return rewrite(graph, rule, operations=("splat",))


def parameter_stores(graph: Graph) -> tuple[Value, ...]:
    """Return the stores of parameters to the slots that broadcasts of the graph read."""
    slots = sorted({value.count for value in graph.order if value.op == "splat-reload"}, reverse=True)
    return tuple(Value("store", (graph.parameters[-1 - slot],), slot) for slot in slots)
