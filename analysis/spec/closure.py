"""The closure of a set of squares under a step, for specifications of fills that run until nothing changes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from setwise.analysis.semantics.domains import Bits, BitVectors
from setwise.analysis.semantics.words import Word


@dataclass(frozen=True, slots=True)
class Closure:
    """The smallest word that holds `start`, and the squares of `step` from itself; `word` is its unknown value."""

    domain: BitVectors
    start: Bits
    word: Bits
    step: Callable[[Any], Any]

    def within(self, one: Bits, other: Bits) -> Bits:
        """Return the bit whether one word is a subset of the other."""
        return self.domain.eq(self.domain.and_(one, self.domain.not_(other, 64), 64), 0, 64)

    def after(self, word: Bits) -> Bits:
        """Return the word of the squares one step from a word."""
        stepped = self.step(Word(self.domain, word))
        return stepped.value if isinstance(stepped, Word) else int(stepped)

    @property
    def facts(self) -> list[Bits]:
        """Bits that are 1: it holds its start and its own step, and is its start if that has no further step."""
        held = (self.start, self.after(self.word))
        return [*(self.within(each, self.word) for each in held), self.smallest(self.start)]

    def smallest(self, other: Bits) -> Bits:
        """Return a bit that is 1 for any word: if it holds the start and its own step, it holds the closure."""
        closed = self.domain.and_(self.within(self.start, other), self.within(self.after(other), other), 1)
        return self.domain.or_(self.domain.not_(closed, 1), self.within(self.word, other), 1)

    @property
    def decreases(self) -> list[Bits]:
        """Conditions that can hold together only if some step from a subset has a square that is not in the other's."""
        one, other = (self.domain.variable(name, 64) for name in ("fewer squares", "more squares"))
        larger = self.domain.or_(other, self.after(other), 64)
        return [self.within(one, other), self.domain.not_(self.within(self.after(one), larger), 1)]


def closure(start: Any, step: Callable[[Any], Any]) -> Any:
    """Return the smallest board that holds `start` and, of the squares that it holds, all those of their `step`.

    That is what a fill gives that repeats `board |= step(board)` until nothing changes. It is for specifications: the
    prover uses this property of the closure, and a `step` of more squares must have all squares of fewer.

    >>> from setwise import FILE_A, closure
    >>> hex(closure(0x100, lambda board: board << 8 & FILE_A & (1 << 40) - 1))
    '0x101010100'
    """
    board = start | step(start)
    domain = board.domain if isinstance(board, Word) else None
    if isinstance(domain, BitVectors) and not isinstance(board.value, int):
        value = start.value if isinstance(start, Word) else start
        found = Closure(domain, value, domain.variable("a closure", 64), step)
        domain.closures.append(found)
        return Word(domain, found.word)
    for _ in range(63):  # each round adds a square, or there is none to add
        board = board | step(board)
    return board
