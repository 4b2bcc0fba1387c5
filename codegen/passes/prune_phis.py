"""Prune the phis of regions: dead and invariant carried values."""

from dataclasses import replace

from setwise.codegen.ir.graph import Graph, rewrite
from setwise.codegen.ir.values import Region, Value

Owner = tuple[Region, int, int]
"""The owner of a phi: its region, the number of its body, and its number among the region's carried values."""


def prune_phis(graph: Graph) -> Graph:
    """Drop carried values that are dead or that no body changes.

    A next value that nothing reads is replaced by the phi: the body then passes the carried value through unchanged.
    """
    regions = {value.region: None for value in graph.order if value.region is not None}
    if not regions:
        return graph
    owners = {
        phi: (region, number, at)
        for region in regions
        for number, phis in enumerate(region.phis)
        for at, phi in enumerate(phis)
    }
    places, changed = _read(graph, owners)
    unread = {phi for phi, (region, number, at) in owners.items() if region.bodies[number][at] is not phi} - changed
    stays = {phi for phi, (region, _, at) in owners.items() if _stays(region, at, unread)}
    carried = {phi for phi, (region, _, at) in owners.items() if (region, at) in places} - stays
    if carried == owners.keys() and not unread:
        return graph
    new: dict[Value, Value] = {}

    def rule(value: Value, old: Value) -> Value:
        made = value
        if old.region is not None:
            phi = old.region.phis[0][old.attr]
            before = [other for other in old.region.phis[0][: old.attr] if other in carried]
            made = new[old.region.inits[old.attr]] if phi in stays else replace(value, attr=len(before))
        elif old in stays:
            region, _, at = owners[old]
            made = new[region.inits[at]]
        new[old] = made
        return made

    def region_rule(region: Region) -> Region:
        kept = [at for at, phi in enumerate(region.phis[0]) if phi in carried]
        return replace(
            region,
            inits=tuple(region.inits[at] for at in kept),
            phis=tuple(tuple(phis[at] for at in kept) for phis in region.phis),
            bodies=tuple(
                tuple(phis[at] if phis[at] in unread else body[at] for at in kept)
                for phis, body in zip(region.phis, region.bodies, strict=True)
            ),
        )

    return rewrite(graph, rule, region_rule)


def _stays(region: Region, at: int, unread: set[Value]) -> bool:
    """Return whether in each body the next value of carried value number `at` is its phi, or is unread.

    A region that writes memory keeps its results, by which the graph refers to it.
    """
    pairs = zip(region.bodies, region.phis, strict=True)
    return not any(region.effects) and all(body[at] is phis[at] or phis[at] in unread for body, phis in pairs)


def _read(graph: Graph, owners: dict[Value, Owner]) -> tuple[set[tuple[Region, int]], set[Value]]:
    """Return two sets: the live carried values, as region and number, and the phis whose next values are live."""
    places: set[tuple[Region, int]] = set()
    left: set[Value] = set()
    seen: set[Value] = set()
    waiting = [*graph.results]
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        if value in owners:
            region, number, at = owners[value]
            before = _before(region, number)
        elif value.region is not None:
            region, at = value.region, int(value.attr)
            before = range(len(region.bodies))[-1 if region.falls else 0 :]
        else:
            waiting += value.args
            continue
        waiting += (*region.tested, *(write for writes in region.effects for write in writes))
        waiting += () if region.index is None else (region.index,)
        places.add((region, at))
        left.update(region.phis[body][at] for body in before)
        waiting += (region.inits[at], *(region.bodies[body][at] for body in before))
    return places, left


def _before(region: Region, number: int) -> range:
    """Return the numbers of the bodies that may run directly before body `number`, not counting the region's entry."""
    if region.kind == "loop":
        return range(1)
    return range(max(0, number - 1), number) if region.falls else range(0)
