"""Ranges of values: the least and the greatest unsigned number that each may be in any lane."""

from collections.abc import Callable, Iterator, Mapping
from itertools import product

from setwise.codegen.ir.bits import known_zero
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.operations import ALL
from setwise.codegen.ir.values import Lanes, Value

Range = tuple[int, int]

_MOVES = frozenset(("copy", "broadcast", "exchange", "low-half", "high-half"))
_MONOTONE = frozenset(("add", "sub", "mul", "neg", "not", "shl", "shr"))
"""Operations that rise or fall with each argument before reduction modulo 2**64: their extremes are at its ends."""

_BOUNDS: Mapping[str, Callable[[int, Range, Range], Range]] = {
    "and": lambda _, a, b: (0, min(a[1], b[1])),
    "or": lambda _, a, b: (max(a[0], b[0]), a[1] + b[1]),
    "tzcnt": lambda _, a, __: (0, 63 if a[0] else 64),
    "popcount": lambda ones, a, _: (min(a[0], 1), ones),
    "gather": lambda ones, _, __: (0, (1 << ones) - 1),
}
"""The range of a result, given the most ones that its last argument may have, and the ranges of its first and last."""


class ValueRanges(dict[Value, Range]):
    """The range of each value of a graph, given those of some parameters.

    >>> from setwise.codegen.ir.values import parameter
    >>> left = 64 - parameter(0).popcount()
    >>> ValueRanges(Graph((), (left,)), {})[left]
    (0, 64)
    """

    def __init__(self, graph: Graph, given: Mapping[Value, Range]) -> None:
        super().__init__()
        self.masks: set[Value] = set()
        """Values of which each lane is all ones or 0."""
        self.starts: dict[Value, tuple[Value, ...]] = {}
        """The values that each value carried by a `when` or switch may be where a body starts."""
        for region in {value.region for value in graph.order if value.region is not None}:
            for before, phis in zip((region.inits, *region.bodies), region.phis, strict=False):
                if region.kind != "loop":
                    self.starts.update(zip(phis, zip(region.inits, before, strict=True), strict=True))
        known: dict[Value, Lanes] = {}
        for value in graph.order:
            zeros = known_zero(value, known)
            least, most = given.get(value) or self._range(value, known)
            self[value] = least, min(most, ALL & ~min(zeros))
            known[value] = tuple(zero | ALL & -1 << most.bit_length() for zero in zeros)
            of_masks = value.operation.bitwise and self.masks.issuperset(value.args)
            if of_masks or value.op in ("equal", "less", "less-signed"):
                self.masks.add(value)

    def _range(self, value: Value, known: Mapping[Value, Lanes]) -> Range:
        args, compute = value.args, value.operation.compute
        if value.op in _MONOTONE and compute is not None:
            counts = () if value.attr is None else (value.attr,)
            ends = sorted(compute(*corner) for corner in product(*[self[arg] for arg in args], *counts))
            return (ends[0] & ALL, ends[-1] & ALL) if ends[0] >> 64 == ends[-1] >> 64 else (0, ALL)
        if found := [*self._alternatives(value)]:
            return min(least for least, _ in found), max(most for _, most in found)
        if value.op not in _BOUNDS:
            return 0, ALL
        last = args[-1]
        ones = last.attr[0] if last.op == "table" else [ALL & ~zero for zero in known[last]]
        return _BOUNDS[value.op](max(number.bit_count() for number in ones), self[args[0]], self[last])

    def _alternatives(self, value: Value) -> Iterator[Range]:
        """Yield ranges of which one holds the value, if it is a constant, copied, carried, a result or a choice."""
        args, region = value.args, value.region
        if value.op in ("const", "table"):
            yield from ((number, number) for number in value.constant or value.attr[0])
        elif region is not None:
            for nexts in (*region.bodies, *[region.inits] * (region.kind == "when")):
                yield self[nexts[value.attr]]
        elif value in self.starts or value.op in _MOVES:
            yield from (self[each] for each in self.starts.get(value, args))
        elif value.op == "and" and not self.masks.isdisjoint(args):
            mask, one = args if args[0] in self.masks else args[::-1]
            yield from (self._under(mask, one, True), (0, 0))
        elif value.op == "xor" and args[0].op == "and" and args[0].args[0] in self.masks:
            (mask, unlike), other = args[0].args, args[1]  # `chosen` makes mask & (one ^ other) ^ other
            for one, twin in (unlike.args, unlike.args[::-1]) if unlike.op == "xor" else ():
                if twin is other or None is not twin.constant == other.constant:
                    yield from (self._under(mask, one, True), self._under(mask, other, False))

    def _under(self, mask: Value, value: Value, holds: bool) -> Range:
        """Return the range of a value in lanes in which a mask is all ones, or if not `holds` 0."""
        least, most = self[value]
        if mask.op == "not":
            return self._under(mask.args[0], value, not holds)
        if mask.op == "less":
            low, high = mask.args if holds else mask.args[::-1]
            least = max(least, self[low][0] + holds) if value is high else least
            most = min(most, self[high][1] - holds) if value is low else most
        return least, most
