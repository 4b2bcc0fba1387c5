"""What the entries of the table of semantics share: bits, extensions, conditions and the flags of a result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from setwise.analysis.semantics.domains import Bits, Domain
from setwise.analysis.semantics.state import Flag, Goto, Operation

Meaning = Callable[[Operation], Goto | None]
BinaryOperation = Callable[[Domain, Bits, Bits, int], Bits]

OPERATIONS: Mapping[str, BinaryOperation] = MappingProxyType(
    {
        "and": lambda d, a, b, width: d.and_(a, b, width),
        "or": lambda d, a, b, width: d.or_(a, b, width),
        "xor": lambda d, a, b, width: d.xor(a, b, width),
        "add": lambda d, a, b, width: d.add(a, b, width),
        "sub": lambda d, a, b, width: d.sub(a, b, width),
        "mul": lambda d, a, b, width: d.mul(a, b, width),
        "shl": lambda d, a, b, width: d.shl(a, b, width),
        "shr": lambda d, a, b, width: d.shr(a, b, width),
        "sar": lambda d, a, b, width: d.sar(a, b, width),
        "eq": lambda d, a, b, width: d.eq(a, b, width),
    }
)
"""Operations of whatever domain they are given."""

CONDITIONS: Mapping[str, Callable[[Operation], Bits]] = MappingProxyType(
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


def _not(x: Operation, a: Bits) -> Bits:
    return x.domain.not_(a, 1)


def _or(x: Operation, a: Bits, b: Bits) -> Bits:
    return x.domain.or_(a, b, 1)


def _xor(x: Operation, a: Bits, b: Bits) -> Bits:
    return x.domain.xor(a, b, 1)


def bit(x: Operation, a: Bits, place: int, width: int) -> Bits:
    """One bit of a value."""
    return x.domain.extract(a, place, 1, width)


def extend(x: Operation, a: Bits, width: int, to: int) -> Bits:
    """The value with zeros above."""
    return a if to == width else x.domain.concat(0, a, to - width, width)


def sign_extend(x: Operation, a: Bits, width: int, to: int) -> Bits:
    """The value with copies of its highest bit above."""
    if to == width:
        return a
    above = x.domain.ite(bit(x, a, width - 1, width), (1 << (to - width)) - 1, 0, to - width)
    return x.domain.concat(above, a, to - width, width)


def concat_bits(x: Operation, bits: Sequence[Bits]) -> Bits:
    """These bits as one value, the lowest first."""
    result = bits[0]
    for place, one in enumerate(bits[1:], 1):
        result = x.domain.concat(one, result, 1, place)
    return result


def is_zero(x: Operation, a: Bits, width: int) -> Bits:
    """1 where all bits are 0."""
    return x.domain.eq(a, 0, width)


def zero() -> Bits:
    """A cleared flag."""
    return 0


def result_flags(x: Operation, result: Bits, width: int) -> dict[str, Flag | None]:
    """ZF, SF and PF as a result leaves them."""

    def parity() -> Bits:
        odd: Bits = 1
        for place in range(8):
            odd = _xor(x, odd, bit(x, result, place, width))
        return odd

    return {
        "zf": lambda: is_zero(x, result, width),
        "sf": lambda: bit(x, result, width - 1, width),
        "pf": parity,
    }
