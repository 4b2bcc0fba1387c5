"""Selection: every operation of the graph becomes one that the target has a row for, or is refused by name."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from codegen.bits import demanded
from codegen.expr import ALL, COMMUTATIVE, Lanes, Region, Value
from codegen.graph import Graph, postorder, rewrite, users
from codegen.machine import Datum, Label
from codegen.targets.table import Target


class Refused(ValueError):
    """The target has no instruction for an operation; the message names both and what to use instead."""


def select(graph: Graph, target: Target) -> tuple[Graph, tuple[Datum, ...]]:
    """The same graph in the operations of the target, and the tables that it reads."""
    tabled, data = _tables(_canonical(graph))
    fused = _scaled_sum(_complement(tabled, target), target)
    return _checked(_loaded(_loosen(fused, target), target), target), data


def _canonical(graph: Graph) -> Graph:
    """Constants stand second, where instructions take them."""

    def rule(value: Value, _: Value) -> Value:
        if value.op in COMMUTATIVE and value.args[0].constant is not None:
            return Value(value.op, value.args[::-1], value.attr, value.lanes, value.keeps)
        return value

    return rewrite(graph, rule)


def _loosen(graph: Graph, target: Target) -> Graph:
    """A shift may be a rotate where nobody looks at the bits that wrap round."""
    if "loose-shl" not in target.by_operation:
        return graph
    wanted = demanded(graph.results, loose=True)

    def rule(value: Value, old: Value) -> Value:
        if value.op not in ("shl", "shr"):
            return value
        for want, n in zip(wanted[old], value.attr, strict=True):
            wrapped = (1 << n) - 1 if value.op == "shl" else ALL & ~(ALL >> n)
            if want & wrapped:
                return value
        return Value(f"loose-{value.op}", value.args, value.attr, value.lanes, value.keeps)

    return rewrite(graph, rule)


def _complement(graph: Graph, target: Target) -> Graph:
    """and with a complement in one instruction, where the complement has no other use."""
    if "andn" not in target.by_operation:
        return graph
    uses = users(graph.results)

    def rule(value: Value, old: Value) -> Value:
        if value.op == "and":
            for at in (0, 1):
                inverted = value.args[at]
                if inverted.op == "not" and len(uses[old.args[at]]) == 1:
                    return Value("andn", (inverted.args[0], value.args[1 - at]), None, value.lanes)
        return value

    return rewrite(graph, rule)


def _scaled_sum(graph: Graph, target: Target) -> Graph:
    """A sum with a board shifted by 1 to 3, which has no other use, in one address."""
    if "scaled-sum" not in target.by_operation:
        return graph
    uses = users(graph.results)

    def rule(value: Value, old: Value) -> Value:
        if value.op == "add":
            for at in (1, 0):
                shifted, other = value.args[at], value.args[1 - at]
                small = shifted.op == "shl" and 1 <= shifted.attr[0] <= 3
                if small and other.constant is None and len(uses[old.args[at]]) == 1:
                    return Value("scaled-sum", (other, shifted.args[0]), shifted.attr)
        return value

    return rewrite(graph, rule)


def _tables(graph: Graph) -> tuple[Graph, tuple[Datum, ...]]:
    """Table look-ups become an address and an entry; a switch becomes a table of distances and a jump."""
    data: dict[tuple[object, ...], Datum] = {}
    bases: dict[str, Value] = {}

    def address(datum: Datum) -> Value:
        return bases.setdefault(datum.label, Value("address", (), datum.label))

    def rule(value: Value, _: Value) -> Value:
        if value.op == "table":
            numbers, size = value.attr
            datum = data.setdefault((size, *numbers), Datum(f"t{len(data)}", numbers, size, size))
            return Value("entry", (address(datum), value.args[0]), size)
        return value

    numbers = count()

    def region_rule(region: Region) -> Region:
        region = replace(region, name=f"L{next(numbers)}")
        if region.index is None:
            return region
        labels = tuple(Label(f"{region.name}_{body}") for body in range(len(region.bodies)))
        datum = data.setdefault(labels, Datum(f"j{len(data)}", labels, 4, 4))
        base = address(datum)
        distance = Value("distance", (base, region.index), 4)
        return replace(region, index=Value("add", (base, distance), keeps=True))

    graph = rewrite(graph, rule, region_rule)
    return graph, tuple(data.values())


def _loaded(graph: Graph, target: Target) -> Graph:
    """A constant goes into a register where no instruction takes it as it is."""
    loads: dict[Lanes, Value] = {}

    def rule(value: Value, _: Value) -> Value:
        rows = target.rows_for(value)
        args = tuple(
            loads.setdefault(arg.constant, Value("load-constant", (), arg.constant, arg.lanes))
            if rows and arg.constant is not None and not any(row.folds(letter) for row in rows)
            else arg
            for letter, arg in zip("abc", value.args, strict=False)
        )
        return replace(value, args=args) if args != value.args else value

    return rewrite(graph, rule)


def _checked(graph: Graph, target: Target) -> Graph:
    for value in postorder(graph.results):
        if value.op not in ("const", "param", "phi", "result", "copy") and not target.rows_for(value):
            raise Refused(f"{target.name} has no instruction for '{value.op}'")
    return graph
