"""Lower the words of `codegen.ir.bit_words`, products and shifts by values to operations with rows of the target.

Source of gathers and scatters by parallel suffix: H. S. Warren, Hacker's Delight, 2nd edition, sections 7-4 and 7-5; of
the comparisons: section 2-12.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Literal

from setwise.codegen.ir.bits import known_zero
from setwise.codegen.ir.graph import Graph, rewrite
from setwise.codegen.ir.values import ALL, Condition, Region, Value, constant, make
from setwise.codegen.passes.simplify import cse
from setwise.codegen.targets.table import Target

_SIGN = 1 << 63
_SWAPPED_BYTES = (0x0001_0203_0405_0607, 0x0809_0A0B_0C0D_0E0F)
"""The byte numbers of two lanes, each in reverse order."""

Rule = Callable[[Target, Value], Value]


def lower_words(graph: Graph, target: Target) -> Graph:
    """Rewrite operations without rows until all have rows, or no rule. Conditions test the sign that fills a mask."""

    def rule(value: Value, _: Value) -> Value:
        return value if target.rows_for(value) else _RULES[value.op](target, value)

    before = graph
    while (lowered := rewrite(graph, rule, _sign_tested, _RULES)) is not graph:
        graph = lowered
    return graph if graph is before else cse(graph)


def _sign_tested(region: Region) -> Region:
    """Test the highest bit, where a condition tests whether all bits are copies of it that are 0."""
    asked = region.condition
    if asked is None or asked.value.op != "sar" or asked.value.attr != (63,):
        return region
    if asked.kind != "nonzero" and asked.bound != 1:
        return region
    kind: Literal["below", "at-least"] = "below" if asked.kind == "below" else "at-least"
    return replace(region, condition=Condition(kind, asked.value.args[0], _SIGN))


def _each(value: Value, *args: Value, op: str) -> Value:
    return Value(op, args, lanes=value.lanes)


# -- shifts and products


def _shift(op: str, target: Target, value: Value) -> Value:
    """Shift each lane by its own count modulo 64. An instruction that shifts all lanes alike runs for each of two."""
    board, count = value.args
    if any(zero | 63 != ALL for zero in known_zero(count, {})):
        count &= 63
    if target.has(op + "-each", value.lanes):
        return _each(value, board, count, op=op + "-each")
    upper = _each(value, count, op="high-half")
    low, high = (_each(value, board, each, op=op + "-all") for each in (count, upper))
    return low & constant((ALL, 0)) | high & constant((0, ALL))


def _arithmetic_shift(_: Target, value: Value) -> Value:
    """Shift as unsigned, then extend the moved sign by xor and subtraction."""
    board = value.args[0]
    if value.attr and set(value.attr) == {63}:
        return -(board >> 63)
    sign, moved = (
        (make("shr", each, attr=value.attr) if value.attr else make("shrv", each, *value.args[1:]))
        for each in (constant(_SIGN, value.lanes), board)
    )
    return (moved ^ sign) - sign


def _arithmetic_shift_by_value(target: Target, value: Value) -> Value:
    return (_arithmetic_shift if not target.has("sar-each", value.lanes) else partial(_shift, "sar"))(target, value)


def _product(_: Target, value: Value) -> Value:
    """Sum three products of 32-bit halves; leave out those that are known to be 0."""
    a, b = value.args
    crossed = make("low-product", _upper(a), b) + make("low-product", a, _upper(b))
    return make("low-product", a, b) + (crossed << 32)


def _upper(value: Value) -> Value:
    upper = value >> 32
    return constant(0, value.lanes) if set(known_zero(upper, {})) == {ALL} else upper


# -- bytes and lowest bits


def _flip(target: Target, value: Value) -> Value:
    (board,) = value.args
    if target.has("shuffle-bytes", value.lanes):
        return _each(value, board, constant(_SWAPPED_BYTES * (value.lanes // 2)), op="shuffle-bytes")
    for width in (8, 16):
        low = ALL // ((1 << width) + 1)
        board = board >> width & low | (board & low) << width
    return board << 32 | board >> 32


def _lowest(op: str, change: int, _: Target, value: Value) -> Value:
    (board,) = value.args
    return make(op, board, board + change if change else -board)


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


def _gather(_: Target, value: Value) -> Value:
    board, mask = value.args
    board &= mask
    for at, moved in enumerate(_moves(mask)):
        moving = board & moved
        board = board ^ moving | moving >> (1 << at)
    return board


def _scatter(_: Target, value: Value) -> Value:
    board, mask = value.args
    for at, moved in [*enumerate(_moves(mask))][::-1]:
        board = board & ~moved | board << (1 << at) & moved
    return board & mask


# -- comparisons


def _mask_from(truth: Value) -> Value:
    """Return all ones if the highest bit is set, else 0."""
    return truth.arithmetic_shift_right(63)


def _compare(otherwise: Rule, target: Target, value: Value) -> Value:
    """Compare into a mask register, if the target has that."""
    if target.has(value.op + "-mask", value.lanes):
        return Value("lanes-of-mask", (Value(value.op + "-mask", value.args),), lanes=value.lanes)
    return otherwise(target, value)


def _equal(_: Target, value: Value) -> Value:
    unlike = value.args[0] ^ value.args[1]
    return _mask_from(~unlike & (unlike - 1))


def _less(target: Target, value: Value) -> Value:
    a, b = value.args
    if target.has("less-signed", value.lanes):
        return make("less-signed", a ^ _SIGN, b ^ _SIGN)
    return _mask_from(a ^ (a ^ b | (a - b) ^ b))


def _less_signed(_: Target, value: Value) -> Value:
    a, b = value.args
    difference = a - b
    return _mask_from(difference ^ (a ^ b) & (difference ^ a))


_RULES: Mapping[str, Rule] = {
    "shlv": partial(_shift, "shl"),
    "shrv": partial(_shift, "shr"),
    "rotlv": lambda _, value: make("shlv", *value.args) | make("shrv", value.args[0], -value.args[1]),
    "sar": _arithmetic_shift,
    "sarv": _arithmetic_shift_by_value,
    "mul": _product,
    "neg": lambda _, value: constant(0, value.lanes) - value.args[0],
    "flip": _flip,
    "isolate-lsb": partial(_lowest, "and", 0),
    "clear-lsb": partial(_lowest, "and", -1),
    "mask-to-lsb": partial(_lowest, "xor", -1),
    "tzcnt": lambda _, value: (~value.args[0] & (value.args[0] - 1)).popcount(),
    "gather": _gather,
    "scatter": _scatter,
    "equal": partial(_compare, _equal),
    "less": partial(_compare, _less),
    "less-signed": partial(_compare, _less_signed),
}
"""The rewriting of each operation, for a target without a row."""
