"""64-bit words of any kind, and the few things that the specification does with them.

A word may be a Python integer, a NumPy array of uint64 or a bit-vector of 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any, Protocol, Self, TypeVar

ALL = 0xFFFF_FFFF_FFFF_FFFF


class WordLike(Protocol):
    """64 bits with the operators of an unsigned integer; integers may be given where the shifts' counts are."""

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
    """1 where the square is in the board, else 0."""
    return (board >> square) & 1


def clip(word: W) -> W:
    """The lowest 64 bits; Python's integers have no end."""
    return word & ALL


def full(word: W) -> W:
    """All ones, of the word's kind."""
    return clip(~(word ^ word))


def known_number(word: Any) -> int | None:
    """Return the number that a word is known to be; None where it is unknown, or stands for many."""
    number = word if isinstance(word, int) else getattr(word, "value", None)
    return number if isinstance(number, int) else None


def joined(words: Iterable[W]) -> W:
    """The union."""
    return reduce(lambda one, other: one | other, words)


def equality_mask(word: W, number: int, bits: int) -> W:
    """All ones where the lowest bits of `word` are `number`, else 0."""
    same = (word ^ word) | 1
    for bit in range(bits):
        same = same & (on(word, bit) ^ (1 - (number >> bit & 1)))
    return (word ^ word) - same


def population(word: W) -> W:
    """How many bits are set: neighbours are added up, then their sums, and so on.

    >>> population(0xFF00_0000_0000_0001)
    9
    """
    for field in (1, 2, 4, 8, 16, 32):
        low = ALL // ((1 << field) + 1)
        word = (word & low) + ((word >> field) & low)
    return word
