"""Simplify a graph: common subexpressions, constant folding, reassociation and factoring of masks, demanded bits."""

from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial, reduce
from operator import or_
from typing import Any

from setwise.codegen.ir.bits import demanded, known_zero
from setwise.codegen.ir.graph import Graph, cse, rewrite
from setwise.codegen.ir.values import ALL, RESHAPES, Lanes, Value, constant, make, place_of, reshaped, same
from setwise.codegen.passes.expand import is_within, meets
from setwise.codegen.passes.prune_phis import prune_phis
from setwise.codegen.passes.rewriting import apply_rules
from setwise.codegen.passes.state import CACHED_GRAPHS, State

Rule = Callable[[Graph], Graph]


def fold(value: Value) -> Value:
    """Fold constants, and drop an operation that changes nothing. Return another value itself."""
    if value.op == "broadcast" and value.args[0].op == "not":
        # Vectors have and-not or three-input logic, where the complement is free.
        return ~value.on(value.args[0].args)
    if value.op in RESHAPES and value.args[0].constant is not None:
        return reshaped(value.op, value.args[0], value.lanes)
    operation, args = value.operation, value.args
    if operation.compute is None:
        return value
    plain = value.op != "not" and not operation.left and (len(args) != 2 or args[0] is not args[1])
    if plain and "const" not in [arg.op for arg in args]:
        return value  # only these fold: a constant operand, a count, equal operands, a double complement
    joins = operation.bitwise and operation.commutes
    if joins and args[0].op == value.op and args[1].constant is not None:
        inner, first = args[0].args
        if first.constant is not None:
            args = (inner, make(value.op, first, args[1]))
    simpler = make(value.op, *args, attr=value.attr, in_place=value.in_place)
    return value if simpler.op == value.op and same(simpler.args, value.args) else simpler


def masked_of(value: Value) -> tuple[Value, Lanes | None]:
    """Split `value & mask` into the value and the constant mask. For another value, return it and None."""
    if value.op == "and":
        first, second = value.args
        if second.op == "const" and first.op != "const":
            return first, second.attr
        if first.op == "const" and second.op != "const":
            return second, first.attr
    return value, None


def reassociate_masks(graph: Graph, known: dict[Value, Lanes]) -> Graph:
    """Reassociate constant masks: drop a mask that clears nothing, move others outward through `or`.

    x = 0                          if x has no bit
    (x & M) & y = x & y            if y has no bit outside M
    (x & M) | y = (x | y) & M      if y has no bit outside M
    (x & M) | (y & M) = (x | y) & M

    `known` caches known zero bits.
    """
    uses = graph.users

    @cache
    def moves(masked: Value) -> bool:
        """Return whether every user can do without the mask. If one cannot, both x and x & M would be live."""
        _, mask = masked_of(masked)
        return mask is not None and all(
            user.op in ("and", "or")
            and all(arg is masked or is_within(arg, mask, known) or masked_of(arg)[1] == mask for arg in user.args)
            for user in uses[masked]
        )

    def movable(union: Value) -> bool:
        """Return whether lanes are only united, all or those that a mask keeps."""
        return all(user.op == "unite" or masked_of(user)[1] is not None for user in uses[union])

    def rule(value: Value, old: Value) -> Value:
        if is_within(value, (0,) * value.lanes, known):
            return constant(0, value.lanes)
        if value.op == "unite":
            return value.on((_masked_last(value.args[0], known),)) if movable(old.args[0]) else value
        if value.op not in ("and", "or"):
            return value
        bare, mask = masked_of(value)
        if mask is not None and is_within(bare, mask, known):
            return bare
        for at in (0, 1):
            (inner, mask), other = masked_of(value.args[at]), value.args[1 - at]
            if mask is None or other.constant is not None or not moves(old.args[at]):
                continue
            twin, its_mask = masked_of(other)
            if value.op == "or" and its_mask == mask and moves(old.args[1 - at]):
                return value.on((inner, twin) if at == 0 else (twin, inner)) & constant(mask)
            if is_within(other, mask, known):
                bare = value.on((inner, other) if at == 0 else (other, inner))
                return bare if value.op == "and" else bare & constant(mask)
        return value

    return rewrite(graph, rule, operations=("and", "or", "shl", "shr", "unite"))


def _masked_last(boards: Value, known: dict[Value, Lanes]) -> Value:
    """Return `(x | y | z) & M` for united lanes `x & M | y | z`, if y is in all lanes, and M has each square in one.

    z has no bit outside M.
    """
    leaves = [boards]
    while any(leaf.op == "or" for leaf in leaves):
        leaves = [part for leaf in leaves for part in (leaf.args if leaf.op == "or" else (leaf,))]
    for masked in leaves if len(leaves) > 1 else ():
        bare, mask = masked_of(masked)
        if mask is not None:
            mask = tuple(lane | zero for lane, zero in zip(mask, known_zero(bare, known), strict=True))
            others = [leaf for leaf in leaves if leaf is not masked and not is_within(leaf, mask, known)]
            if others and reduce(or_, mask) == ALL and all(leaf.op == "broadcast" for leaf in others):
                return _replaced(boards, masked, bare) & constant(mask)
    return boards


def _replaced(union: Value, leaf: Value, by: Value) -> Value:
    """Return a union with another value in place of a leaf."""
    if union is leaf:
        return by
    return union.on(tuple(_replaced(arg, leaf, by) for arg in union.args)) if union.op == "or" else union


def union_leaves(graph: Graph) -> dict[Value, list[Value]]:
    """Return the leaves of each union that is not part of another one alone, in order."""
    uses = graph.users
    alone = {value for value, users in uses.items() if len(users) == 1} - {*graph.results}
    inside = {arg for value in uses if value.op == "or" for arg in value.args if arg.op == "or" and arg in alone}
    found: dict[Value, list[Value]] = {}
    for value in uses:
        if value.op == "or":
            found[value] = [leaf for arg in value.args for leaf in (found.pop(arg) if arg in inside else [arg])]
    return found


def factor(
    graph: Graph, key: Callable[[Value], Any], bare: Callable[[Value], Value], whole: Callable[[Any, Value], Value]
) -> Graph:
    """Factor an operation out of unions: leaves with equal keys become `whole(key, union of their bare values)`.

    The key of a leaf without the operation is None.
    """
    grouped: dict[Value, dict[Any, list[Value]]] = {}
    for root, leaves in union_leaves(graph).items():
        groups: dict[Any, list[Value]] = {}
        for leaf in leaves:
            groups.setdefault(key(leaf), []).append(leaf)
        if any(of is not None and len(group) > 1 for of, group in groups.items()):
            grouped[root] = groups
    if not grouped:
        return graph
    new: dict[Value, Value] = {}

    def rule(value: Value, old: Value) -> Value:
        if old in grouped:
            parts = []
            for of, group in grouped[old].items():
                joined = reduce(or_, [new[leaf] if of is None else bare(new[leaf]) for leaf in group])
                parts.append(joined if of is None else whole(of, joined))
            value = reduce(or_, parts)
        new[old] = value
        return value

    return rewrite(graph, rule)


def factor_masks(graph: Graph) -> Graph:
    """Factor constant masks out of a union: unite the leaves with equal masks, so that each mask is applied once."""
    uses = graph.users
    return factor(
        graph,
        lambda leaf: masked_of(leaf)[1] if len(uses[leaf]) == 1 else None,
        lambda leaf: masked_of(leaf)[0],
        lambda mask, union: union & constant(mask),
    )


def join_steps(graph: Graph) -> Graph:
    """Unite the leaves of a union that are steps along one ray before the step, also those that have other users."""
    return factor(
        graph,
        lambda leaf: leaf.attr if leaf.op == "step" and len(leaf.args) == 1 else None,
        lambda leaf: leaf.args[0],
        lambda attr, union: Value("step", (union,), attr, union.lanes),
    )


def demanded_bits(graph: Graph, loose: bool = False, verbatim: bool = False) -> Graph:
    """Drop masks and parts of unions that change no demanded bit.

    When one is dropped, another may become necessary. So only those are dropped that can be dropped together. `loose`
    keeps masks that a rotate in place of a shift needs. `verbatim` keeps the parts of unions.
    """
    while doomed := _unseen_together(graph, loose, verbatim):
        graph = _without(graph, doomed)
    return graph


def _unseen_together(graph: Graph, loose: bool, verbatim: bool) -> dict[Value, Value]:
    """Return values that can be dropped together, each with the argument that replaces it."""
    if not any((value.op == "or" and not verbatim) or masked_of(value)[1] for value in graph.order):
        return {}
    doomed = _unseen(graph, loose, verbatim, {})
    while doomed:
        # Known bits must hold without the dropped masks too: else a mask would justify its own removal.
        left = _unseen(graph, loose, verbatim, doomed)
        holding = {value: arg for value, arg in doomed.items() if left.get(value) is arg}
        if len(holding) == len(doomed):
            return doomed
        doomed = holding
    return {}


def _unseen(graph: Graph, loose: bool, verbatim: bool, gone: Mapping[Value, Value]) -> dict[Value, Value]:
    """Return values, each with the argument that equals it in all demanded bits, once those of `gone` are replaced."""
    known: dict[Value, Lanes] = {}
    wanted = demanded(graph, loose=loose, known=known, gone=gone)

    def equivalent(value: Value) -> Value | None:
        bare, mask = masked_of(value)
        if mask is not None:
            changes = (~(lane | zero) for lane, zero in zip(mask, known[bare], strict=True))
            return None if meets(changes, wanted[value]) else bare
        if value.op == "or" and not verbatim:
            for at in (0, 1):
                if not meets((~zero for zero in known[value.args[at]]), wanted[value]):
                    return value.args[1 - at]
        return None

    pairs = ((value, equivalent(value)) for value in graph.order)
    return {value: arg for value, arg in pairs if arg is not None}


def _without(graph: Graph, doomed: Mapping[Value, Value]) -> Graph:
    """Replace each value in `doomed` by the argument that is given there."""
    return rewrite(graph, lambda new, old: new.args[place_of(doomed[old], old.args)] if old in doomed else new)


@lru_cache(CACHED_GRAPHS)
def simplify(graph: Graph, *, loose: bool = False, verbatim: bool = False, moves_masks: bool = True) -> Graph:
    """Apply all rules until nothing changes. `loose` keeps masks for rotates, `verbatim` keeps parts of unions.

    Without `moves_masks`, masks are not reassociated or factored.
    """
    known: dict[Value, Lanes] = {}
    folded = cache(fold)
    moved = partial(reassociate_masks, known=known)
    dropped = partial(demanded_bits, loose=loose, verbatim=verbatim)

    def tidy(graph: Graph) -> Graph:
        graph = cse(rewrite(prune_phis(graph), lambda value, _: folded(value)))
        graph = moved(graph) if moves_masks else graph
        return graph if verbatim else apply_rules(graph)

    def factored(graph: Graph) -> Graph:
        for rule in (factor_masks, dropped) if moves_masks else (dropped,):
            after = rule(graph)
            graph = after if after is graph else _settled(after, tidy)
        return graph

    return _settled(_settled(graph, tidy), factored)


def _settled(graph: Graph, rules: Rule) -> Graph:
    while (now := rules(graph)) is not graph and now.shape != graph.shape:
        graph = now
    return now


def _simplified(state: State, moves_masks: bool) -> State:
    loose, verbatim = state.masks.ranks, state.routine.verbatim
    return state.each(
        lambda graph: simplify(graph, loose=loose and graph.shifts_scalars, verbatim=verbatim, moves_masks=moves_masks)
    )


def simplify_pass(state: State) -> State:
    """Simplify each stage. If masks clear ranks, those are kept that a rotate in place of a one-lane shift needs."""
    return _simplified(state, moves_masks=True)


def simplify_in_place_pass(state: State) -> State:
    """Simplify each stage as `simplify_pass` does, but leave masks where they are."""
    return _simplified(state, moves_masks=False)


def join_steps_pass(state: State) -> State:
    """Unite boards before a step that they have in common, unless the routine is verbatim."""
    return state if state.routine.verbatim else state.each(join_steps)
