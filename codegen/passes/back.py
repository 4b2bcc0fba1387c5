"""A fill that goes back begins with what the fill against it has after a step.

`x = g | q & g << n` and `y = g | p & g >> n` both shift `g`, which takes a move. From `x` comes back what does from `g`
and, beyond that, only squares of `g`, which `y` has: `y = g | p & x >> n`. Where nobody reads `x` after that, the move
goes. But `x` lives until then, and values may crowd: so it is tried besides.
"""

from __future__ import annotations

from functools import lru_cache

from setwise.codegen.describe.graph import Graph, rewrite
from setwise.codegen.describe.values import Value
from setwise.codegen.passes.unit import AGAIN, Unit


@lru_cache(AGAIN)
def shifted_back(graph: Graph) -> Graph:
    """The graph with fills to the right from what those to the left have by then."""
    uses = graph.users
    there: dict[tuple[Value, int], Value] = {}

    def rule(value: Value, old: Value) -> Value:
        if value.lanes > 1:
            return value
        for (begun, run), old_run in zip((value.args, value.args[::-1]), old.args[::-1], strict=True):
            for shift in run.args if run.op == "and" else ():
                if shift.op not in ("shl", "shr") or shift.args[0] is not begun:
                    continue
                key = begun, shift.count
                if shift.op == "shl":
                    there.setdefault(key, value)
                elif key in there and len(uses[old_run]) == 1:
                    back = Value("shr", (there[key],), (shift.count,))
                    return value.on((begun, run.on(tuple(back if arg is shift else arg for arg in run.args))))
        return value

    return rewrite(graph, rule, operations=("or",))


def back(unit: Unit) -> Unit:
    """The pass, where a shift overwrites the board that it shifts."""
    return unit if unit.routine.literal or unit.target.has("loose-shl", 1) else unit.each(shifted_back)
