"""A shift goes on from a nearer one of the same board: an address by 1 to 3, where no rotate leaves the board as it is.

`p << 9` is `lea` of `p << 7` times 4, which spares the move before a shift. But the nearer one must be there, and then
values may crowd: so it is tried besides, for the runs of an axis alone and for all shifts.
"""

from __future__ import annotations

from setwise.codegen.describe.graph import Graph, rewrite
from setwise.codegen.describe.values import Value, same
from setwise.codegen.passes.state import State


def _shifted_on(state: State, *, runs_only: bool) -> State:
    """The state with shifts from the nearest ones, where a shift overwrites the board that it shifts."""
    if state.routine.literal or state.target.has("loose-shl", 1):
        return state
    return state.each(lambda graph: chain_shifts(graph, runs_only=runs_only))


def chain_shifts(graph: Graph, *, runs_only: bool) -> Graph:
    """The graph with every shift from the nearest one, or every shift that is intersected with the board itself."""
    uses = graph.users
    counts: dict[Value, set[int]] = {}
    for value in graph.order:
        if value.op == "shl" and value.lanes == 1:
            counts.setdefault(value.args[0], set()).add(value.count)
    made: dict[tuple[Value, int], Value] = {}

    def rule(value: Value, old: Value) -> Value:
        if value.lanes > 1:
            return value
        board, n = value.args[0], value.count
        if not runs_only or all(user.op == "and" and old.args[0] in {*user.args} for user in uses[old]):
            near = max((near for near in counts[old.args[0]] if n - 3 <= near < n), default=None)
            if near is not None:
                begun = made.setdefault((board, near), Value("shl", (board,), (near,)))
                value = Value("shl", (begun,), (n - near,))
        return made.setdefault((board, n), value)

    return rewrite(graph, rule, operations=("shl",))


def chain_runs_pass(state: State) -> State:
    """The pass for shifts that are intersected with the board itself."""
    return _shifted_on(state, runs_only=True)


def chain_shifts_pass(state: State) -> State:
    """The pass for all shifts, where those of runs are among them."""
    return state if same(chain_runs_pass(state).graphs, state.graphs) else _shifted_on(state, runs_only=False)
