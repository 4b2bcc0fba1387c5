"""A fill that goes back begins with what the fill against it has after a step.

`x = g | q & g << n` and `y = g | p & g >> n` both shift `g`, which takes a move. From `x` comes back what does from `g`
and, beyond that, only squares of `g`, which `y` has: `y = g | p & x >> n`. Where nobody reads `x` after that, the move
goes, whichever of the two the description has first. But `x` lives until then, and values may crowd: so it is tried
besides.
"""

from __future__ import annotations

from setwise.codegen.describe.graph import Graph, dependencies, rewrite
from setwise.codegen.describe.values import Value
from setwise.codegen.passes.code_motion import bodies_around
from setwise.codegen.passes.state import State


def share_opposite_fill(graph: Graph) -> Graph:
    """The graph with fills to the right from what those to the left have, where that needs none of the former."""
    uses = graph.users
    there: dict[tuple[Value, int], Value] = {}
    fills: dict[Value, tuple[int, int]] = {}
    """Those to the right, with the places of the run among the arguments and of the shift among the run's."""
    for value in graph.order:
        for at, run in enumerate(value.args) if value.op == "or" and value.lanes == 1 else ():
            for to, shift in enumerate(run.args) if run.op == "and" else ():
                if shift.op in ("shl", "shr") and shift.args[0] is value.args[1 - at]:
                    if shift.op == "shl":
                        there.setdefault((shift.args[0], shift.count), value)
                    elif len(uses[run]) == 1:
                        fills.setdefault(value, (at, to))
    if not there or not fills:
        return graph
    behind = set(fills)
    """They, and what needs one of them."""
    for value in graph.order:
        if not behind.isdisjoint(dependencies(value)):
            behind.add(value)
    inside = bodies_around(graph.order)

    def rule(value: Value, old: Value) -> Value:
        if old not in fills:
            return value
        at, to = fills[old]
        begun, run = value.args[1 - at], value.args[at]
        shift = old.args[at].args[to]
        other = there.get((shift.args[0], shift.count))
        if other is None or other in behind or not inside[other] <= inside[old]:
            return value
        back = Value("shr", (other,), shift.attr)
        return value.on((begun, run.on((run.args[1 - to], back) if to else (back, run.args[1 - to]))))

    return rewrite(graph, rule, operations=("or",))


def share_opposite_fill_pass(state: State) -> State:
    """The pass, where a shift overwrites the board that it shifts."""
    return state if state.routine.literal or state.target.has("loose-shl", 1) else state.each(share_opposite_fill)
