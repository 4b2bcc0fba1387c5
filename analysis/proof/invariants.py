"""Guesses at what holds at a loop's head before each round: for sums by their carries, and for arrays of boards.

A guess needs no trust: `loops` proves what it says, or takes another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import permutations
from typing import Protocol

from setwise.analysis.code.decode import signed
from setwise.analysis.proof.memory import Board
from setwise.analysis.proof.pointers import Addresses, Pointer
from setwise.analysis.proof.symbolic import Path
from setwise.analysis.semantics.domains import Bits, identical

Variable = str | tuple[int, int]  # a register, or a word of the stack: its offset and its width
Words = tuple[Bits, ...]

MOST_BOARDS = 1 << 60  # more do not fit into the address space


@dataclass(frozen=True, slots=True)
class LoopHead:
    """What holds before some round.

    Variables have `values`, `conditions` hold, and `frontier` boards are done (None: there are no arrays). `rises` is a
    number that is greater the next time, `zero` one of which the zero flag may tell whether it is 0. Other variables
    hold the words `made` of boards that were read `ahead`, whichever lie there now.
    """

    values: Mapping[Variable, Bits]
    conditions: Sequence[Bits]
    rises: Bits
    zero: Bits
    frontier: Bits = None
    made: Mapping[Variable, Words] = field(default_factory=dict)
    ahead: Mapping[Board, Bits] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Invariant:
    """A guess: what holds before a round is said `at` words that differ from round to round.

    `first` are the words before the first round; `next` gives those behind a round from the path, which came back, and
    those before it.
    """

    first: Words
    next: Callable[[Path, Words], Words]
    at: Callable[[Words], LoopHead]


class InvariantSource(Protocol):
    """Where guesses come from; `statement` is what they say, in words."""

    statement: str

    def invariants(self, path: Path, backs: Sequence[Path], variables: Sequence[Variable]) -> list[Invariant]:
        """Guesses for the head that `path` comes to, where a round leads to `backs` and writes at most `variables`."""


@dataclass(frozen=True)
class Carries:
    """The `total` of `bits` bits, added up by its carries: two variables hold a sum and what is to be carried."""

    domain: Addresses
    total: Bits
    bits: int
    statement = "a + 2 b is the sum, and the lowest bit of b rises"

    def invariants(self, path: Path, backs: Sequence[Path], variables: Sequence[Variable]) -> list[Invariant]:
        """One for any two variables."""
        return [
            Invariant(_words_behind(pair, path, ()), partial(_words_behind, pair), partial(self._head, pair))
            for pair in permutations([variable for variable in variables if is_word(variable)], 2)
        ]

    def _head(self, pair: Sequence[Variable], words: Words) -> LoopHead:
        (a, b), domain = words, self.domain
        whole = domain.and_(domain.add(a, domain.shl(b, 1, 64), 64), (1 << self.bits) - 1, 64)
        small = [domain.eq(domain.shr(word, self.bits, 64), 0, 64) for word in words if self.bits < 64]
        lowest = domain.and_(b, domain.sub(0, b, 64), 64)
        return LoopHead(dict(zip(pair, words, strict=True)), [domain.eq(whole, self.total, 64), *small], lowest, b)


@dataclass(frozen=True)
class Counters:
    """Arrays of `count` boards: in each round as many are done, and what counts them or points to them moves along."""

    domain: Addresses
    count: Bits
    statement = "a boards are done and right, and a rises to n"

    def invariants(self, path: Path, backs: Sequence[Path], variables: Sequence[Variable]) -> list[Invariant]:
        """What one round does, said of all; and where that can be, that as many boards are left before each."""
        (each, *unlike) = {_written(back) - _written(path) for back in backs}
        if unlike or each < 1:
            return []
        moving, arrays = {}, path.space.arrays
        for variable in filter(is_word, variables):
            before = word_of(path, variable)
            moves = {self.domain.distance(word_of(back, variable), before) for back in backs}
            step = moves.pop()
            if not moves and step is not None and signed(step, 64) % each == 0:
                moving[variable] = before, signed(step, 64) // each
        assert arrays is not None
        start = self.domain.add(arrays.frontier, _written(path), 64)
        ahead = arrays.round.following.ahead
        again = [(back, names_now(back, ahead)) for back in backs]

        def is_made_again(variable: Variable) -> bool:
            return all(
                identical(self.domain.renamed(before, now, 64), after)
                for back, now in again
                for before, after in zip(words_of(path, variable), words_of(back, variable), strict=True)
            )

        others = (variable for variable in variables if variable not in moving)
        made = {variable: words_of(path, variable) for variable in others if is_made_again(variable)}
        make = partial(self._head, moving, start, each, made, ahead)
        return [Invariant((0,), partial(self._next, each), partial(make, least)) for least in (each, 0)]

    def _next(self, each: int, _: Path, words: Words) -> Words:
        return (self.domain.add(words[0], each, 64),)

    def _head(
        self,
        moving: Mapping[Variable, tuple[Bits, int]],
        start: Bits,
        each: int,
        made: Mapping[Variable, Words],
        ahead: Mapping[Board, Bits],
        least: int,
        words: Words,
    ) -> LoopHead:
        domain, (done,) = self.domain, words
        all_left = domain.sub(self.count, start, 64)
        left = domain.sub(all_left, done, 64)
        conditions = [
            domain.not_(domain.ult(all_left, done, 64), 1),
            domain.not_(domain.ult(left, least, 64), 1),
        ]
        if each & (each - 1) == 0:
            conditions.append(domain.eq(domain.and_(done, each - 1, 64), 0, 64))
        values = {
            variable: domain.add(before, self._times(done, rate), 64) for variable, (before, rate) in moving.items()
        }
        return LoopHead(values, conditions, done, left, domain.add(start, done, 64), made, ahead)

    def _times(self, number: Bits, rate: int) -> Bits:
        if rate < 0:
            return self.domain.sub(0, self._times(number, -rate), 64)
        if rate & (rate - 1) == 0:
            return self.domain.shl(number, rate.bit_length() - 1, 64) if rate else 0
        return self.domain.mul(number, rate, 64)


def is_word(variable: Variable) -> bool:
    """Whether it is a general register or a whole word of the stack."""
    return variable[1] == 64 if isinstance(variable, tuple) else not variable.startswith(("zmm", "k"))


def word_of(path: Path, variable: Variable) -> Bits:
    """What a general register or a word of the stack holds."""
    if not isinstance(variable, tuple):
        return path.state.registers[variable]
    return path.space.load(Pointer(path.space.stack, variable[0] % (1 << 64)), variable[1])


def words_of(path: Path, variable: Variable) -> Words:
    """The same, or each lane of a vector register; none of what is neither."""
    if not isinstance(variable, tuple) and variable in path.state.vectors:
        return path.state.vectors[variable]
    return (word_of(path, variable),) if is_word(variable) else ()


def names_now(path: Path, ahead: Mapping[Board, Bits]) -> dict[Bits, Bits]:
    """For boards that were read ahead those at the same places from where the path's next round begins."""
    assert path.space.arrays is not None
    known = path.space.arrays.round.following.ahead
    return {before: known[board] for board, before in ahead.items() if board in known}


def _words_behind(variables: Sequence[Variable], path: Path, _: Words) -> Words:
    return tuple(word_of(path, variable) for variable in variables)


def _written(path: Path) -> int:
    arrays = path.space.arrays
    return len(arrays.round.written) if arrays else 0
