"""64-bit words of a domain with Python's operators, the values of specifications."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import index

from setwise.analysis.semantics.domains import Bits, Domain

_ALL = (1 << 64) - 1


class BranchError(TypeError):
    """A specification's use of the integer value of a word that is not constant, such as a branch on it."""


Operation = Callable[[Domain, Bits, Bits, int], Bits]


def _operator(operation: Operation) -> Callable[[Word, Word | int], Word]:
    """Return the operator of a word for an operation of its domain."""
    return lambda word, other: word._with(operation, other)


@dataclass(frozen=True, slots=True, eq=False)
class Word:
    """A word of a specification: 64 bits of a domain with the operators of an unsigned integer modulo 2**64.

    Comparisons give 1 or 0. A constant word may be a condition of `if`, an index, or an operand of a division. For any
    other word these raise BranchError, and set the domain's `branched`, in case the error is caught.

    >>> from setwise.analysis.semantics.domains import Integers
    >>> hex((~Word(Integers(), 0xFF) << 8 | 1).value), (1 - Word(Integers(), 2)).value == 2**64 - 1
    ('0xffffffffffff0001', True)
    """

    domain: Domain
    value: Bits

    __and__ = _operator(Domain.and_)
    __or__ = _operator(Domain.or_)
    __xor__ = _operator(Domain.xor)
    __add__ = _operator(Domain.add)
    __sub__ = _operator(Domain.sub)
    __mul__ = _operator(Domain.mul)
    __rand__, __ror__, __rxor__, __radd__, __rmul__ = __and__, __or__, __xor__, __add__, __mul__

    def __rsub__(self, other: int) -> Word:
        return self._of(other) - self

    def __neg__(self) -> Word:
        return 0 - self

    def __invert__(self) -> Word:
        return Word(self.domain, self.domain.not_(self.value, 64))

    def __floordiv__(self, other: Word | int) -> Word:
        return self._of(index(self) // index(other))

    def __mod__(self, other: Word | int) -> Word:
        return self._of(index(self) % index(other))

    def __lshift__(self, count: Word | int) -> Word:
        return self._with(Domain.shl, _count(count))

    def __rshift__(self, count: Word | int) -> Word:
        return self._with(Domain.shr, _count(count))

    def __rlshift__(self, other: int) -> Word:
        return self._of(other) << self

    def __rrshift__(self, other: int) -> Word:
        return self._of(other) >> self

    def __eq__(self, other: object) -> Word:  # type: ignore[override]
        return self._asked(Domain.eq, other)  # type: ignore[arg-type]

    def __ne__(self, other: object) -> Word:  # type: ignore[override]
        return (self == other) ^ 1

    def __lt__(self, other: Word | int) -> Word:
        return self._asked(Domain.ult, other)

    def __gt__(self, other: Word | int) -> Word:
        return self._of(other) < self

    def __le__(self, other: Word | int) -> Word:
        return (self > other) ^ 1

    def __ge__(self, other: Word | int) -> Word:
        return (self < other) ^ 1

    def __hash__(self) -> int:
        return hash(index(self))

    def __index__(self) -> int:
        if not isinstance(self.value, int):
            self.domain.branched = True
            raise BranchError("tests a word or indexes with it: use & | ^ and shifts alone")
        return self.value

    def __bool__(self) -> bool:
        return bool(index(self))

    def _of(self, other: Word | int) -> Word:
        return other if isinstance(other, Word) else Word(self.domain, index(other) & _ALL)

    def _with(self, operation: Operation, other: Word | int) -> Word:
        return Word(self.domain, operation(self.domain, self.value, self._of(other).value, 64))

    def _asked(self, comparison: Operation, other: Word | int) -> Word:
        return Word(self.domain, self.domain.concat(0, self._with(comparison, other).value, 63, 1))


def _count(count: Word | int) -> Word | int:
    if isinstance(count, Word):
        return count
    if index(count) < 0:
        raise ValueError(f"a shift by {count}: shift the other way")
    return min(index(count), 64)
