"""Horizontal reduction: unite all lanes of a value in a general register, square by square or half by half.

With byte permutations, bit matrix products and byte masks, eight boards become 64 bytes, one for each square, with a
bit for each board. One test for nonzero bytes then unites them, and masks them for free. Source: setwise.
"""

from collections.abc import Sequence
from functools import partial, reduce

from setwise.codegen.ir.bits import known_zero
from setwise.codegen.ir.graph import Graph, cse, rewrite
from setwise.codegen.ir.layout import folded, halves, tallied
from setwise.codegen.ir.matrices import RISING, files
from setwise.codegen.ir.values import ALL, Lanes, Value, constant, make
from setwise.codegen.passes.simplify import masked_of
from setwise.codegen.targets.table import Target

_BY_RANKS = tuple(sum(8 * lane + rank << 8 * lane for lane in range(8)) for rank in range(8))
"""The numbers of the bytes that each lane gets: those of one rank, from each of eight boards."""
_SQUARE_BY_SQUARE = ("permute-bytes", "affine", "nonzero-bytes-mask")


def reduce_lanes(graph: Graph, target: Target) -> Graph:
    """Lower every `unite` and `overlap` to operations of the target."""
    if graph.operations.isdisjoint(("unite", "overlap")):
        return graph
    uses = graph.users

    def rule(value: Value, old: Value) -> Value:
        if value.op == "overlap":
            return _overlap(value.attr, value.args, target)
        (boards,) = value.args
        if boards.lanes < 8 or not all(target.has(op, boards.lanes) for op in _SQUARE_BY_SQUARE):
            return _by_halves(_folded_under_mask(boards) if len(uses[old.args[0]]) == 1 else boards)
        bare, mask = masked_of(boards)
        return _by_squares(bare, mask) if mask and len(uses[old.args[0]]) == 1 else _by_squares(boards, (ALL,) * 8)

    return _masks_joined(cse(rewrite(graph, rule, operations=("unite", "overlap"))), target)


def _masks_joined(graph: Graph, target: Target) -> Graph:
    """Unite two masks as masks, unless both are needed in general registers in any case."""
    uses = graph.users

    def rule(value: Value, old: Value) -> Value:
        needed = [any(user is not old and user.op != "put" for user in uses[arg]) for arg in old.args]
        if any(arg.op != "from-mask" for arg in value.args) or all(needed) or not target.has("or-masks", 1):
            return value
        return Value("from-mask", (Value("or-masks", tuple(mask for arg in value.args for mask in arg.args)),))

    return rewrite(graph, rule, operations=("or",))


def _folded_under_mask(boards: Value) -> Value:
    """Unite the halves of masked boards, with one half masked, if the other needs no mask. Else return the boards."""
    bare, mask = masked_of(boards)
    if mask is None or boards.lanes == 2:  # two lanes share one register
        return boards
    needs = [zero | lane != ALL for zero, lane in zip(known_zero(bare, {}), mask, strict=True)]
    low, high = halves(bare)
    half = low.lanes
    if not any(needs[half:]):
        return low & constant(mask[:half]) | high
    if not any(needs[:half]):
        return low | high & constant(mask[half:])
    return boards


def _by_halves(value: Value) -> Value:
    value = folded(value, 2)
    # Move the upper lane down; the low lane of the union is the result.
    both = value | Value("high-half", (value,), lanes=2)
    return Value("to-general", (both,))


def _by_squares(boards: Value, mask: Lanes) -> Value:
    """Return the union of eight boards, each intersected with its mask, by way of one byte for each square."""
    squares = files(_ranks(boards), RISING)
    return Value("from-mask", (Value("nonzero-bytes-mask", (squares, constant(_turned(mask)))),))


def _overlap(times: int, boards: Sequence[Value], target: Target) -> Value:
    """Return the squares that at least this many lanes of these boards have, counted in a byte for each square."""
    if not all(target.has(op, 8) for op in (*_SQUARE_BY_SQUARE, "popcount-bytes", "not-less-bytes-mask")):
        return tallied(times, boards, halves)
    each = (Value("popcount-bytes", (files(_ranks(board), RISING),), lanes=8) for board in boards)
    counts = reduce(partial(make, "add-bytes"), each)
    least = counts if times == 1 else constant(ALL // 0xFF * times, 8)
    op = "nonzero-bytes-mask" if times == 1 else "not-less-bytes-mask"
    return Value("from-mask", (Value(op, (counts, least)),))


def _ranks(boards: Value) -> Value:
    """Return lanes with one rank of each of eight boards. Rotates of one board are a choice of its bits."""
    if boards.op == "rotl" and boards.args[0].op in ("broadcast", "splat"):
        starts = (sum((8 * rank - n) % 64 << 8 * lane for lane, n in enumerate(boards.attr)) for rank in range(8))
        return Value("multishift", (constant(tuple(starts)), boards.args[0]), lanes=8)
    return Value("permute-bytes", (boards, constant(_BY_RANKS)), lanes=8)


def _turned(boards: Lanes) -> Lanes:
    """Transpose eight boards to 64 bytes, one for each square. The first board has the highest bit of each byte."""
    squares = [sum((board >> square & 1) << 7 - at for at, board in enumerate(boards)) for square in range(64)]
    return tuple(sum(byte << 8 * file for file, byte in enumerate(squares[at : at + 8])) for at in range(0, 64, 8))
