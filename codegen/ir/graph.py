"""The graph of a traced description: traversal and rewriting."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import count
from typing import Any

from setwise.codegen.ir.values import Region, Value, same
from setwise.codegen.machine.code import Line

CROSSING = 3
"""Approximate cycles of a transfer between register files."""

_MOVES = frozenset({"step", "run", "path", "shl", "shr"})


@dataclass(frozen=True)
class Graph:
    """A traced description. Its nodes are the parameters, the results, and all values that the results depend on."""

    parameters: tuple[Value, ...]
    results: tuple[Value, ...]

    @cached_property
    def order(self) -> tuple[Value, ...]:
        """All values in topological order, arguments first."""
        return tuple(postorder((*self.parameters, *self.results)))

    @cached_property
    def shifts_scalars(self) -> bool:
        """Whether some one-lane value is a shift by a constant count, a step, a run or a path."""
        return any(value.lanes == 1 and value.op in _MOVES for value in self.order)

    @cached_property
    def operations(self) -> frozenset[str]:
        """The names of all operations in the graph."""
        return frozenset([value.op for value in self.order])

    @property
    def users(self) -> dict[Value, list[Value]]:
        """The users of each value, one per use. Each result of a region uses the `dependencies_of` the region."""
        users: dict[Value, list[Value]] = {value: [] for value in self.order}
        for value in users:
            for below in dependencies(value):
                users[below].append(value)
        return users

    @cached_property
    def depth(self) -> int:
        """The approximate critical path in cycles, with parameters available after one cycle."""
        return self.depth_after(1)

    def depth_after(self, before: int) -> int:
        """Return the approximate critical path in cycles with the last parameter available after `before` cycles."""
        depths: dict[Value, int] = dict.fromkeys(self.parameters[-1:], before)
        for value in self.order:
            if value not in depths:
                depths[value] = depth_of(value, dependencies(value), depths)
        return max([depths[value] for value in self.results])

    @cached_property
    def shape(self) -> tuple[Any, ...]:
        """A key: operation, `attr`, `in_place` and dependencies of every value. Kinds of regions are left out."""
        number = {value: i for i, value in enumerate(self.order)}
        key: list[Any] = []
        for value in number:
            key += value.op, value.attr, value.in_place, None
            key += [number[below] for below in dependencies(value)]
        return tuple(key)


def dependencies(value: Value) -> tuple[Value, ...]:
    """Return the arguments of a value, or for a region's result the `dependencies_of` the region."""
    return value.args if value.region is None else dependencies_of(value.region)


def dependencies_of(region: Region) -> tuple[Value, ...]:
    """Return a region's operands, its bodies' next values and writes, and its tested value, in execution order."""
    made = tuple(v for body in zip(region.bodies, region.effects, strict=True) for part in body for v in part)
    inside = (*region.tested, *made) if region.kind == "when" else (*made, *region.tested)
    return (*region.outside, *inside)


def depth_of(value: Value, below: Iterable[Value], depths: Mapping[Value, int]) -> int:
    """Return the depth in cycles of a value that needs the values `below`, with transfers between register files."""
    deepest = 0
    for each in below:
        crosses = each.file != value.file and each.constant is None
        deepest = max(deepest, depths[each] + CROSSING * crosses)
    return value.operation.cycles + deepest


def postorder(results: Iterable[Value], known: Container[Value] = ()) -> list[Value]:
    """Return the results and all values that they depend on, depth first: arguments from left to right, then the value.

    Values in `known`, and values that only they depend on, are left out.
    """
    order: dict[Value, None] = {}
    opened: set[Value] = set()
    stack = list(results)[::-1]
    while stack:
        value = stack[-1]
        if value not in opened:
            if value in known:
                stack.pop()
                continue
            opened.add(value)
            below = value.args if value.region is None else dependencies_of(value.region)
            # Opened values are already on the stack or in the order: the graph has no cycles.
            for other in below[::-1]:
                if other not in opened and other not in known:
                    stack.append(other)
            if stack[-1] is not value:
                continue
        order[stack.pop()] = None
    return list(order)


def compose(graphs: Sequence[Graph]) -> Graph:
    """Return the composition of graphs: the result of each is the last parameter of the next; they share the others."""
    return reduce(_appended, graphs)


def _appended(before: Graph, graph: Graph) -> Graph:
    given = dict(zip(graph.parameters, (*before.parameters[:-1], *before.results), strict=True))
    numbers = count(len({value.region for value in before.order} - {None}))

    def numbered(region: Region) -> Region:
        return replace(region, name=f"L{next(numbers)}") if region.name else region

    after = rewrite(Graph((), graph.results), lambda value, old: given.get(old, value), numbered)
    return Graph(before.parameters, after.results)


def rewrite(
    graph: Graph,
    rule: Callable[[Value, Value], Value],
    region_rule: Callable[[Region], Region] | None = None,
    operations: Container[str] | None = None,
) -> Graph:
    """Return the graph with `rule` applied to every value, arguments first, and `region_rule` to every region.

    `rule(new, old)` gets a value with its new arguments, and the value before; it returns the replacement, which
    inherits a missing source line. `region_rule` gets a region with its new values. `operations` restricts `rule` to
    values of these operations. Return the same graph if nothing changes.
    """
    if operations is not None and region_rule is None and not any(op in operations for op in graph.operations):
        return graph
    new: dict[Value, Value] = {}
    """The replacement of each changed value."""
    regions: dict[Region, Region] = {}

    def now(values: tuple[Value, ...]) -> tuple[Value, ...]:
        return tuple([new.get(value, value) for value in values])

    def region_of(old: Region) -> Region:
        if old not in regions:
            changed = old.on(now)
            unlike = old if same(dependencies_of(changed), dependencies_of(old)) else changed
            regions[old] = unlike if region_rule is None else region_rule(unlike)
        return regions[old]

    for value in graph.order:
        if value.region is not None:
            region = region_of(value.region)
            renewed = value
            if region is not value.region:
                renewed = Value(value.op, value.args, value.attr, value.lanes, value.in_place, region, value.line)
                if value.line is not None:
                    _inherit_line(value.line, *region.tested, *region.outside[len(region.inits) :])
        else:
            renewed = value
            for arg in value.args if new else ():
                if arg in new:
                    renewed = value.on(now(value.args))
                    break
        made = rule(renewed, value) if operations is None or value.op in operations else renewed
        if made is not value:
            new[value] = made
            if value.line is not None:
                _inherit_line(value.line, made)
    parameters, results = now(graph.parameters), now(graph.results)
    stays = same(parameters, graph.parameters) and same(results, graph.results)
    return graph if stays else Graph(parameters, results)


def cse(graph: Graph) -> Graph:
    """Share common subexpressions. Copies are not shared: each stays a variable of its own."""
    seen: dict[tuple[Any, ...], Value] = {}

    def rule(value: Value, old: Value) -> Value:
        if value.op in ("copy", "phi", "param", "result"):
            return value
        return seen.setdefault((value.op, value.args, value.attr, value.lanes), value)

    return rewrite(graph, rule)


def _inherit_line(line: Line, *made: Value) -> None:
    """Set missing lines of these values, of their arguments and so on, down to values that have a line."""
    unseen, first = [*made], {*made}
    while unseen:
        value = unseen.pop()
        if value.op != "param" and (value.line is None or value in first):
            object.__setattr__(value, "line", value.line or line)
            unseen += value.args
