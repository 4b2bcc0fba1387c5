"""Domains of values for the semantics: bit-vectors as Python integers, or as terms of a solver.

The caller knows the width of a value; a one-bit value is a truth value. In both domains a constant is a plain Python
integer below 2 to the power of its width.
"""

from __future__ import annotations

import ctypes
import importlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache, reduce
from typing import Any

from setwise.analysis.code.decode import signed

Bits = Any  # an integer, or the domain's own term


FOLD: Mapping[str, Callable[[int, int, int], int]] = {
    "BV_AND": lambda a, b, _: a & b,
    "BV_OR": lambda a, b, _: a | b,
    "BV_XOR": lambda a, b, _: a ^ b,
    "BV_ADD": lambda a, b, width: (a + b) & _ones(width),
    "BV_SUB": lambda a, b, width: (a - b) & _ones(width),
    "BV_MUL": lambda a, b, width: (a * b) & _ones(width),
    "BV_SHL": lambda a, count, width: (a << count) & _ones(width) if count < width else 0,
    "BV_SHR": lambda a, count, width: a >> count if count < width else 0,
    "BV_ASHR": lambda a, count, width: (signed(a, width) >> min(count, width)) & _ones(width),
    "BV_COMP": lambda a, b, _: int(a == b),
    "BV_ULT": lambda a, b, _: int(a < b),
}
"""Functions of two constants and their width, by the bitwuzla name of the operation that they compute."""


def _operation(kind: str) -> Callable[[Domain, Bits, Bits, int], Bits]:
    """Return the method for operation `kind`, a key of FOLD: it folds two constants, and otherwise makes a term."""
    known = FOLD[kind]

    def operation(domain: Domain, a: Bits, b: Bits, width: int) -> Bits:
        if isinstance(a, int) and isinstance(b, int):
            return known(a, b, width)
        return domain._term(kind, (a, width), (b, width))

    return operation


class Domain:
    """The operations on values; for two values `width` is the width of both and, but for comparisons, of the result.

    A count of a shift has that width too; the width or more shifts every bit out. `shr` shifts in zeros, `sar` copies
    of the sign. `eq` and the unsigned `ult` give one bit. Operations on constants alone are computed here; a subclass
    makes terms of the others.
    """

    branched = False
    """True if a specification asked for the value of a non-constant; `Word` sets it."""

    and_ = _operation("BV_AND")
    or_ = _operation("BV_OR")
    xor = _operation("BV_XOR")
    add = _operation("BV_ADD")
    sub = _operation("BV_SUB")
    _multiply = _operation("BV_MUL")
    shl = _operation("BV_SHL")
    shr = _operation("BV_SHR")
    sar = _operation("BV_ASHR")
    eq = _operation("BV_COMP")
    ult = _operation("BV_ULT")

    def mul(self, a: Bits, b: Bits, width: int) -> Bits:
        """Return the product. By a constant power of two it is a shift, a far smaller formula."""
        if isinstance(b, int) and b.bit_count() == 1:
            return self.shl(a, b.bit_length() - 1, width)
        return self._multiply(a, b, width)

    def not_(self, a: Bits, width: int) -> Bits:
        """Return the bitwise complement."""
        return self.xor(a, _ones(width), width)

    def ne(self, a: Bits, b: Bits, width: int) -> Bits:
        """Return 1 if the values differ, else 0."""
        return self.not_(self.eq(a, b, width), 1)

    def conjunction(self, conditions: Iterable[Bits]) -> Bits:
        """Return 1 if all of these bits are 1, else 0."""
        return reduce(lambda one, other: self.and_(one, other, 1), conditions, 1)

    def extract(self, a: Bits, low: int, width: int, of: int) -> Bits:
        """Return `width` bits from bit `low` upwards of a value that is `of` bits wide; for width 0 return 0."""
        if isinstance(a, int):
            return a >> low & _ones(width)
        if width in (0, of):
            return a if width else 0
        return self._term("BV_EXTRACT", (a, of), indices=(low + width - 1, low))

    def concat(self, high: Bits, low: Bits, high_width: int, low_width: int) -> Bits:
        """Return the bits of `high` above those of `low`, as one value."""
        if isinstance(high, int) and isinstance(low, int):
            return high << low_width | low
        if high_width == 0 or low_width == 0:
            return high if low_width == 0 else low
        return self._term("BV_CONCAT", (high, high_width), (low, low_width))

    def ite(self, condition: Bits, a: Bits, b: Bits, width: int) -> Bits:
        """Return `a` if the one-bit condition is 1, else `b`; both have `width` bits."""
        if isinstance(condition, int):
            return a if condition else b
        return a if identical(a, b) else self._term("ITE", (condition, 1), (a, width), (b, width))

    def undefined(self, usual: Bits, width: int) -> Bits:
        """Return a value for an architecturally undefined result: here `usual`, the common result of processors."""
        return usual

    def _term(self, kind: str, *operands: tuple[Bits, int], indices: tuple[int, ...] = ()) -> Bits:
        """Make bitwuzla's term `kind` of (value, width) pairs, with the `indices` it takes; here raise TypeError."""
        raise TypeError(f"{kind} of a value that is no integer: {operands}")


class Integers(Domain):
    """The domain of constants alone.

    >>> Integers().sub(3, 5, 8), Integers().sar(0x80, 3, 8), Integers().extract(0xABCD, 4, 8, 16) == 0xBC
    (254, 240, True)
    """


class BitVectors(Domain):
    """The domain of bitwuzla's terms; a constant remains an integer.

    `terms` is the term manager, `bitwuzla` the module, `built` an estimate of the bits of all terms made so far,
    `closures` those that specifications made.
    Raises ModuleNotFoundError if bitwuzla is not installed.
    """

    def __init__(self) -> None:
        try:
            self.bitwuzla = importlib.import_module("bitwuzla")
        except ModuleNotFoundError:
            raise ModuleNotFoundError("proofs need bitwuzla: pip install bitwuzla", name="bitwuzla") from None
        self.terms = _term_manager(self.bitwuzla)
        self.built = 0
        self.closures: list[Any] = []
        self._kind = self.bitwuzla.Kind
        self._kinds = {kind.name: kind for kind in self._kind}
        self._numbers: dict[tuple[int, int], Any] = {}
        self._named: Counter[str] = Counter()
        self._one = self.term(1, 1)

    def variable(self, name: str, width: int) -> Bits:
        """Return a new variable; a number is appended to a name that is already used."""
        name = re.sub(r"[^ -~]|[|\\]", "_", name)  # characters that SMT-LIB forbids in symbols
        self._named[name] += 1
        number = self._named[name]
        return self.terms.mk_const(self.terms.mk_bv_sort(width), name if number == 1 else f"{name}'{number}")

    def undefined(self, usual: Bits, width: int) -> Bits:
        """Return a new variable, which may have any value; `usual` is ignored."""
        return self.variable("undefined", width)

    def term(self, a: Bits, width: int) -> Any:
        """Return the value as a term, constants included."""
        if not isinstance(a, int):
            return a
        known = self._numbers.get((a, width))
        if known is None:
            # In hexadecimal: for a Python integer bitwuzla 0.9.1 executes instructions that Haswell lacks.
            known = self._numbers[a, width] = self.terms.mk_bv_value(self.terms.mk_bv_sort(width), f"{a:x}", 16)
        return known

    def weight(self, term: Any) -> int:
        """Estimate a term's own gates: its width, times a factor if costly; 0 for leaves, wiring, not and Booleans."""
        kinds, sort = self._kind, term.sort()
        if not sort.is_bv() or not term.children() or term.kind() in (kinds.BV_EXTRACT, kinds.BV_CONCAT, kinds.BV_NOT):
            return 0
        width = int(sort.bv_size())
        times = {kinds.BV_MUL: width, kinds.BV_SHL: 6, kinds.BV_SHR: 6, kinds.BV_ASHR: 6, kinds.BV_ADD: 2}
        return width * times.get(term.kind(), 1)

    def is_true(self, condition: Bits) -> Any:
        """Return a one-bit value as a term of sort Bool, which a solver can assert."""
        return self.terms.mk_term(self._kind.EQUAL, [self.term(condition, 1), self._one])

    def _term(self, kind: str, *operands: tuple[Bits, int], indices: tuple[int, ...] = ()) -> Bits:
        if kind in FOLD:
            (a, width), (b, _) = operands
            simpler = self._simpler(kind, a, b, width)
            if simpler is not None:
                return simpler
        elif kind == "BV_EXTRACT" and operands[0][0].kind() == self._kind.BV_EXTRACT:
            ((inner,), (_, start)), (top, low) = (operands[0][0].children(), operands[0][0].indices()), indices
            return self.extract(inner, start + low, top - low + 1, int(inner.sort().bv_size()))
        elif kind == "BV_EXTRACT" and operands[0][0].kind() == self._kind.BV_CONCAT:
            (whole, of), (top, low) = operands[0], indices
            high_half, low_half = whole.children()
            border = int(low_half.sort().bv_size())
            if top < border or low >= border:  # all bits are in one half
                half, start, width = (low_half, 0, border) if top < border else (high_half, border, of - border)
                known = int(half.value(16), 16) if half.is_value() else half
                return self.extract(known, low - start, top - low + 1, width)
        self.built += operands[-1][1]
        terms = [self.term(value, width) for value, width in operands]
        if kind == "ITE":
            terms[0] = self.is_true(terms[0])
        term = self.terms.mk_term(self._kinds[kind], terms, [*indices])
        return self.terms.mk_term(self._kind.ITE, [term, self._one, self.term(0, 1)]) if kind == "BV_ULT" else term

    def _simpler(self, kind: str, a: Bits, b: Bits, width: int) -> Bits | None:
        """Return a simpler equal value for some operations on a constant or on identical values, else None."""
        if isinstance(b, int) and kind in ("BV_SHL", "BV_SHR"):
            left, zeros = max(0, width - b), min(b, width)
            if kind == "BV_SHL":
                return self.concat(self.extract(a, 0, left, width), 0, left, zeros)
            return self.concat(0, self.extract(a, zeros, left, width), zeros, left)
        if kind == "BV_SUB" and isinstance(b, int) and b == 0:
            return a
        if kind in ("BV_AND", "BV_OR", "BV_XOR", "BV_ADD"):
            ones = _ones(width)
            neutral = ones if kind == "BV_AND" else 0
            for known, other in ((a, b), (b, a)):
                if isinstance(known, int) and known == neutral:
                    return other
                if isinstance(known, int) and known == ones ^ neutral and kind != "BV_ADD":
                    return self._term("BV_NOT", (other, width)) if kind == "BV_XOR" else known
        if kind in ("BV_AND", "BV_OR", "BV_XOR", "BV_SUB", "BV_COMP") and identical(a, b):
            return a if kind in ("BV_AND", "BV_OR") else int(kind == "BV_COMP")
        return None


@cache
def _term_manager(bitwuzla: Any) -> Any:
    """Return the one term manager of this process.

    Terms must not outlive their manager, and the garbage collector clears both in any order. So the manager is never
    freed; it frees a term without references.
    """
    terms = bitwuzla.TermManager()
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(terms))
    return terms


def identical(a: Bits, b: Bits) -> bool:
    """Return whether both are the same integer or the same term; different terms may still be equal."""
    return a is b or (type(a) is type(b) and bool(a == b))


def _ones(width: int) -> int:
    return (1 << width) - 1
