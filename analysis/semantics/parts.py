"""What the entries of the table of semantics share: bits, extensions, conditions and the flags of a result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from setwise.analysis.semantics.domains import Domain, Value
from setwise.analysis.semantics.state import Flag, Goto, Operation

Entry = Callable[[Operation], Goto | None]
Two = Callable[[Domain, Value, Value, int], Value]

CONDITIONS: Mapping[str, Callable[[Operation], Value]] = MappingProxyType(
    {
        "o": lambda x: x.flag("of"),
        "no": lambda x: _not(x, x.flag("of")),
        "b": lambda x: x.flag("cf"),
        "ae": lambda x: _not(x, x.flag("cf")),
        "e": lambda x: x.flag("zf"),
        "ne": lambda x: _not(x, x.flag("zf")),
        "be": lambda x: _or(x, x.flag("cf"), x.flag("zf")),
        "a": lambda x: _not(x, _or(x, x.flag("cf"), x.flag("zf"))),
        "s": lambda x: x.flag("sf"),
        "ns": lambda x: _not(x, x.flag("sf")),
        "p": lambda x: x.flag("pf"),
        "np": lambda x: _not(x, x.flag("pf")),
        "l": lambda x: _xor(x, x.flag("sf"), x.flag("of")),
        "ge": lambda x: _not(x, _xor(x, x.flag("sf"), x.flag("of"))),
        "le": lambda x: _or(x, x.flag("zf"), _xor(x, x.flag("sf"), x.flag("of"))),
        "g": lambda x: _not(x, _or(x, x.flag("zf"), _xor(x, x.flag("sf"), x.flag("of")))),
    }
)


def _not(x: Operation, a: Value) -> Value:
    return x.domain.not_(a, 1)


def _or(x: Operation, a: Value, b: Value) -> Value:
    return x.domain.or_(a, b, 1)


def _xor(x: Operation, a: Value, b: Value) -> Value:
    return x.domain.xor(a, b, 1)


def bit(x: Operation, a: Value, place: int, width: int) -> Value:
    """One bit of a value."""
    return x.domain.extract(a, place, 1, width)


def extend(x: Operation, a: Value, width: int, to: int) -> Value:
    """The value with zeros above."""
    return a if to == width else x.domain.concat(0, a, to - width, width)


def sign_extend(x: Operation, a: Value, width: int, to: int) -> Value:
    """The value with copies of its highest bit above."""
    if to == width:
        return a
    above = x.domain.ite(bit(x, a, width - 1, width), (1 << (to - width)) - 1, 0, to - width)
    return x.domain.concat(above, a, to - width, width)


def concat_bits(x: Operation, bits: Sequence[Value]) -> Value:
    """These bits as one value, the lowest first."""
    result = bits[0]
    for place, one in enumerate(bits[1:], 1):
        result = x.domain.concat(one, result, 1, place)
    return result


def is_zero(x: Operation, a: Value, width: int) -> Value:
    """1 where all bits are 0."""
    return x.domain.eq(a, 0, width)


def zero() -> Value:
    """A cleared flag."""
    return 0


def result_flags(x: Operation, result: Value, width: int) -> dict[str, Flag | None]:
    """ZF, SF and PF as a result leaves them."""

    def parity() -> Value:
        odd: Value = 1
        for place in range(8):
            odd = _xor(x, odd, bit(x, result, place, width))
        return odd

    return {
        "zf": lambda: is_zero(x, result, width),
        "sf": lambda: bit(x, result, width - 1, width),
        "pf": parity,
    }
