"""x86-64 and BMI2 on general registers."""

from collections.abc import Callable
from dataclasses import replace

from setwise.codegen.ir.numbers import is_immediate
from setwise.codegen.ir.values import Value
from setwise.codegen.targets.table import Row, Target, alike, moves


def _sign_extended(value: Value, sign: int = 1) -> bool:
    """Return whether the last argument, with this sign, is a constant that an instruction sign-extends from 32 bits."""
    constant = value.args[-1].constant
    return constant is not None and is_immediate(constant[0] * sign)


def _multiplies(value: Value) -> bool:
    return value.args[1].constant not in ((3,), (5,), (9,))


def _masks(number: int) -> Callable[[Value], bool]:
    """Return whether a value is an intersection with this number."""
    return lambda value: value.args[1].constant == (number,)


_SHIFTS = (
    Row("shl", "shl", "d n"),
    Row("shl", "lea", "d [a+a]", when=lambda value: int(value.attr[0]) == 1),
    Row("shl", "lea", "d [a*2^n]", when=lambda value: 1 < int(value.attr[0]) <= 3),
)

SHIFT_COPY = Row("shl", "imul", "d a 2^n", when=lambda value: value.count < 31)
"""A left shift that keeps its operand: it saves a move and takes three cycles. Variants alone use it."""

# A 32-bit instruction clears the upper half of its result.
_LOW_SHIFTS = tuple(replace(row, op="low-shl", operands=row.operands.replace("d", "d32", 1)) for row in _SHIFTS)

_X86_64 = (
    *alike("d B", "and or xor add sub", "{}"),
    Row("sub-borrow", "sbb", "d b"),
    Row("add", "lea", "d [a+b]", when=lambda value: value.args[1].constant is None),
    Row("add", "lea", "d [a+#b]", when=_sign_extended),
    Row("sub", "lea", "d [a-#b]", when=lambda value: _sign_extended(value, -1)),
    Row("scaled-sum", "lea", "d [a+b*2^n]"),
    Row("displaced-sum", "lea", "d [a+b+#c]", when=_sign_extended),
    Row("displaced-scaled-sum", "lea", "d [a+b*2^n+#c]", when=_sign_extended),
    Row("displaced-shift", "lea", "d [a*2^n+#b]", when=_sign_extended),
    Row("and", "movzx", "d32 a8", when=_masks(0xFF)),
    Row("and", "movzx", "d32 a16", when=_masks(0xFFFF)),
    Row("and", "mov", "d32 a32", when=_masks(0xFFFF_FFFF)),
    *alike("d", "not neg", "{}"),
    Row("flip", "bswap", "d"),
    *_SHIFTS,
    *_LOW_SHIFTS,
    *alike("d n", "shr sar", "{}"),
    Row("rotl", "rol", "d n"),
    Row("shlv", "shl", "d cl"),
    Row("shrv", "shr", "d cl"),
    Row("sarv", "sar", "d cl"),
    Row("rotlv", "rol", "d cl"),
    Row("mul", "imul", "d A #b", when=lambda value: _sign_extended(value) and _multiplies(value)),
    Row("mul", "imul", "d B", when=lambda value: not _sign_extended(value)),
    Row("load-constant", "mov", "d32 #", when=lambda value: value.attr[0] >> 32 == 0),
    Row("load-constant", "mov", "d #", when=lambda value: value.attr[0] >> 32 != 0),
    Row("address", "lea", "d [data]"),
    Row("entry", "mov", "d [a+b*n]", when=lambda value: value.attr == 8),
    Row("entry", "mov", "d32 [a+b*n]", when=lambda value: value.attr == 4),
    Row("entry", "movzx", "d32 [a+b*n]", when=lambda value: value.attr == 1),
    *moves("mov"),
    Row("argument", "mov", "d [argument]"),
    Row("distance", "movsxd", "d [a+b*n]"),
)

X86_64 = Target("x86-64", "x86-64", frozenset({"x86-64"}), _X86_64)

# If an operation has several rows, those that preserve all arguments come last: they are used only to save a move.
_BMI2 = (
    Row("andn", "andn", "d a B"),
    Row("rotl", "rorx", "d a -n"),
    *(replace(row, op="shl-or-rotl") for row in _SHIFTS),
    Row("shl-or-rotl", "rorx", "d a -n"),
    Row("shr-or-rotr", "shr", "d n"),
    Row("shr-or-rotr", "rorx", "d a n"),
    Row("shlv", "shlx", "d a b"),
    Row("shrv", "shrx", "d a b"),
    Row("sarv", "sarx", "d a b"),
    Row("isolate-lsb", "blsi", "d a"),
    Row("clear-lsb", "blsr", "d a"),
    Row("mask-to-lsb", "blsmsk", "d a"),
    Row("tzcnt", "tzcnt", "d a"),
    Row("gather", "pext", "d a B"),
    Row("scatter", "pdep", "d a B"),
    Row("popcount", "popcnt", "d a"),
)

BMI2 = Target("bmi2", "BMI2", frozenset({"x86-64", "popcnt", "bmi1", "bmi2"}), _X86_64 + _BMI2, tries_rotates=True)
