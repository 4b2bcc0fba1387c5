"""What the semantics compute with: bit-vectors as Python integers, or as terms of a solver.

A value of a domain is a vector of bits whose width the caller knows; values of one bit are truth values. In both
domains a value that is fully known is a plain Python integer below 2 to the power of its width.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from setwise.analysis.code.decode import signed

Bits = Any  # an integer, or the domain's own term


class Domain(Protocol):
    """Operations on values; `width` is that of the operands and, for arithmetic, of the result.

    Shifts by the width or more shift everything out. Comparisons give one bit.
    """

    def and_(self, a: Bits, b: Bits, width: int) -> Bits:
        """Bitwise and."""

    def or_(self, a: Bits, b: Bits, width: int) -> Bits:
        """Bitwise or."""

    def xor(self, a: Bits, b: Bits, width: int) -> Bits:
        """Bitwise exclusive or."""

    def not_(self, a: Bits, width: int) -> Bits:
        """Bitwise complement."""

    def add(self, a: Bits, b: Bits, width: int) -> Bits:
        """Sum modulo 2 to the width."""

    def sub(self, a: Bits, b: Bits, width: int) -> Bits:
        """Difference modulo 2 to the width."""

    def mul(self, a: Bits, b: Bits, width: int) -> Bits:
        """Product modulo 2 to the width."""

    def shl(self, a: Bits, count: Bits, width: int) -> Bits:
        """Shift to the left; the count has the same width."""

    def shr(self, a: Bits, count: Bits, width: int) -> Bits:
        """Shift to the right, zeros coming in; the count has the same width."""

    def sar(self, a: Bits, count: Bits, width: int) -> Bits:
        """Shift to the right, copies of the highest bit coming in; the count has the same width."""

    def extract(self, a: Bits, low: int, width: int, of: int) -> Bits:
        """The `width` bits from bit `low` upwards of a value that is `of` bits wide; no bits are 0."""

    def concat(self, high: Bits, low: Bits, high_width: int, low_width: int) -> Bits:
        """`high` and `low` as one value."""

    def ite(self, condition: Bits, a: Bits, b: Bits, width: int) -> Bits:
        """`a` where the condition is 1, else `b`."""

    def eq(self, a: Bits, b: Bits, width: int) -> Bits:
        """1 where both are equal."""

    def ult(self, a: Bits, b: Bits, width: int) -> Bits:
        """1 where `a` is below `b`, unsigned."""


class Integers:
    """The domain of known values.

    >>> Integers().sub(3, 5, 8), Integers().sar(0x80, 3, 8), Integers().extract(0xABCD, 4, 8, 16) == 0xBC
    (254, 240, True)
    """

    def and_(self, a: int, b: int, width: int) -> int:
        """Bitwise and."""
        return a & b

    def or_(self, a: int, b: int, width: int) -> int:
        """Bitwise or."""
        return a | b

    def xor(self, a: int, b: int, width: int) -> int:
        """Bitwise exclusive or."""
        return a ^ b

    def not_(self, a: int, width: int) -> int:
        """Bitwise complement."""
        return a ^ _ones(width)

    def add(self, a: int, b: int, width: int) -> int:
        """Sum modulo 2 to the width."""
        return (a + b) & _ones(width)

    def sub(self, a: int, b: int, width: int) -> int:
        """Difference modulo 2 to the width."""
        return (a - b) & _ones(width)

    def mul(self, a: int, b: int, width: int) -> int:
        """Product modulo 2 to the width."""
        return (a * b) & _ones(width)

    def shl(self, a: int, count: int, width: int) -> int:
        """Shift to the left."""
        return (a << count) & _ones(width) if count < width else 0

    def shr(self, a: int, count: int, width: int) -> int:
        """Shift to the right, zeros coming in."""
        return a >> count if count < width else 0

    def sar(self, a: int, count: int, width: int) -> int:
        """Shift to the right, copies of the highest bit coming in."""
        return (signed(a, width) >> min(count, width)) & _ones(width)

    def extract(self, a: int, low: int, width: int, of: int) -> int:
        """The `width` bits from bit `low` upwards."""
        return (a >> low) & _ones(width)

    def concat(self, high: int, low: int, high_width: int, low_width: int) -> int:
        """`high` and `low` as one value."""
        return high << low_width | low

    def ite(self, condition: int, a: int, b: int, width: int) -> int:
        """`a` where the condition is 1, else `b`."""
        return a if condition else b

    def eq(self, a: int, b: int, width: int) -> int:
        """1 where both are equal."""
        return int(a == b)

    def ult(self, a: int, b: int, width: int) -> int:
        """1 where `a` is below `b`, unsigned."""
        return int(a < b)


class BitVectors:
    """The domain of bitwuzla's terms; whatever is known stays an integer.

    Raises ModuleNotFoundError where bitwuzla is not installed. `terms` is the term manager, `bitwuzla` the module.
    """

    def __init__(self) -> None:
        try:
            self.bitwuzla = importlib.import_module("bitwuzla")
        except ModuleNotFoundError:
            raise ModuleNotFoundError("proofs need bitwuzla: pip install bitwuzla", name="bitwuzla") from None
        self.terms = self.bitwuzla.TermManager()
        # Terms must not outlive their manager, and in what order the garbage collector clears them nobody says: so the
        # manager, which is small without terms, is never freed.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self.terms))
        self._kind = self.bitwuzla.Kind
        self._kinds = {kind.name: kind for kind in self._kind}
        self._numbers: dict[tuple[int, int], Any] = {}
        self._known = Integers()
        self._one = self.term(1, 1)

    def variable(self, name: str, width: int) -> Bits:
        """A new unknown."""
        return self.terms.mk_const(self.terms.mk_bv_sort(width), name)

    def term(self, a: Bits, width: int) -> Any:
        """The value as a term, also where it is known."""
        if not isinstance(a, int):
            return a
        known = self._numbers.get((a, width))
        if known is None:
            # In hexadecimal: of a Python integer bitwuzla 0.9.1 makes it with instructions that Haswell has not.
            known = self._numbers[a, width] = self.terms.mk_bv_value(self.terms.mk_bv_sort(width), f"{a:x}", 16)
        return known

    def is_true(self, condition: Bits) -> Any:
        """A value of one bit as a term of sort Bool, as a solver asserts them."""
        return self.terms.mk_term(self._kind.EQUAL, [self.term(condition, 1), self._one])

    def and_(self, a: Bits, b: Bits, width: int) -> Bits:
        """Bitwise and."""
        for one, other in ((a, b), (b, a)):
            if isinstance(one, int) and one in (0, _ones(width)):
                return other if one else 0
        return a if _identical(a, b) else self._two("BV_AND", self._known.and_, a, b, width)

    def or_(self, a: Bits, b: Bits, width: int) -> Bits:
        """Bitwise or."""
        for one, other in ((a, b), (b, a)):
            if isinstance(one, int) and one in (0, _ones(width)):
                return one or other
        return a if _identical(a, b) else self._two("BV_OR", self._known.or_, a, b, width)

    def xor(self, a: Bits, b: Bits, width: int) -> Bits:
        """Bitwise exclusive or."""
        if _identical(a, b):
            return 0
        for one, other in ((a, b), (b, a)):
            if isinstance(one, int) and one == 0:
                return other
        return self._two("BV_XOR", self._known.xor, a, b, width)

    def not_(self, a: Bits, width: int) -> Bits:
        """Bitwise complement."""
        if isinstance(a, int):
            return self._known.not_(a, width)
        return self.terms.mk_term(self._kind.BV_NOT, [a])

    def add(self, a: Bits, b: Bits, width: int) -> Bits:
        """Sum modulo 2 to the width."""
        for one, other in ((a, b), (b, a)):
            if isinstance(one, int) and one == 0:
                return other
        return self._two("BV_ADD", self._known.add, a, b, width)

    def sub(self, a: Bits, b: Bits, width: int) -> Bits:
        """Difference modulo 2 to the width."""
        if isinstance(b, int) and b == 0:
            return a
        return 0 if _identical(a, b) else self._two("BV_SUB", self._known.sub, a, b, width)

    def mul(self, a: Bits, b: Bits, width: int) -> Bits:
        """Product modulo 2 to the width."""
        return self._two("BV_MUL", self._known.mul, a, b, width)

    def shl(self, a: Bits, count: Bits, width: int) -> Bits:
        """Shift to the left."""
        if isinstance(count, int):
            if count >= width:
                return 0
            return self.concat(self.extract(a, 0, width - count, width), 0, width - count, count)
        return self._two("BV_SHL", self._known.shl, a, count, width)

    def shr(self, a: Bits, count: Bits, width: int) -> Bits:
        """Shift to the right, zeros coming in."""
        if isinstance(count, int):
            if count >= width:
                return 0
            return self.concat(0, self.extract(a, count, width - count, width), count, width - count)
        return self._two("BV_SHR", self._known.shr, a, count, width)

    def sar(self, a: Bits, count: Bits, width: int) -> Bits:
        """Shift to the right, copies of the highest bit coming in."""
        return self._two("BV_ASHR", self._known.sar, a, count, width)

    def extract(self, a: Bits, low: int, width: int, of: int) -> Bits:
        """The `width` bits from bit `low` upwards."""
        if isinstance(a, int):
            return self._known.extract(a, low, width, of)
        if width in (0, of):
            return a if width else 0
        return self.terms.mk_term(self._kind.BV_EXTRACT, [a], [low + width - 1, low])

    def concat(self, high: Bits, low: Bits, high_width: int, low_width: int) -> Bits:
        """`high` and `low` as one value."""
        if high_width == 0:
            return low
        if low_width == 0:
            return high
        if isinstance(high, int) and isinstance(low, int):
            return self._known.concat(high, low, high_width, low_width)
        return self.terms.mk_term(self._kind.BV_CONCAT, [self.term(high, high_width), self.term(low, low_width)])

    def ite(self, condition: Bits, a: Bits, b: Bits, width: int) -> Bits:
        """`a` where the condition is 1, else `b`."""
        if isinstance(condition, int):
            return a if condition else b
        if _identical(a, b):
            return a
        arms = [self.term(a, width), self.term(b, width)]
        return self.terms.mk_term(self._kind.ITE, [self.is_true(condition), *arms])

    def eq(self, a: Bits, b: Bits, width: int) -> Bits:
        """1 where both are equal."""
        return 1 if _identical(a, b) else self._two("BV_COMP", self._known.eq, a, b, width)

    def ult(self, a: Bits, b: Bits, width: int) -> Bits:
        """1 where `a` is below `b`, unsigned."""
        if isinstance(a, int) and isinstance(b, int):
            return self._known.ult(a, b, width)
        below = self.terms.mk_term(self._kind.BV_ULT, [self.term(a, width), self.term(b, width)])
        return self.terms.mk_term(self._kind.ITE, [below, self._one, self.term(0, 1)])

    def _two(self, kind: str, known: Callable[[int, int, int], int], a: Bits, b: Bits, width: int) -> Bits:
        if isinstance(a, int) and isinstance(b, int):
            return known(a, b, width)
        return self.terms.mk_term(self._kinds[kind], [self.term(a, width), self.term(b, width)])


@dataclass(frozen=True, slots=True, eq=False)
class DomainWord:
    """A 64-bit value of a domain with Python's operators: what `raywalk.Word` asks for.

    >>> hex((~DomainWord(Integers(), 0xFF) << 8 | 1).value)
    '0xffffffffffff0001'
    """

    domain: Domain
    value: Bits

    def __and__(self, other: DomainWord | int) -> DomainWord:
        return self._with(self.domain.and_, other)

    def __or__(self, other: DomainWord | int) -> DomainWord:
        return self._with(self.domain.or_, other)

    def __xor__(self, other: DomainWord | int) -> DomainWord:
        return self._with(self.domain.xor, other)

    def __add__(self, other: DomainWord | int) -> DomainWord:
        return self._with(self.domain.add, other)

    def __sub__(self, other: DomainWord | int) -> DomainWord:
        return self._with(self.domain.sub, other)

    def __invert__(self) -> DomainWord:
        return DomainWord(self.domain, self.domain.not_(self.value, 64))

    def __lshift__(self, count: int) -> DomainWord:
        return self._with(self.domain.shl, count)

    def __rshift__(self, count: int) -> DomainWord:
        return self._with(self.domain.shr, count)

    def _with(self, operation: Callable[[Bits, Bits, int], Bits], other: DomainWord | int) -> DomainWord:
        value = other.value if isinstance(other, DomainWord) else other & _ones(64)
        return DomainWord(self.domain, operation(self.value, value, 64))


def _identical(a: Bits, b: Bits) -> bool:
    """Whether both are the same number or the same term; two terms may be equal all the same."""
    return a is b or (isinstance(a, int) == isinstance(b, int) and bool(a == b))


def _ones(width: int) -> int:
    return (1 << width) - 1
