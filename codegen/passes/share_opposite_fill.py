"""Reuse the opposite fill: take the first step of a right fill from that of the left fill of the same board.

`x = g | q & g << n` and `y = g | p & g >> n` both shift `g`, which takes a copy. `x >> n` has the squares of `g >> n`,
and beyond them only squares of `g`, which `y` has anyway: `y = g | p & x >> n`. If that is the last use of `x`, the
copy is saved. But `x` lives until then, so the pass is optional.
"""

from setwise.codegen.ir.graph import Graph, dependencies, rewrite
from setwise.codegen.ir.values import Value
from setwise.codegen.passes.code_motion import bodies_around
from setwise.codegen.passes.state import State


def share_opposite_fill(graph: Graph) -> Graph:
    """Compute the first step of right fills as `x >> n`, from left fills that depend on no right fill."""
    uses = graph.users
    there: dict[tuple[Value, int], Value] = {}
    fills: dict[Value, tuple[int, int]] = {}
    """The right fills: the positions of `p & g >> n` among the arguments of `y`, and of `g >> n` among its own."""
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
    """The right fills, and all values that depend on one of them."""
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
    """Reuse opposite fills, unless the routine is verbatim or the target has a three-operand rotate."""
    return state if state.routine.verbatim or state.target.has("shl-or-rotl", 1) else state.each(share_opposite_fill)
