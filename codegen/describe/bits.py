"""Which bits of a value are surely zero, and which bits anybody looks at."""

from __future__ import annotations

from functools import reduce
from operator import and_

from setwise.codegen.describe.graph import Graph, postorder
from setwise.codegen.describe.values import ALL, Lanes, Value


def known_zero(value: Value, known: dict[Value, Lanes], *, loose: bool = False) -> Lanes:
    """The bits of each lane that are zero whatever the parameters; `known` remembers, arguments are looked up first.

    `loose` allows that any shift may in truth be a rotate: then a shift alone makes no bit zero.

    >>> from setwise.codegen.describe.values import parameter
    >>> [hex(lane) for lane in known_zero(parameter(0) << 4 & 0xFF, {})]
    ['0xffffffffffffff0f']
    """
    if value not in known:
        for each in postorder((value,), known):
            known[each] = _zero(each, known, loose)
    return known[value]


def _zero(value: Value, known: dict[Value, Lanes], loose: bool) -> Lanes:
    if value.op == "const":
        return tuple(~lane & ALL for lane in value.attr)
    if value.op == "table":
        return (reduce(and_, (~entry & ALL for entry in value.attr[0])),)
    operation = value.operation
    if not operation.left and not operation.bitwise:
        return (0,) * value.lanes
    return tuple(
        operation.zeros(lane, count, loose=loose)
        for lane, count in zip(zip(*(known[arg] for arg in value.args), strict=True), _counts(value), strict=True)
    )


def _counts(value: Value) -> Lanes:
    """How far each lane is moved, 0 by operations that move nothing."""
    return value.attr if value.operation.left else (0,) * value.lanes


def demanded(graph: Graph, *, loose: bool = False, known: dict[Value, Lanes] | None = None) -> dict[Value, Lanes]:
    """For every value the bits that some user looks at; the others may be anything.

    >>> from setwise.codegen.describe.values import parameter
    >>> inner = parameter(0) & 0xFFFF
    >>> [hex(lane) for lane in demanded(Graph((), (inner >> 8,)))[inner]]
    ['0xffffffffffffff00']
    """
    known = dict(known or {})
    wanted: dict[Value, Lanes] = {value: (0,) * value.lanes for value in graph.order}

    def ask(value: Value, bits: Lanes) -> None:
        wanted[value] = tuple(a | b for a, b in zip(wanted[value], bits, strict=True))

    for root in graph.results:
        ask(root, (ALL,) * root.lanes)
    for value in reversed(graph.order):
        bits = wanted[value]
        if value.region is not None:
            region = value.region
            for below in (*region.outside, *region.asked, *(v for body in region.bodies for v in body)):
                ask(below, (ALL,) * below.lanes)
        elif value.operation.left or value.operation.bitwise:
            zeros = [known_zero(arg, known, loose=loose) for arg in value.args]
            lanes = tuple(zip(bits, zip(*zeros, strict=True), _counts(value), strict=True))
            for at, arg in enumerate(value.args[:1] if value.operation.left else value.args):
                ask(arg, tuple(value.operation.asked(b, at, lane, count) for b, lane, count in lanes))
        else:
            for arg in value.args:
                ask(arg, (ALL,) * arg.lanes)
    return wanted
