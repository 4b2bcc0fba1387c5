"""Lower the words of `codegen.ir.bit_words`, products and shifts by values to operations with rows of the target.

Source of gathers and scatters by parallel suffix: H. S. Warren, Hacker's Delight, 2nd edition, sections 7-4 and 7-5; of
the comparisons: section 2-12.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial, reduce
from operator import add, sub

from setwise.codegen.ir.bit_words import swapped_fields
from setwise.codegen.ir.bits import known_zero
from setwise.codegen.ir.graph import Graph, cse, rewrite
from setwise.codegen.ir.operations import SIGN
from setwise.codegen.ir.values import ALL, Region, Value, constant, make
from setwise.codegen.passes.simplify import fold
from setwise.codegen.targets.table import Target

_SWAPPED_BYTES = (0x0001_0203_0405_0607, 0x0809_0A0B_0C0D_0E0F)
"""The byte numbers of two lanes, each in reverse order."""

Rule = Callable[..., Value]
"""A function of the target, the value and its arguments."""


def lower_words(graph: Graph, target: Target) -> Graph:
    """Rewrite operations without rows until all have rows, or no rule; fold constants that this leaves.

    Conditions test the sign that fills a mask.
    """

    def rule(value: Value, _: Value) -> Value:
        if (number := _constant(value)) is not value or target.rows_for(value):
            return number
        return _RULES[value.op](target, value, *value.args)

    before = graph
    while (lowered := rewrite(graph, rule, _sign_tested, _RULES)) is not graph:
        graph = lowered
    return graph if graph is before else cse(rewrite(graph, lambda value, _: _constant(value)))


def _constant(value: Value) -> Value:
    """Return the number that an operation on numbers gives, another value itself."""
    known = value.operation.compute is not None and all(arg.constant is not None for arg in value.args)
    return fold(value) if known else value


def _sign_tested(region: Region) -> Region:
    """Test the highest bit, where a condition tests whether all bits are copies of it that are 0."""
    asked = region.condition
    if asked is None or asked.bound != 1 or asked.value.op != "sar" or asked.value.attr != (63,):
        return region
    return replace(region, condition=replace(asked, value=asked.value.args[0], bound=SIGN))


def _each(value: Value, *args: Value, op: str) -> Value:
    return Value(op, args, lanes=value.lanes)


# -- shifts, products and flips


def _shift(op: str, target: Target, value: Value, board: Value, count: Value) -> Value:
    """Shift each lane by its own count modulo 64. An instruction that shifts all lanes alike runs for each of two."""
    if any(zero | 63 != ALL for zero in known_zero(count, {})):
        count &= 63
    if target.has(op + "-each", value.lanes):
        return _each(value, board, count, op=op + "-each")
    upper = _each(value, count, op="high-half")
    low, high = (_each(value, board, each, op=op + "-all") for each in (count, upper))
    return low & constant((ALL, 0)) | high & constant((0, ALL))


def _arithmetic_shift(target: Target, value: Value, board: Value, *by: Value) -> Value:
    """Shift as unsigned, then extend the moved sign by xor and subtraction, where no instruction copies the sign."""
    if by and target.has("sar-each", value.lanes):
        return _shift("sar", target, value, board, *by)
    if value.attr and set(value.attr) == {63}:
        if target.has("less-signed", value.lanes):
            return make("less-signed", board, 0)
        if target.has("signs-of-halves", value.lanes):
            return _each(value, _each(value, board, op="signs-of-halves"), op="high-halves")
        return -(board >> 63)
    op = "shrv" if by else "shr"
    sign, moved = (make(op, each, *by, attr=value.attr) for each in (constant(SIGN, value.lanes), board))
    return (moved ^ sign) - sign


def _product(_: Target, value: Value, a: Value, b: Value) -> Value:
    """Sum shifts for a constant of few bits, else three products of 32-bit halves without those known to be 0."""
    if value.lanes == 1:  # by 3, 5 or 9, which lea computes from a sum
        return a + (a << b.number.bit_length() - 1)
    terms = _signed_digits(b.constant[0]) if b.constant is not None and len({*b.constant}) == 1 else []
    if 0 < len(terms) <= 3:
        added, subtracted = ([a << n for n, its_sign in terms if its_sign == sign] for sign in (1, -1))
        return reduce(sub, subtracted, reduce(add, added, constant(0, value.lanes)))
    crossed = make("low-product", _upper(a), b) + make("low-product", a, _upper(b))
    return make("low-product", a, b) + (crossed << 32)


def _signed_digits(number: int) -> list[tuple[int, int]]:
    """Return the fewest signed powers of two that sum to a number modulo 2**64, as pairs of exponent and sign."""
    digits = []
    for n in range(64):
        if number >> n & 1:
            sign = 1 if number >> n & 2 == 0 or n == 63 else -1
            digits.append((n, sign))
            number -= sign << n
    return digits


def _upper(value: Value) -> Value:
    upper = value >> 32
    return constant(0, value.lanes) if set(known_zero(upper, {})) == {ALL} else upper


def _flip(target: Target, value: Value, board: Value) -> Value:
    if target.has("shuffle-bytes", value.lanes):
        return _each(value, board, constant(_SWAPPED_BYTES * (value.lanes // 2)), op="shuffle-bytes")
    if target.has("reverse-low-words", value.lanes):
        board = _each(value, swapped_fields(board, 8), op="reverse-low-words")
        return _each(value, board, op="reverse-high-words")
    return reduce(swapped_fields, (8, 16), board).rotate(32)


# -- bits gathered and scattered


def _moves(mask: Value) -> list[Value]:
    """Return the bits that a gather moves right by 1, 2, 4, 8, 16 and 32 in turn, before each of these moves."""
    moved = []
    absent = ~mask << 1
    for at in range(6):
        parity = absent
        for n in (1, 2, 4, 8, 16, 32):
            parity ^= parity << n
        moved.append(parity & mask)
        mask = mask ^ moved[-1] | moved[-1] >> (1 << at)
        absent &= ~parity
    return moved


def _gather(_: Target, __: Value, board: Value, mask: Value) -> Value:
    board &= mask
    for at, moved in enumerate(_moves(mask)):
        moving = board & moved
        board = board ^ moving | moving >> (1 << at)
    return board


def _scatter(_: Target, __: Value, board: Value, mask: Value) -> Value:
    for at, moved in [*enumerate(_moves(mask))][::-1]:
        board = board & ~moved | board << (1 << at) & moved
    return board & mask


# -- comparisons


def _compare(target: Target, value: Value, a: Value, b: Value) -> Value:
    """Compare into a mask register if the target has that, else copy the highest bit of what decides."""
    if target.has(value.op + "-mask", value.lanes):
        return _each(value, Value(value.op + "-mask", value.args), op="lanes-of-mask")
    if value.op == "less" and target.has("less-signed", value.lanes):
        return make("less-signed", a ^ SIGN, b ^ SIGN)
    unlike, difference = a ^ b, a - b
    deciding = {
        "equal": ~unlike & (unlike - 1),
        "less": a ^ (unlike | difference ^ b),
        "less-signed": difference ^ unlike & (difference ^ a),
    }
    return deciding[value.op].arithmetic_shift_right(63)


_RULES: Mapping[str, Rule] = {
    "shlv": partial(_shift, "shl"),
    "shrv": partial(_shift, "shr"),
    "rotlv": lambda _, __, board, count: make("shlv", board, count) | make("shrv", board, -count),
    "sar": _arithmetic_shift,
    "sarv": _arithmetic_shift,
    "mul": _product,
    "neg": lambda _, __, number: constant(0, number.lanes) - number,
    "flip": _flip,
    "isolate-lsb": lambda _, __, board: board & -board,
    "clear-lsb": lambda _, __, board: board & board - 1,
    "mask-to-lsb": lambda _, __, board: board ^ board - 1,
    "tzcnt": lambda _, __, board: (~board & board - 1).popcount(),
    "gather": _gather,
    "scatter": _scatter,
    **dict.fromkeys(("equal", "less", "less-signed"), _compare),
}
"""The rewriting of each operation, for a target without a row."""
