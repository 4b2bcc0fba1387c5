"""From the graph to an order: which block each value is made in, and when."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import takewhile

from setwise.codegen.describe.graph import Graph, dependencies, postorder
from setwise.codegen.describe.values import Region, Value
from setwise.codegen.passes.state import Block, RegionBlock, State

LATELY = 64
"""How many graphs' blocks are kept: what a graph promises is asked before it is put in order for each convention."""

Body = tuple[Region, int]
"""A region, and the number of one of its bodies."""

Home = tuple[Body, ...]
"""Where a block lies: the bodies around it, outermost first."""

_LEAVES = frozenset({"const", "param", "phi", "place"})
"""What no instruction makes."""


@lru_cache(LATELY)
def place_values(graph: Graph) -> Block:
    """Values go as far inward as their uses allow, so that a branch not taken costs nothing, but not into a loop.

    Within a block the description's own order stays.
    """
    order = graph.order
    if all(value.region is None for value in order):  # all lies in one block
        return Block(tuple([value for value in order if value.op not in _LEAVES]))
    results = {v.region: [r for r in order if r.region is v.region] for v in order if v.region is not None}
    placing = _Placing(_homes(graph, order, bodies_around(order)), results)
    items: list[Value | RegionBlock] = []
    for result in graph.results:
        placing.emit(result, (), items)
    return Block(tuple(items))


class _Placing:
    """The blocks of a graph as they fill. `homes` says where each value lies, `results` what each region has."""

    def __init__(self, homes: dict[Value, Home], results: dict[Region, list[Value]]) -> None:
        self.homes = homes
        self.results = results
        self.done: set[Value] = set()

    def emit(self, value: Value, home: Home, items: list[Value | RegionBlock]) -> None:
        """Make all that `value` depends on and that belongs into this block, then the value."""
        homes, done = self.homes, self.done
        for below in postorder((value,), done):
            if below.op in _LEAVES or homes.get(below) != home:
                continue
            done.add(below)
            if below.region is None:
                items.append(below)
                continue
            region = below.region
            done.update(self.results[region])
            bodies = []
            for number, body in enumerate(region.bodies):
                inner: list[Value | RegionBlock] = []
                asked = region.asked if region.kind == "loop" else ()
                for following in (*region.effects[number], *body, *asked):
                    self.emit(following, (*home, (region, number)), inner)
                bodies.append(Block(tuple(inner)))
            items.append(RegionBlock(region, tuple(bodies), tuple(self.results[region])))


def bodies_around(order: tuple[Value, ...]) -> dict[Value, frozenset[Body]]:
    """Return the bodies whose phis each value depends on: it can be made only inside them."""
    bodies = {v.region: [(v.region, n) for n in range(len(v.region.bodies))] for v in order if v.region is not None}
    owner = {phi: body for region, all_ in bodies.items() for body in all_ for phi in region.phis[body[1]]}
    around: dict[Value, frozenset[Body]] = {}
    for value in order:
        inside: frozenset[Body] = frozenset({owner[value]} if value in owner else ())
        for below in dependencies(value):
            inside |= around[below]
        around[value] = inside if value.region is None else inside.difference(bodies[value.region])
    return around


def _homes(graph: Graph, order: tuple[Value, ...], needs: dict[Value, frozenset[Body]]) -> dict[Value, Home]:
    wanted: dict[Value, Home] = dict.fromkeys(graph.results, ())

    def use(value: Value, home: Home) -> None:
        wanted[value] = _common(wanted[value], home) if value in wanted else home

    first: dict[Region, Value] = {}
    for value in order:
        if value.region is not None:
            first.setdefault(value.region, value)
    homes: dict[Value, Home] = {}
    for value in reversed(order):
        if value.region is not None and first[value.region] is not value:
            # All results of a region lie where the region lies: the first one, seen last, decides.
            use(first[value.region], wanted.get(value, ()))
            continue
        home = _out_of_loops(wanted.get(value, ()), needs[value])
        homes[value] = home
        if value.region is None:
            for arg in value.args:
                use(arg, home)
            continue
        region = value.region
        for below in region.outside:
            use(below, home)
        for asked in region.asked:
            use(asked, home if region.kind == "when" else (*home, (region, 0)))
        for number, body in enumerate(region.bodies):
            for following in (*body, *region.effects[number]):
                use(following, (*home, (region, number)))
    return homes


def _common(left: Home, right: Home) -> Home:
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    return tuple(body for body, _ in alike)


def _out_of_loops(home: Home, needed: frozenset[Body]) -> Home:
    """The innermost block around `home` that is in no loop the value does not depend on."""
    for depth, (region, _) in enumerate(home):
        if region.kind == "loop" and not needed.intersection(home[depth:]):
            return home[:depth]
    return home


def code_motion_pass(state: State) -> State:
    """The pass: the graph's values in blocks."""
    return replace(state, block=place_values(state.graph))
