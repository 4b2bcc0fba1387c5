"""A shift goes on from a nearer one of the same board: an address by 1 to 3, where no rotate leaves the board as it is.

`p << 9` is `lea` of `p << 7` times 4, which spares the move before a shift. But the nearer one must be there, and then
values may crowd: so it is tried besides, for the runs of an axis alone and for all shifts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from setwise.codegen.describe.graph import Graph, rewrite
from setwise.codegen.describe.values import Value, same
from setwise.codegen.passes.unit import AGAIN, Unit


def _shifted_on(graph: Graph, eligible: Callable[[Value], bool]) -> Graph:
    """The graph with every eligible shift from the nearest one."""
    counts: dict[Value, set[int]] = {}
    for value in graph.order:
        if value.op == "shl" and value.lanes == 1:
            counts.setdefault(value.args[0], set()).add(value.count)
    made: dict[tuple[Value, int], Value] = {}

    def rule(value: Value, old: Value) -> Value:
        if value.lanes > 1:
            return value
        board, n = value.args[0], value.count
        if eligible(old) and (nearer := [near for near in counts[old.args[0]] if n - 3 <= near < n]):
            near = max(nearer)
            begun = made.setdefault((board, near), Value("shl", (board,), (near,)))
            value = Value("shl", (begun,), (n - near,))
        return made.setdefault((board, n), value)

    return rewrite(graph, rule, operations=("shl",))


@lru_cache(AGAIN)
def _runs_shifted_on(graph: Graph) -> Graph:
    uses = graph.users
    return _shifted_on(
        graph, lambda shift: all(user.op == "and" and shift.args[0] in {*user.args} for user in uses[shift])
    )


@lru_cache(AGAIN)
def _all_shifted_on(graph: Graph) -> Graph:
    return _shifted_on(graph, lambda _: True)


def _tried(unit: Unit, rule: Callable[[Graph], Graph]) -> Unit:
    return unit if unit.routine.literal or unit.target.has("loose-shl", 1) else unit.each(rule)


def runs_further(unit: Unit) -> Unit:
    """The pass for shifts that are intersected with the board itself."""
    return _tried(unit, _runs_shifted_on)


def further(unit: Unit) -> Unit:
    """The pass for all shifts, where those of runs are among them."""
    return unit if same(runs_further(unit).graphs, unit.graphs) else _tried(unit, _all_shifted_on)
