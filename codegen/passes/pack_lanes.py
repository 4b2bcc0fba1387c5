"""Superword-level parallelism: compute parts of a union that are alike in the lanes of one wider register.

In `left(a) & right(b) | right(a) & left(b)` one fill to the left takes the lanes a and b, one to the right b and a.
More instructions join and fold the lanes, so the pass is optional.
"""

from collections.abc import Sequence
from functools import cache
from itertools import groupby
from typing import Any

from setwise.codegen.ir.graph import Graph, rewrite
from setwise.codegen.ir.layout import Layout, folded
from setwise.codegen.ir.values import CompassRay, Value, concatenated, constant, reshaped
from setwise.codegen.passes.simplify import union_leaves
from setwise.codegen.passes.state import State

Group = tuple[Value, ...]
"""Values that become the lanes of one value."""

MOST_DEPTH = 256
"""The greatest depth of a graph that is packed: packing is recursive."""


def pack_lanes(graph: Graph, layout: Layout) -> Graph:
    """Pack leaves of each union that are computed alike into the layout's lanes. Leave graphs with regions alone."""
    if graph.depth > MOST_DEPTH or any(value.region is not None for value in graph.order):
        return graph
    numbers: dict[Any, int] = {}
    kinds: dict[Value, int] = {}
    """A number for each value, equal for values that are computed alike."""
    args: dict[Value, Sequence[Value]] = {}
    """The arguments of each value, those of a commutative operation by kind."""
    for value in graph.order:
        args[value] = sorted(value.args, key=kinds.__getitem__) if value.operation.commutes else value.args
        ray = _ray(value)
        way = ray and (value.attr[1], layout.both_sides or ray.directions[0].shift > 0)
        key = (value.op, way, *map(kinds.get, args[value])) if _packs(value) else ()
        kinds[value] = numbers.setdefault((value.lanes, key), len(numbers))
    uses, results = graph.users, {*graph.results}
    groups: dict[Value, Group] = {}
    """The leaves that are packed, each with its group. The last becomes the union of all."""
    for leaves in union_leaves(graph).values():
        own = [leaf for leaf in leaves if _packs(leaf) and len(uses[leaf]) == 1 and leaf not in results]
        for alike in (tuple(group) for _, group in groupby(sorted(own, key=kinds.__getitem__), kinds.__getitem__)):
            size = 1 << min(len(alike), layout.lanes // alike[0].lanes).bit_length() - 1
            for group in zip(*[iter(alike)] * size, strict=False) if size > 1 else ():
                groups.update(dict.fromkeys(group, group))
    new: dict[Value, Value] = {}

    @cache
    def packed(group: Group) -> Value:
        """Return the value whose lanes are those of a group, joined if they cannot be computed together."""
        first, lanes = group[0], len(group) * group[0].lanes
        if not _packs(first):
            return concatenated([new[each] for each in group])
        attr = first.attr and tuple(number for each in group for number in each.attr)
        if _ray(first):
            attr = CompassRay(tuple(d for each in group for d in each.attr[0].by_lane(each.lanes))), first.attr[1]
        parts = zip(*(args[each] for each in group), strict=True)
        return Value(first.op, tuple(map(packed, parts)), attr, lanes, first.in_place)

    def rule(value: Value, old: Value) -> Value:
        new[old] = value
        if old not in groups:
            return value
        if old is not groups[old][-1]:
            return constant(0, value.lanes)
        whole = packed(groups[old])
        return folded(whole, value.lanes) if value.lanes > 1 else reshaped("unite", whole)

    return rewrite(graph, rule) if groups else graph


def _ray(value: Value) -> CompassRay | None:
    """Return the ray of a step, run or path with known directions."""
    return value.attr[0] if value.op in ("step", "run", "path") else None


def _packs(value: Value) -> bool:
    """Return whether a value is computed lane by lane, so that it can be packed. Others can only be joined."""
    lanewise = value.operation.bitwise or value.operation.left != 0 or value.op in ("add", "sub", "const")
    return lanewise or _ray(value) is not None


def pack_lanes_pass(state: State) -> State:
    """Pack lanes, unless the routine is verbatim, or registers hold two directions or several boards."""
    packs = state.layout.all_in_lanes and not state.routine.verbatim
    return state.each(lambda graph: pack_lanes(graph, state.layout)) if packs else state
