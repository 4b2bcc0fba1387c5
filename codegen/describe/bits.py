"""Which bits of a value are surely zero, and which bits anybody looks at."""

from __future__ import annotations

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
    args = [known[arg] for arg in value.args]
    if value.op == "const":
        return tuple(~lane & ALL for lane in value.attr)
    if value.op == "and":
        return tuple(a | b for a, b in zip(*args, strict=True))
    if value.op == "andn":
        return args[1]
    if value.op in ("or", "xor"):
        return tuple(a & b for a, b in zip(*args, strict=True))
    if value.op == "copy":
        return args[0]
    if value.op in ("shl", "shr") and loose:
        left = value.attr if value.op == "shl" else tuple(64 - n for n in value.attr)
        return tuple((z << n | z >> (64 - n)) & ALL for z, n in zip(args[0], left, strict=True))
    if value.op == "shl":
        return tuple((z << n | (1 << n) - 1) & ALL for z, n in zip(args[0], value.attr, strict=True))
    if value.op == "shr":
        return tuple(z >> n | ALL & ~(ALL >> n) for z, n in zip(args[0], value.attr, strict=True))
    if value.op == "rotl":
        return tuple((z << n | z >> (64 - n)) & ALL for z, n in zip(args[0], value.attr, strict=True))
    if value.op == "table":
        widest = 0
        for entry in value.attr[0]:
            widest |= entry
        return (~widest & ALL,)
    return (0,) * value.lanes


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
        elif value.op == "and":
            for arg, other in (value.args, value.args[::-1]):
                zero = known_zero(other, known, loose=loose)
                ask(arg, tuple(b & ~z for b, z in zip(bits, zero, strict=True)))
        elif value.op == "andn":
            zero = known_zero(value.args[1], known, loose=loose)
            ask(value.args[0], tuple(b & ~z for b, z in zip(bits, zero, strict=True)))
            ask(value.args[1], bits)
        elif value.op in ("or", "xor", "not", "copy"):
            for arg in value.args:
                ask(arg, bits)
        elif value.op == "shl":
            ask(value.args[0], tuple(b >> n for b, n in zip(bits, value.attr, strict=True)))
        elif value.op == "shr":
            ask(value.args[0], tuple(b << n & ALL for b, n in zip(bits, value.attr, strict=True)))
        elif value.op == "rotl":
            ask(value.args[0], tuple((b >> n | b << (64 - n)) & ALL for b, n in zip(bits, value.attr, strict=True)))
        else:
            for arg in value.args:
                ask(arg, (ALL,) * arg.lanes)
    return wanted
