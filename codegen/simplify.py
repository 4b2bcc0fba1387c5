"""Algebra on the graph: equal values made once, masks moved to where one serves many, or dropped where nobody looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from typing import Any

from codegen.bits import demanded, known_zero
from codegen.expand import is_within
from codegen.expr import ALL, COMPUTE, Lanes, Value, constant, make
from codegen.graph import Graph, rewrite, shape, users


def share(graph: Graph) -> Graph:
    """Equal operations on equal arguments become one value; a copy stays a variable of its own."""
    seen: dict[tuple[Any, ...], Value] = {}

    def rule(value: Value, old: Value) -> Value:
        if value.op in ("copy", "phi", "param", "result"):
            return value
        return seen.setdefault((value.op, value.args, value.attr, value.lanes), value)

    return rewrite(graph, rule)


def fold(graph: Graph) -> Graph:
    """Operations on constants, and those that change nothing, vanish."""

    def rule(value: Value, old: Value) -> Value:
        if value.op == "broadcast" and value.args[0].op == "not":
            # Many lanes have and-not, or three-input logic: there the complement costs nothing.
            return ~replace(value, args=value.args[0].args)
        if value.op == "copy" and value.args[0].constant is not None:
            return value.args[0]
        if value.op not in COMPUTE or value.op == "copy":
            return value
        args = value.args
        if value.op in ("and", "or", "xor") and args[0].op == value.op and args[1].constant is not None:
            inner, first = args[0].args
            if first.constant is not None:
                args = (inner, make(value.op, first, args[1]))
        made = make(value.op, *args, attr=value.attr, keeps=value.keeps)
        return value if made.op == value.op and made.args == value.args else made

    return rewrite(graph, rule)


def _masked(value: Value) -> tuple[Value, Lanes] | None:
    """The value and the constant mask that were and-ed."""
    if value.op == "and":
        for inner, mask in (value.args, value.args[::-1]):
            if mask.constant is not None and inner.constant is None:
                return inner, mask.constant
    return None


def move_masks(graph: Graph) -> Graph:
    """A constant mask is dropped where the value is within it anyway, and moves outward through `or`, to serve several.

    (x & M) & y = x & y            where y is within M
    (x & M) | y = (x | y) & M      where y is within M
    (x & M) | (y & M) = (x | y) & M
    """
    known: dict[Value, Lanes] = {}
    uses = users(graph.results)

    def moves(masked: Value) -> bool:
        """Whether every user can do without the mask; else the unmasked value would only live beside the masked."""
        found = _masked(masked)
        return found is not None and all(
            user.op in ("and", "or")
            and all(arg is masked or is_within(arg, found[1], known) or _masked_by(arg, found[1]) for arg in user.args)
            for user in uses[masked]
        )

    def rule(value: Value, old: Value) -> Value:
        if value.op not in ("and", "or"):
            return value
        found = _masked(value)
        if found is not None and is_within(found[0], found[1], known):
            return found[0]
        for at in (0, 1):
            masked, other = _masked(value.args[at]), value.args[1 - at]
            if masked is None or other.constant is not None or not moves(old.args[at]):
                continue
            inner, mask = masked
            twin = _masked(other)
            if value.op == "or" and twin is not None and twin[1] == mask and moves(old.args[1 - at]):
                return replace(value, args=(inner, twin[0]) if at == 0 else (twin[0], inner)) & constant(mask)
            if is_within(other, mask, known):
                bare = replace(value, args=(inner, other) if at == 0 else (other, inner))
                return bare if value.op == "and" else bare & constant(mask)
        return value

    return rewrite(graph, rule)


def _masked_by(value: Value, mask: Lanes) -> bool:
    found = _masked(value)
    return found is not None and found[1] == mask


def group_masks(graph: Graph) -> Graph:
    """In a tree of `or`, leaves under one constant mask are gathered, so that the mask is applied once."""
    uses = users(graph.results)

    def leaves(value: Value, top: bool) -> list[Value]:
        if value.op != "or" or (not top and len(uses.get(value, ())) > 1):
            return [value]
        return [leaf for arg in value.args for leaf in leaves(arg, False)]

    inside = {arg for value in uses if value.op == "or" for arg in value.args if arg.op == "or" and len(uses[arg]) == 1}
    grouped: dict[Value, dict[Lanes | None, list[Value]]] = {}
    for root in uses:
        if root.op != "or" or root in inside:
            continue
        groups: dict[Lanes | None, list[Value]] = {}
        for leaf in leaves(root, True):
            masked = _masked(leaf)
            once = masked is not None and len(uses[leaf]) == 1
            groups.setdefault(masked[1] if masked is not None and once else None, []).append(leaf)
        if any(mask is not None and len(group) > 1 for mask, group in groups.items()):
            grouped[root] = groups
    new: dict[Value, Value] = {}

    def rule(value: Value, old: Value) -> Value:
        if old in grouped:
            parts = []
            for mask, group in grouped[old].items():
                bare = [new[leaf] if mask is None else _bare(new[leaf]) for leaf in group]
                joined = reduce(lambda one, other: one | other, bare)
                parts.append(joined if mask is None else joined & constant(mask))
            value = reduce(lambda one, other: one | other, parts)
        new[old] = value
        return value

    return rewrite(graph, rule)


def drop_unseen(graph: Graph, loose: bool = False) -> Graph:
    """A constant mask vanishes where nobody looks at the bits that it clears.

    One goes at a time, for two may lean on each other. `loose` keeps the masks that a rotate in place of a shift needs.
    """
    known: dict[Value, Lanes] = {}

    def unseen(value: Value, bits: Lanes) -> bool:
        found = _masked(value)
        if found is None:
            return False
        zero = known_zero(found[0], known, loose=loose)
        return not any(want & ~mask & ~z & ALL for want, mask, z in zip(bits, found[1], zero, strict=True))

    def truly(value: Value) -> bool:
        """What others know of the value they must know without its mask too, else the mask would vouch for itself."""
        bare = known_zero(_bare(value), known, loose=loose)
        return unseen(value, demanded(graph.results, loose=loose, known={value: bare})[value])

    seen = demanded(graph.results, loose=loose)
    doomed = next((value for value, bits in seen.items() if unseen(value, bits) and truly(value)), None)
    if doomed is None:
        return graph
    return drop_unseen(rewrite(graph, lambda new, old: _bare(new) if old is doomed else new), loose)


def _bare(value: Value) -> Value:
    found = _masked(value)
    return found[0] if found is not None else value


def simplify(graph: Graph, *, loose: bool = False) -> Graph:
    """All rules in turn, until nothing changes; `loose` keeps shifts replaceable by rotates."""
    graph = _settled(graph, lambda g: move_masks(share(fold(g))))
    return _settled(graph, lambda g: drop_unseen(move_masks(share(fold(group_masks(g)))), loose))


def _settled(graph: Graph, rules: Callable[[Graph], Graph]) -> Graph:
    before: tuple[Any, ...] = ()
    while (now := shape(graph)) != before:
        before, graph = now, rules(graph)
    return graph
