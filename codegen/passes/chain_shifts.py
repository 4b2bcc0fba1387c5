"""Strength reduction of left shifts: compute a shift from a shift of the same board by 1 to 3 bits less.

`p << 9` is `lea` of `p << 7` times 4, which saves the copy before a shift on targets without a three-operand rotate.
The shorter shift then lives longer. So the passes are optional: one is for shifts of runs, one for all left shifts.
"""

from setwise.codegen.ir.graph import Graph, rewrite
from setwise.codegen.ir.values import Value, same
from setwise.codegen.passes.state import State


def _shifted_on(state: State, *, runs_only: bool) -> State:
    """Apply `chain_shifts` to each stage, unless the routine is verbatim or the target has a three-operand rotate."""
    if state.routine.verbatim or state.target.has("shl-or-rotl", 1):
        return state
    return state.each(lambda graph: chain_shifts(graph, runs_only=runs_only))


def chain_shifts(graph: Graph, *, runs_only: bool) -> Graph:
    """Compute one-lane left shifts (`runs_only`: of runs) from the longest shift of the board by 1 to 3 bits less."""
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
    """Compute left shifts of runs from shorter ones: shifts of a board that all users intersect with that board."""
    return _shifted_on(state, runs_only=True)


def chain_shifts_pass(state: State) -> State:
    """Compute left shifts, of runs or not, from shorter ones. Return the state if `chain_runs_pass` changes nothing."""
    return state if same(chain_runs_pass(state).graphs, state.graphs) else _shifted_on(state, runs_only=False)
