"""Map bitwise operations to three-input instructions: technology mapping by cut enumeration.

A cut of a value is a set of at most three values, its leaves, from which one instruction computes it. Values between
them have no other users. Each value takes the cut that needs fewest instructions in all.
"""

from collections.abc import Iterator, Mapping
from itertools import chain, product

from setwise.codegen.ir.graph import Graph, postorder, rewrite
from setwise.codegen.ir.orders import permuted
from setwise.codegen.ir.values import Value, same

Cut = tuple[Value, ...]

MOST_CUTS = 16
"""The most cuts of a value that its user extends. Without it, the number of cuts grows with the length of a chain."""


def map_ternary(graph: Graph, wanted: frozenset[int]) -> Graph:
    """Replace a select, a complement or several bitwise operations by a `ternary` value, whose attr is its truth table.

    `wanted` are the numbers of lanes for which the target has the instruction.
    """
    uses = graph.users
    best: dict[Value, tuple[int, Cut]] = {}

    def cost(value: Value) -> int:
        return best[value][0] if value in best and len(uses[value]) == 1 else 0

    def fits(leaves: Cut) -> bool:
        return len(leaves) <= 3 and [leaf.op for leaf in leaves].count("const") <= 1

    def cuts(value: Value) -> Iterator[Cut]:
        """Yield the cuts of a value, some perhaps repeatedly. The first is its arguments, of any number."""
        yield tuple(dict.fromkeys(value.args))
        inner = [[(arg,), *inside.get(arg, ())] for arg in value.args]
        for parts in product(*inner):
            leaves = tuple(dict.fromkeys(chain.from_iterable(parts)))
            if fits(leaves):
                yield leaves

    inside: dict[Value, list[Cut]] = {}
    for value in graph.order:
        if not value.operation.bitwise or value.operation.free or value.lanes not in wanted:
            continue
        distinct = dict.fromkeys(cuts(value))
        fit = [cut for cut in distinct if fits(cut)]
        priced = [(1 + sum([cost(leaf) for leaf in cut]), cut) for cut in fit]
        if not priced:
            continue
        best[value] = min(priced, key=lambda pair: (pair[0], len(pair[1])))
        if len(uses[value]) == 1:
            inside[value] = fit[:MOST_CUTS]

    def rule(value: Value, old: Value) -> Value:
        if old not in best:
            return value
        leaves = best[old][1]
        if same([*dict.fromkeys(old.args)], leaves) and old.op not in ("select", "not"):
            return value
        padded = (*leaves, *leaves[-1:] * (3 - len(leaves)))
        inputs = dict(zip(reversed(padded), (0xAA, 0xCC, 0xF0), strict=True))
        new_args = tuple(new[leaf] for leaf in padded)
        return Value("ternary", *_last_first(new_args, _truth(old, inputs), ready), value.lanes)

    new: dict[Value, Value] = {}
    ready: dict[Value, int] = {}

    def remember(value: Value, old: Value) -> Value:
        new[old] = made = rule(value, old)
        ready[made] = 1 + max((ready.get(arg, 0) for arg in made.args), default=0)
        return made

    return rewrite(graph, remember)


def _truth(value: Value, inputs: dict[Value, int]) -> int:
    """Return the truth table of a value, 8 bits, given those of its leaves."""
    truths = dict(inputs)
    for below in postorder((value,), inputs):
        truths[below] = below.operation.of(*(truths[arg] for arg in below.args)) & 0xFF
    return truths[value]


def _last_first(args: tuple[Value, ...], truth: int, ready: Mapping[Value, int]) -> tuple[tuple[Value, ...], int]:
    """Return the arguments in a new order, with its truth table: the last to be `ready` comes first, a constant last.

    The first operand may be overwritten, and its latency is the shortest on some processors. Only the last operand can
    come from memory.
    """
    order = tuple(sorted(range(3), key=lambda at: (args[at].constant is not None, -ready.get(args[at], 0))))
    return tuple(args[i] for i in order), permuted(truth, order)
