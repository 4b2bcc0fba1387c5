"""Lower population counts: to the instruction if the target has it, else to sums of bit fields side by side.

Source: H. S. Warren, Hacker's Delight, 2nd edition, section 5-1.
"""

from collections.abc import Iterator
from functools import cache, reduce
from operator import add

from setwise.codegen.ir.graph import Graph, rewrite
from setwise.codegen.ir.layout import halves
from setwise.codegen.ir.values import ALL, Value, constant
from setwise.codegen.targets.table import Target

_MANY = 8
"""The boards whose bits are counted side by side sooner than one by one: moves to general registers are as many."""


def lower_popcount(graph: Graph, target: Target) -> Graph:
    """Lower every `popcount`, and every `total` (the sum of all lanes), to operations of the target."""

    @cache
    def sums_of(eight: Value) -> Value:
        """Return two sums of bit counts: of the lower four lanes, and of the upper four."""
        return _sum_bytes(Value("lanes-to-words", (eight.popcount(),), lanes=2))

    def summed(value: Value, _: Value) -> Value:
        (counts,) = value.args
        boards, narrows = _counted(counts), target.has("lanes-to-words", 2)
        if narrows and [board.op for board in boards] in (["low-half"], ["high-half"]) and counts.lanes == 4:
            return Value("to-general" if boards[0].op == "low-half" else "odd-to-general", (sums_of(*boards[0].args),))
        beside = len(boards) * counts.lanes >= _MANY and target.has("nibble-counts", counts.lanes)
        if boards and target.has("popcount", 1) and not beside:
            return reduce(add, (lane.popcount() for board in boards for lane in lanes_apart(board, target)))
        if narrows and 0 < len(boards) < 4 and counts.lanes > 2:
            return Value("to-general", (_sum_bytes(Value("lanes-to-bytes", (counts,), lanes=2)),))
        while counts.lanes > 2:
            counts = reduce(add, halves(counts))
        return Value("to-general", (counts + Value("high-half", (counts,), lanes=2),))

    def lane_by_lane(value: Value, _: Value) -> Value:
        return value if target.has("popcount", value.lanes) else _side_by_side(target, *value.args)

    graph = rewrite(graph, summed, operations=("total",))
    return rewrite(graph, lane_by_lane, operations=("popcount",))


def _counted(counts: Value) -> list[Value]:
    """Return the values of whose bit counts this is the sum; none if it has other terms."""
    terms = [counts]
    while any(term.op == "add" for term in terms):
        terms = [part for term in terms for part in (term.args if term.op == "add" else (term,))]
    return [term.args[0] for term in terms] if all(term.op == "popcount" for term in terms) else []


def lanes_apart(value: Value, target: Target) -> Iterator[Value]:
    """Yield each lane, moved to a general register, the lowest first."""
    if value.lanes > 2:
        for half in halves(value):
            yield from lanes_apart(half, target)
        return
    yield Value("to-general", (value,))
    odd = target.has("odd-to-general", 2)
    yield Value("odd-to-general", (value,)) if odd else Value("to-general", (Value("high-half", (value,), lanes=2),))


def _side_by_side(target: Target, squares: Value) -> Value:
    """Return the bit counts of all lanes: sums of 8 bits, added up by a product (one lane) or by an instruction.

    The sums of 4 bits are looked up in a register where bytes can be shuffled.
    """
    twos, fours, bytes_ = (ALL // ((1 << width) + 1) for width in (1, 2, 4))
    if squares.lanes > 1 and target.has("nibble-counts", squares.lanes):
        counts = constant((0x0302020102010100, 0x0403030203020201) * (squares.lanes // 2))
        nibbles = (squares & bytes_, squares >> 4 & bytes_)
        low, high = (Value("nibble-counts", (counts, each), lanes=squares.lanes) for each in nibbles)
        return _sum_bytes(low + high)
    sums = squares - (squares >> 1 & twos)
    sums = (sums & fours) + (sums >> 2 & fours)
    sums = sums + (sums >> 4) & bytes_
    if sums.lanes == 1:
        return sums * (ALL // 0xFF) >> 56
    return _sum_bytes(sums)


def _sum_bytes(value: Value) -> Value:
    """Return the sum of the bytes of each lane."""
    return Value("sum-bytes", (value, constant(0, value.lanes)), lanes=value.lanes)
