"""Global code motion: assign each value to a block, and order the values of a block."""

from dataclasses import replace
from functools import lru_cache
from itertools import takewhile

from setwise.codegen.ir.graph import Graph, dependencies, postorder
from setwise.codegen.ir.values import Region, Value
from setwise.codegen.passes.state import Block, RegionBlock, State

CACHED_GRAPHS = 64  # the estimate and each convention ask for the same graph

Body = tuple[Region, int]
"""A region, and the number of one of its bodies."""

Home = tuple[Body, ...]
"""The position of a block: the bodies that it is inside, outermost first, its own last; empty outside regions."""

_LEAVES = frozenset({"const", "param", "phi", "place"})
"""Operations that are in no block, since no instruction carries them out."""


@lru_cache(CACHED_GRAPHS)
def place_values(graph: Graph) -> Block:
    """Return the graph as a block. Sink values into branches as far as uses allow, and hoist invariants out of loops.

    Within a block the order is that of a depth-first walk, arguments first.
    """
    order = graph.order
    if all(value.region is None for value in order):  # without regions, one block
        return Block(tuple([value for value in order if value.op not in _LEAVES]))
    results = {v.region: [r for r in order if r.region is v.region] for v in order if v.region is not None}
    placing = _Placing(_homes(graph, order, bodies_around(order)), results)
    items: list[Value | RegionBlock] = []
    for result in graph.results:
        placing.emit(result, (), items)
    return Block(tuple(items))


class _Placing:
    """The blocks of a graph under construction, from the block of each value and the used results of each region."""

    def __init__(self, homes: dict[Value, Home], results: dict[Region, list[Value]]) -> None:
        self.homes = homes
        self.results = results
        self.done: set[Value] = set()

    def emit(self, value: Value, home: Home, items: list[Value | RegionBlock]) -> None:
        """Append to `items` those of a value and its dependencies that belong in block `home` and are not done yet."""
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
                asked = region.tested if region.kind == "loop" else ()
                for following in (*region.effects[number], *body, *asked):
                    self.emit(following, (*home, (region, number)), inner)
                bodies.append(Block(tuple(inner)))
            items.append(RegionBlock(region, tuple(bodies), tuple(self.results[region])))


def bodies_around(order: tuple[Value, ...]) -> dict[Value, frozenset[Body]]:
    """Return for each value the bodies that must contain it, since it depends on their phis."""
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
            # All results of a region are in one block: the first result, visited last, decides.
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
        for asked in region.tested:
            use(asked, home if region.kind == "when" else (*home, (region, 0)))
        for number, body in enumerate(region.bodies):
            for following in (*body, *region.effects[number]):
                use(following, (*home, (region, number)))
    return homes


def _common(left: Home, right: Home) -> Home:
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    return tuple(body for body, _ in alike)


def _out_of_loops(home: Home, needed: frozenset[Body]) -> Home:
    """Return the block around the outermost loop of `home` from which on inward no body is `needed`, else `home`."""
    for depth, (region, _) in enumerate(home):
        if region.kind == "loop" and not needed.intersection(home[depth:]):
            return home[:depth]
    return home


def code_motion_pass(state: State) -> State:
    """Assign the values of the graph to blocks, in order."""
    return replace(state, block=place_values(state.graph))
