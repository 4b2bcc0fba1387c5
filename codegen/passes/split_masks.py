"""Split a constant mask in two to save a copy: rewrite `x & (A & B)` as `(x & A) & (x & B)` if both values exist.

The instruction then overwrites `x & A` or `x & B`, and leaves `x` to another user. But both values live until then, so
the pass is a refinement that is tried on the best form.
"""

from dataclasses import replace
from itertools import combinations
from operator import and_

from setwise.codegen.ir.graph import Graph, rewrite
from setwise.codegen.ir.values import Lanes, Value, constant
from setwise.codegen.passes.state import State


def split_masks(graph: Graph) -> Graph:
    """Compute a one-lane `x & (A & B)` from `x & A` and `x & B`, if all three are values of the graph."""
    masks: dict[Value, set[Lanes]] = {}
    for value in graph.order:
        if value.op == "and" and value.lanes == 1 and (mask := value.args[1].constant):
            masks.setdefault(value.args[0], set()).add(mask)
    if all(len(each) < 3 for each in masks.values()):
        return graph
    within: dict[tuple[Value, Lanes], Value] = {}

    def rule(value: Value, old: Value) -> Value:
        board, mask = value.args[0], value.args[1].constant
        if value.lanes > 1 or mask is None:
            return value
        for both in combinations(sorted(masks[old.args[0]] - {mask}), 2):
            if tuple(map(and_, *both)) == mask:
                one, other = (within.setdefault((board, each), board & constant(each)) for each in both)
                return within.setdefault((board, mask), one & other)
        return within.setdefault((board, mask), value)

    return rewrite(graph, rule, operations=("and",))


def split_masks_pass(state: State) -> State:
    """Split masks in the selected graph, unless the routine is verbatim. The graph must then be scheduled again."""
    graph = state.selected if state.routine.verbatim else split_masks(state.selected)
    return state if graph is state.selected else replace(state, selected=graph, graph=graph)
