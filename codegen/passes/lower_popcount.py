"""Lower population counts: to the instruction if the target has it, else to sums of bit fields side by side.

Source: H. S. Warren, Hacker's Delight, 2nd edition, section 5-1.
"""

from collections.abc import Iterator
from functools import reduce
from operator import add

from setwise.codegen.ir.graph import Graph, rewrite
from setwise.codegen.ir.layout import halves
from setwise.codegen.ir.values import ALL, Value, constant
from setwise.codegen.targets.table import Target


def lower_popcount(graph: Graph, target: Target) -> Graph:
    """Lower every `popcount`, and every `total` (the sum of all lanes), to operations of the target."""

    def summed(value: Value, _: Value) -> Value:
        (counts,) = value.args
        if counts.op == "popcount" and not target.has("popcount", counts.lanes) and target.has("popcount", 1):
            return reduce(add, (lane.popcount() for lane in lanes_apart(counts.args[0], target)))
        while counts.lanes > 2:
            counts = reduce(add, halves(counts))
        return Value("to-general", (counts + Value("high-half", (counts,), lanes=2),))

    def lane_by_lane(value: Value, _: Value) -> Value:
        return value if target.has("popcount", value.lanes) else _side_by_side(target, *value.args)

    graph = rewrite(graph, summed, operations=("total",))
    return rewrite(graph, lane_by_lane, operations=("popcount",))


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
        return Value("sum-bytes", (low + high, constant(0, squares.lanes)), lanes=squares.lanes)
    sums = squares - (squares >> 1 & twos)
    sums = (sums & fours) + (sums >> 2 & fours)
    sums = sums + (sums >> 4) & bytes_
    if sums.lanes == 1:
        return sums * (ALL // 0xFF) >> 56
    return Value("sum-bytes", (sums, constant(0, sums.lanes)), lanes=sums.lanes)
