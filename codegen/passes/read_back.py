"""Read results back from memory for their union: `or union, [results+8]` instead of a register that keeps a result.

A result is stored as soon as it is computed. If the union waits until all results are stored, it takes no register
before. Where registers suffice it is no shorter, so the pass is a refinement that is tried on the best form.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from operator import or_

from setwise.codegen.ir.graph import Graph, rewrite
from setwise.codegen.ir.values import Value
from setwise.codegen.passes.state import State
from setwise.codegen.targets.table import Target

MOST_RESULTS = 8
"""The most results of a union that are tried as the one that stays in a register."""


def read_back(graph: Graph, target: Target, keeps: int) -> Graph:
    """Take the one-lane results among the operands of a union from memory, all but number `keeps` of them."""
    stores = {value.args[1]: value for value in graph.results if value.op == "put" and value.lanes == 1}
    if keeps >= len(stores):
        return graph
    users = graph.users
    again: dict[Value, Value] = {}
    """The new store of each old one."""

    def is_inner(value: Value) -> bool:
        return value.op == "or" and [user.op for user in users[value]] == ["or"]

    def operands(new: Value, old: Value) -> Iterator[tuple[Value, Value]]:
        """Yield the operands of a union, and of the unions within it that have no other user: the new and the old."""
        pending = [(new, old)]
        while pending:
            each, before = pending.pop()
            if before is old or is_inner(before):
                pending += [*zip(each.args, before.args, strict=True)][::-1]
            elif before.op == "place":
                yield each.args[1].args[1], before.args[1].args[1]
            else:
                yield each, before

    def rule(value: Value, old: Value) -> Value:
        if old.op == "put":
            return again.setdefault(old, value)
        if is_inner(old) or value.lanes > 1 or not all("b" in row.folds for row in target.rows_for(old)):
            return value
        united = dict(operands(value, old))
        read = {each: stores[before] for each, before in united.items() if before in stores}
        if len(read) < 2 or keeps >= len(read):
            return value
        del read[[*read][keeps]]
        union = reduce(or_, [each for each in united if each not in read])
        for each, store in read.items():
            store = again.setdefault(store, store.on((store.args[0], each)))
            union = Value("or", (union, Value("place", (store.args[0], store))))
        return union

    return rewrite(graph, rule, operations=("or", "put"))


def read_back_pass(state: State, keeps: int) -> State:
    """Read all results of a union but one back, unless the routine is verbatim. The graph must be scheduled again."""
    graph = state.graph if state.routine.verbatim else read_back(state.graph, state.target, keeps)
    return state if graph is state.graph else replace(state, graph=graph)
