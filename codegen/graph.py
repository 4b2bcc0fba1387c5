"""The graph of a traced description, and how passes walk and rewrite it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from codegen.expr import Condition, Region, Value


@dataclass(frozen=True, slots=True)
class Graph:
    """A description traced: its parameters and what it returns, all else hangs on these."""

    parameters: tuple[Value, ...]
    results: tuple[Value, ...]


def dependencies(value: Value) -> tuple[Value, ...]:
    """What must be known before `value`: its arguments; for a region's result all that the region reads and makes."""
    if value.region is None:
        return value.args
    region = value.region
    outside = (*region.inits, *((region.index,) if region.index is not None else ()))
    asked = (region.condition.value,) if region.condition is not None else ()
    made = tuple(v for body in zip(region.bodies, region.effects, strict=True) for part in body for v in part)
    return (*outside, *asked, *made) if region.kind == "when" else (*outside, *made, *asked)


def postorder(results: Iterable[Value]) -> list[Value]:
    """Every value below `results`, each after what it depends on, in the order in which the description made them."""
    seen: set[Value] = set()
    order: list[Value] = []
    for root in results:
        stack: list[tuple[Value, int]] = [(root, 0)]
        while stack:
            value, at = stack.pop()
            if value in seen:
                continue
            below = dependencies(value)
            if at < len(below):
                stack.append((value, at + 1))
                if below[at] not in seen:
                    stack.append((below[at], 0))
            else:
                seen.add(value)
                order.append(value)
    return order


def users(results: Iterable[Value]) -> dict[Value, list[Value]]:
    """For every value the values that take it as an argument (regions count through their results)."""
    found: dict[Value, list[Value]] = {}
    for value in postorder(results):
        found.setdefault(value, [])
        for below in dependencies(value):
            found.setdefault(below, []).append(value)
    return found


def rewrite(
    graph: Graph,
    rule: Callable[[Value, Value], Value],
    region_rule: Callable[[Region], Region] = lambda region: region,
) -> Graph:
    """The graph with `rule` applied to every value, arguments first, and `region_rule` to every region.

    `rule` sees a value with its new arguments, and as it was before; `region_rule` sees a region with its new values.
    """
    new: dict[Value, Value] = {}
    regions: dict[Region, Region] = {}

    def region_of(old: Region) -> Region:
        if old not in regions:
            asked = old.condition
            regions[old] = region_rule(
                replace(
                    old,
                    inits=tuple(new[v] for v in old.inits),
                    bodies=tuple(tuple(new[v] for v in body) for body in old.bodies),
                    effects=tuple(tuple(new[v] for v in body) for body in old.effects),
                    condition=Condition(asked.kind, new[asked.value], asked.bound) if asked is not None else None,
                    index=new[old.index] if old.index is not None else None,
                )
            )
        return regions[old]

    for value in postorder((*graph.parameters, *graph.results)):
        if value.region is not None:
            new[value] = replace(value, region=region_of(value.region))
        elif any(new[arg] is not arg for arg in value.args):
            new[value] = rule(replace(value, args=tuple(new[arg] for arg in value.args)), value)
        else:
            new[value] = rule(value, value)
    return Graph(tuple(new[p] for p in graph.parameters), tuple(new[r] for r in graph.results))


def shape(graph: Graph) -> tuple[Any, ...]:
    """What two graphs that describe the same code have in common."""
    number = {value: i for i, value in enumerate(postorder((*graph.parameters, *graph.results)))}
    return tuple((v.op, *(number[below] for below in dependencies(v)), repr(v.attr), v.keeps) for v in number)
