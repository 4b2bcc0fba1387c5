"""64-bit words of any kind, and the operations on them that the specification uses.

A word may be a Python integer, a NumPy array of uint64 or a 64-bit bit-vector.
"""

from collections.abc import Iterable
from functools import reduce
from typing import Any, Protocol, Self, TypeVar

ALL = 0xFFFF_FFFF_FFFF_FFFF


class WordLike(Protocol):
    """A word, with the operators of an unsigned integer. Other operands and shift counts may be Python integers."""

    def __and__(self, other: Any, /) -> Self: ...
    def __or__(self, other: Any, /) -> Self: ...
    def __xor__(self, other: Any, /) -> Self: ...
    def __add__(self, other: Any, /) -> Self: ...
    def __sub__(self, other: Any, /) -> Self: ...
    def __mul__(self, other: Any, /) -> Self: ...
    def __invert__(self) -> Self: ...
    def __lshift__(self, count: Any, /) -> Self: ...
    def __rshift__(self, count: Any, /) -> Self: ...


W = TypeVar("W", bound=WordLike)


def on(board: W, square: int) -> W:
    """Return 1 if the square is in the board, else 0, in the kind of the board."""
    return (board >> square) & 1


def clip(word: W) -> W:
    """Return the lowest 64 bits, since Python integers are unbounded."""
    return word & ALL


def full(word: W) -> W:
    """Return 64 ones in the kind of the word."""
    return clip(~(word ^ word))


def known_number(word: Any) -> int | None:
    """Return the number that a word holds, or None if it is unknown or an array."""
    number = word if isinstance(word, int) else getattr(word, "value", None)
    return number if isinstance(number, int) else None


def joined(words: Iterable[W]) -> W:
    """Return the union of the words, of which there is at least one."""
    return reduce(lambda one, other: one | other, words)


def equality_mask(word: W, number: int, bits: int) -> W:
    """Return all ones (-1 for an integer) if the lowest `bits` bits of `word` and `number` agree, else 0."""
    same = (word ^ word) | 1
    for bit in range(bits):
        same = same & (on(word, bit) ^ (1 - (number >> bit & 1)))
    return (word ^ word) - same


def population(word: W) -> W:
    """Return the number of set bits, by adding neighbouring fields of doubling width.

    >>> population(0xFF00_0000_0000_0001)
    9
    """
    for field in (1, 2, 4, 8, 16, 32):
        low = ALL // ((1 << field) + 1)
        word = (word & low) + ((word >> field) & low)
    return word


def add(x: W, y: W) -> W:
    """Return the sum modulo 2**64."""
    return clip(x + y)


def add_32(x: W, y: W) -> W:
    """Return the sum modulo 2**32."""
    return (x + y) & 0xFFFF_FFFF


def bytewise_add(x: W, y: W) -> W:
    """Return the sums of the eight bytes, each modulo 256.

    >>> hex(bytewise_add(0x01FF, 0x0101))
    '0x200'
    """
    return clip(joined((((x >> place & 0xFF) + (y >> place & 0xFF)) & 0xFF) << place for place in range(0, 64, 8)))


def bytewise_sub(x: W, y: W) -> W:
    """Return the differences of the eight bytes, each modulo 256.

    >>> hex(bytewise_sub(0x0200, 0x0101))
    '0x1ff'
    """
    return clip(joined((((x >> place & 0xFF) - (y >> place & 0xFF)) & 0xFF) << place for place in range(0, 64, 8)))
