"""Known zero bits and demanded bits of values."""

from collections.abc import Mapping
from functools import lru_cache, reduce
from operator import and_, or_
from types import MappingProxyType

from setwise.codegen.ir.graph import Graph, postorder
from setwise.codegen.ir.operations import operation_named
from setwise.codegen.ir.values import ALL, RESHAPES, Lanes, Value

_ALIKE = 1 << 16
"""The size of each cache. The rays, lanes and forms of a routine repeat the same queries."""


def known_zero(value: Value, known: dict[Value, Lanes], *, loose: bool = False) -> Lanes:
    """Return for each lane a mask of bits that are shown to be zero whatever the parameters are.

    `known` holds earlier results and receives new ones. If `loose`, a shift may later become a rotate, so it clears no
    bits.

    >>> from setwise.codegen.ir.values import parameter
    >>> [hex(lane) for lane in known_zero(parameter(0) << 4 & 0xFF, {})]
    ['0xffffffffffffff0f']
    """
    if value not in known:
        for below in (value,) if all(arg in known for arg in value.args) else postorder((value,), known):
            known[below] = _zero(below, known, loose)
    return known[value]


def known_zero_along(graph: Graph) -> dict[Value, Lanes]:
    """Return the known zero bits by lane of every value of a graph, which may hold steps, runs and paths."""
    known: dict[Value, Lanes] = {}
    for value in graph.order:
        along = value.op in _OF_RAYS
        known[value] = _zero_along(value, known[value.args[0]]) if along else _zero(value, known, False)
    return known


def _zero(value: Value, known: dict[Value, Lanes], loose: bool) -> Lanes:
    if value.op == "const":
        return tuple(~lane & ALL for lane in value.attr)
    if value.op == "param" and value.attr is not None:
        return (~value.attr[1] & ALL,) * value.lanes
    if value.op == "table":
        return (reduce(and_, (~entry & ALL for entry in value.attr[0])),) * value.lanes
    if value.op in RESHAPES:
        lanes = RESHAPES[value.op](tuple(~zero & ALL for zero in known[value.args[0]]), value.lanes)
        # The instruction may write more lanes than RESHAPES gives: no bit of those is known to be 0.
        return (*(~lane & ALL for lane in lanes), *(0,) * (value.lanes - len(lanes)))
    operation = value.operation
    if not operation.left and not operation.bitwise:
        return (0,) * value.lanes
    return _zeros(value.op, _counts(value), tuple([known[arg] for arg in value.args]), loose)


@lru_cache(_ALIKE)
def _zeros(op: str, counts: Lanes, known: tuple[Lanes, ...], loose: bool) -> Lanes:
    """Return the known zero bits of a result, lane by lane, given those of the arguments."""
    operation = operation_named(op)
    lanes = zip(zip(*known, strict=True), counts, strict=True)
    return tuple(operation.zeros(lane, count, loose=loose) for lane, count in lanes)


@lru_cache(_ALIKE)
def _asked(op: str, counts: Lanes, wanted: Lanes, known: tuple[Lanes, ...]) -> tuple[Lanes, ...]:
    """Return, for each argument and lane, the bits on which the bits `wanted` of the result may depend.

    For a shift or rotate return this for the first argument alone.
    """
    operation = operation_named(op)
    lanes = tuple(zip(wanted, zip(*known, strict=True), counts, strict=True))
    looked_at = range(1 if operation.left else len(known))
    return tuple(tuple(operation.demanded(bits, at, lane, count) for bits, lane, count in lanes) for at in looked_at)


_OF_RAYS = ("step", "run", "path")


def _zero_along(value: Value, zeros: Lanes) -> Lanes:
    """Return the known zero bits of a step, run or path, given those of its argument; none for a run-time direction.

    A run or path adds whole files only: its expansion may keep bits on ranks that a step cannot reach.
    """
    ray, n = value.attr
    if ray is None:
        return (0,)
    lanes = tuple(zip(zeros, ray.by_lane(value.lanes), strict=True))
    if value.op == "step":
        return tuple(ALL & ~(_moved(~zero, n * d.shift) & d.reach(n)) for zero, d in lanes)
    return tuple(zero | ALL & ~d.reach_files(max(n, 1)) for zero, d in lanes)


def _asked_along(value: Value, wanted: Lanes) -> Lanes:
    """Return the bits of the first argument of a step, run or path on which its bits `wanted` may depend."""
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
    """Return the constant shift or rotate count of each lane, 0 for operations whose `left` is 0."""
    return value.attr if value.operation.left else (0,) * value.lanes


def demanded(
    graph: Graph,
    *,
    loose: bool = False,
    known: dict[Value, Lanes] | None = None,
    gone: Mapping[Value, Value] = MappingProxyType({}),
) -> dict[Value, Lanes]:
    """Return for each value and lane a mask of its demanded bits: those on which some result of the graph may depend.

    `loose` and `known` are those of `known_zero`. `gone` maps each removed value to the argument that replaces it.

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
            for below in (*region.outside, *region.tested, *(v for body in region.bodies for v in body)):
                ask(below, (ALL,) * below.lanes)
        elif value.op in _OF_RAYS:
            ask(value.args[0], _asked_along(value, wanted[value]))
            for dir8 in value.args[1:]:
                ask(dir8, (ALL,))
        elif value.operation.left or value.operation.bitwise:
            zeros = tuple([known[arg] for arg in value.args])
            # A shift with per-lane counts may also have the counts as an argument. No bits of that are demanded.
            for arg, bits in zip(value.args, _asked(value.op, _counts(value), wanted[value], zeros), strict=False):
                ask(arg, bits)
        else:
            for arg in value.args:
                ask(arg, (ALL,) * arg.lanes)
    return wanted
