"""A board within two masks is the intersection of the board within each, where both are there.

`x & (A & B)` overwrites `x & A` or `x & B`, where one has its last use there, and leaves `x` to another, which spares a
move. But both live until then, and values may crowd: so it is tried besides, of the best form.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from operator import and_

from setwise.codegen.describe.graph import Graph, rewrite
from setwise.codegen.describe.values import Lanes, Value, constant
from setwise.codegen.passes.state import State


def split_masks(graph: Graph) -> Graph:
    """The graph with boards of one lane within two masks from those within one."""
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
    """The pass: values want an order again behind it."""
    graph = state.selected if state.routine.literal else split_masks(state.selected)
    return state if graph is state.selected else replace(state, selected=graph, graph=graph)
