"""Which bits of a value are surely zero, and which bits anybody looks at."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, reduce
from operator import and_, or_
from types import MappingProxyType

from setwise.codegen.ir.graph import Graph, postorder
from setwise.codegen.ir.operations import operation_named
from setwise.codegen.ir.values import ALL, RESHAPES, Lanes, Value

_ALIKE = 1 << 16
"""How many answers are kept: rays, lanes and forms of a routine ask much alike."""


def known_zero(value: Value, known: dict[Value, Lanes], *, loose: bool = False) -> Lanes:
    """The bits of each lane that are zero whatever the parameters; `known` remembers, arguments are looked up first.

    `loose` allows that any shift may in truth be a rotate: then a shift alone makes no bit zero.

    >>> from setwise.codegen.ir.values import parameter
    >>> [hex(lane) for lane in known_zero(parameter(0) << 4 & 0xFF, {})]
    ['0xffffffffffffff0f']
    """
    if value not in known:
        for below in (value,) if all(arg in known for arg in value.args) else postorder((value,), known):
            known[below] = _zero(below, known, loose)
    return known[value]


def known_zero_along(graph: Graph) -> dict[Value, Lanes]:
    """The same of every value of a graph whose steps, runs and paths still stand."""
    known: dict[Value, Lanes] = {}
    for value in graph.order:
        along = value.op in _OF_RAYS
        known[value] = _zero_along(value, known[value.args[0]]) if along else _zero(value, known, False)
    return known


def _zero(value: Value, known: dict[Value, Lanes], loose: bool) -> Lanes:
    if value.op == "const":
        return tuple(~lane & ALL for lane in value.attr)
    if value.op == "table":
        return (reduce(and_, (~entry & ALL for entry in value.attr[0])),)
    if value.op in RESHAPES:
        lanes = RESHAPES[value.op](tuple(~zero & ALL for zero in known[value.args[0]]), value.lanes)
        # An instruction may leave more lanes than are meant; of those nothing is known.
        return (*(~lane & ALL for lane in lanes), *(0,) * (value.lanes - len(lanes)))
    operation = value.operation
    if not operation.left and not operation.bitwise:
        return (0,) * value.lanes
    return _zeros(value.op, _counts(value), tuple([known[arg] for arg in value.args]), loose)


@lru_cache(_ALIKE)
def _zeros(op: str, counts: Lanes, known: tuple[Lanes, ...], loose: bool) -> Lanes:
    """Lane by lane the bits that are surely zero where those of the arguments are."""
    operation = operation_named(op)
    lanes = zip(zip(*known, strict=True), counts, strict=True)
    return tuple(operation.zeros(lane, count, loose=loose) for lane, count in lanes)


@lru_cache(_ALIKE)
def _asked(op: str, counts: Lanes, wanted: Lanes, known: tuple[Lanes, ...]) -> tuple[Lanes, ...]:
    """For each argument, lane by lane, the bits on which the wanted ones of the result may depend."""
    operation = operation_named(op)
    lanes = tuple(zip(wanted, zip(*known, strict=True), counts, strict=True))
    looked_at = range(1 if operation.left else len(known))
    return tuple(tuple(operation.asked(bits, at, lane, count) for bits, lane, count in lanes) for at in looked_at)


_OF_RAYS = ("step", "run", "path")


def _zero_along(value: Value, zeros: Lanes) -> Lanes:
    """The bits that are zero of what goes along a ray; a path or run may hold ranks that a step empties."""
    ray, n = value.attr
    if ray is None:
        return (0,)
    lanes = tuple(zip(zeros, ray.by_lane(value.lanes), strict=True))
    if value.op == "step":
        return tuple(ALL & ~(_moved(~zero, n * d.shift) & d.reach(n)) for zero, d in lanes)
    return tuple(zero | ALL & ~d.reach_files(max(n, 1)) for zero, d in lanes)


def _asked_along(value: Value, wanted: Lanes) -> Lanes:
    """The bits of the squares that go along a ray on which the wanted bits depend."""
    ray, n = value.attr
    if ray is None:
        return (ALL,)
    lanes = tuple(zip(wanted, ray.by_lane(value.lanes), strict=True))
    if value.op == "step":
        return tuple(_moved(bits & d.reach(n), -n * d.shift) for bits, d in lanes)
    return tuple(
        reduce(or_, (_moved(bits & d.reach_files(max(n, 1)), -back * d.shift) for back in range(max(n, 1))))
        for bits, d in lanes
    )


def _moved(bits: int, left: int) -> int:
    bits &= ALL
    return bits << left & ALL if left >= 0 else bits >> -left


def _counts(value: Value) -> Lanes:
    """How far each lane is moved, 0 by operations that move nothing."""
    return value.attr if value.operation.left else (0,) * value.lanes


def demanded(
    graph: Graph,
    *,
    loose: bool = False,
    known: dict[Value, Lanes] | None = None,
    gone: Mapping[Value, Value] = MappingProxyType({}),
) -> dict[Value, Lanes]:
    """For every value the bits that some user looks at; the others may be anything.

    `known` remembers known zero bits. Each of the values that are `gone` is taken for the argument named with it.

    >>> from setwise.codegen.ir.values import parameter
    >>> inner = parameter(0) & 0xFFFF
    >>> [hex(lane) for lane in demanded(Graph((), (inner >> 8,)))[inner]]
    ['0xffffffffffffff00']
    """
    known = {} if known is None else known
    for value in graph.order:
        if value not in known:
            known[value] = known[gone[value]] if value in gone else _zero(value, known, loose)
    wanted: dict[Value, Lanes] = {value: (0,) * value.lanes for value in graph.order}

    def ask(value: Value, bits: Lanes) -> None:
        before = wanted[value]
        wanted[value] = tuple([a | b for a, b in zip(before, bits, strict=True)]) if any(before) else bits

    for root in graph.results:
        ask(root, (ALL,) * root.lanes)
    for value in reversed(graph.order):
        if value in gone:
            ask(gone[value], wanted[value])
        elif value.region is not None:
            region = value.region
            for below in (*region.outside, *region.asked, *(v for body in region.bodies for v in body)):
                ask(below, (ALL,) * below.lanes)
        elif value.op in _OF_RAYS:
            ask(value.args[0], _asked_along(value, wanted[value]))
            for dir8 in value.args[1:]:
                ask(dir8, (ALL,))
        elif value.operation.left or value.operation.bitwise:
            zeros = tuple([known[arg] for arg in value.args])
            # A shift by a count a lane may have the counts as an argument besides: nobody looks at its bits.
            for arg, bits in zip(value.args, _asked(value.op, _counts(value), wanted[value], zeros), strict=False):
                ask(arg, bits)
        else:
            for arg in value.args:
                ask(arg, (ALL,) * arg.lanes)
    return wanted
