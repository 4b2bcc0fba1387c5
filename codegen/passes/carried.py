"""What regions carry: nothing that nobody reads, and nothing that stays as it is."""

from __future__ import annotations

from dataclasses import replace

from setwise.codegen.describe.graph import Graph, rewrite
from setwise.codegen.describe.values import Region, Value


def carry_less(graph: Graph) -> Graph:
    """The graph whose regions carry only what somebody reads in the end or on the way, and what some body changes."""
    regions = {value.region: None for value in graph.order if value.region is not None}
    if not regions:
        return graph
    owners = {phi: (region, at) for region in regions for phis in region.phis for at, phi in enumerate(phis)}
    read = _read(graph, owners)
    stays = {phi for phi, (region, at) in owners.items() if _stays(region, at)}
    carried = {phi for phi, owner in owners.items() if owner in read} - stays
    if carried == owners.keys():
        return graph
    new: dict[Value, Value] = {}

    def rule(value: Value, old: Value) -> Value:
        made = value
        if old.region is not None:
            phi = old.region.phis[0][old.attr]
            before = [other for other in old.region.phis[0][: old.attr] if other in carried]
            made = new[old.region.inits[old.attr]] if phi in stays else replace(value, attr=len(before))
        elif old in stays:
            region, at = owners[old]
            made = new[region.inits[at]]
        new[old] = made
        return made

    def region_rule(region: Region) -> Region:
        kept = [at for at, phi in enumerate(region.phis[0]) if phi in carried]
        return replace(
            region,
            inits=tuple(region.inits[at] for at in kept),
            phis=tuple(tuple(phis[at] for at in kept) for phis in region.phis),
            bodies=tuple(tuple(body[at] for at in kept) for body in region.bodies),
        )

    return rewrite(graph, rule, region_rule)


def _stays(region: Region, at: int) -> bool:
    """Whether every body returns that carried value as it came."""
    return all(body[at] is phis[at] for body, phis in zip(region.bodies, region.phis, strict=True))


def _read(graph: Graph, owners: dict[Value, tuple[Region, int]]) -> set[tuple[Region, int]]:
    """The carried values, by region and place, on which results, conditions or writes depend."""
    read: set[tuple[Region, int]] = set()
    seen: set[Value] = set()
    waiting = [*graph.results]
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        region, at = owners.get(value, (value.region, value.attr))
        if region is None:
            waiting += value.args
            continue
        waiting += (*region.asked, *(write for writes in region.effects for write in writes))
        waiting += () if region.index is None else (region.index,)
        if (region, at) not in read:
            read.add((region, at))
            waiting += (region.inits[at], *(body[at] for body in region.bodies))
    return read
