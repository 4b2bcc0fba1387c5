"""Tree height reduction: balance unions by the depth of their parts."""

from collections import deque
from collections.abc import Iterable
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import count

from setwise.codegen.ir.graph import Graph, depth_of, postorder, rewrite
from setwise.codegen.ir.values import Lanes, Value, constant
from setwise.codegen.passes.expand import is_within
from setwise.codegen.passes.simplify import masked_of
from setwise.codegen.passes.state import CACHED_GRAPHS, State


@lru_cache(CACHED_GRAPHS)
def balance(graph: Graph) -> Graph:
    """Rebuild unions so that their deepest parts are joined last, and take constant masks M off the longest path.

    (x & M) & y = x & y                  if y has no bit outside M, even if x & M has other users
    (x | y | z) & M = (x | y) & M | z    if z has no bit outside M
    """
    uses = graph.users
    depths: dict[Value, int] = {}
    known: dict[Value, Lanes] = {}
    unions: dict[Value, deque[Value]] = {}
    """The new parts of each old union that is `inside` another value, until a union takes them."""

    def depth(value: Value) -> int:
        if value not in depths:
            for below in postorder((value,), depths):
                depths[below] = depth_of(below, below.args, depths)
        return depths[value]

    def inside(value: Value) -> bool:
        """Return whether an old value has one user, which is a union or an intersection with a constant."""
        return len(uses[value]) == 1 and (uses[value][0].op == "or" or masked_of(uses[value][0])[1] is not None)

    def parts(value: Value, old: Value) -> deque[Value]:
        """Return the parts of a new union: those of nested unions with no other user, else those by `under`."""
        first, second = (
            unions.pop(before) if before.op == "or" and inside(before) else deque(under(now, before))
            for now, before in zip(value.args, old.args, strict=True)
        )
        if len(first) < len(second):
            second.extendleft(reversed(first))
            return second
        first.extend(second)
        return first

    def under(value: Value, old: Value) -> list[Value]:
        """Return the parts of a masked union that need no mask, then the masked rest, or the value alone."""
        union, mask = masked_of(value)
        if mask is None or union.op != "or":
            return [value]
        before = next(arg for arg in old.args if arg.constant is None)
        if before not in unions or not inside(before):
            return [value]
        free: list[Value] = []
        bound: list[Value] = []
        for part in unions[before]:
            (free if is_within(part, mask, known) else bound).append(part)
        return [*free, joined(bound) & constant(mask)] if free and bound else [value]

    def joined(values: Iterable[Value]) -> Value:
        """Return the union of values, the two of least depth joined first (Huffman's algorithm on depths)."""
        numbers = count()
        heap = [(depth(value), next(numbers), value) for value in values]
        heapify(heap)
        while len(heap) > 1:
            both = heappop(heap)[2] | heappop(heap)[2]
            heappush(heap, (depth(both), next(numbers), both))
        return heap[0][2]

    def rule(value: Value, old: Value) -> Value:
        if value.op == "or":
            terms = parts(value, old)
            if not inside(old):
                return joined(terms) if len(terms) > 2 else value
            unions[old] = terms
        if value.op == "and":
            factors = [value] if [user.op for user in uses[old]] == ["or"] else under(value, old)
            if len(factors) > 1:
                return joined(factors)
            for at in (0, 1):
                (bare, mask), other = masked_of(value.args[at]), value.args[1 - at]
                if mask is not None and other.constant is None and is_within(other, mask, known):
                    return value.on((bare, other) if at == 0 else (other, bare))
        return value

    return rewrite(graph, rule)


def balance_pass(state: State) -> State:
    """Reduce the tree height of each stage."""
    return state.each(balance)
