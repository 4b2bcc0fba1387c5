"""Guesses at an invariant that holds at a loop's head before each round: for sums by their carries, and for arrays.

A guess needs no trust: `loops` proves it, or takes another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import permutations
from typing import Protocol

from setwise.analysis.code.decode import signed
from setwise.analysis.proof.memory import Board
from setwise.analysis.proof.pointers import Addresses, Pointer, same
from setwise.analysis.proof.state import Variable, get
from setwise.analysis.proof.symbolic import Path
from setwise.analysis.semantics.domains import Bits

Words = tuple[Bits, ...]

MOST_BOARDS = 1 << 60  # more do not fit into the address space


@dataclass(frozen=True, slots=True)
class LoopHead:
    """An invariant before some round.

    Variables have `values`, `conditions` hold, and `frontier` boards are done (None: there are no arrays). Each of the
    `guesses` may hold besides. `rises` is a number that is greater the next time, `zero` one of which the zero flag may
    tell whether it is 0. Other variables hold the values `made` of boards that were read `ahead`, whichever these are
    in this round.
    """

    values: Mapping[Variable, Bits]
    conditions: Sequence[Bits]
    rises: Bits
    zero: Bits
    guesses: Sequence[Bits] = ()
    frontier: Bits = None
    made: Mapping[Variable, Bits] = field(default_factory=dict)
    ahead: Mapping[Board, Bits] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Invariant:
    """A guess: `at` gives the head before a round from words that differ from round to round.

    `first` are the words before the first round; `next` gives those after a round from the path, which came back, and
    those before it.
    """

    first: Words
    next: Callable[[Path, Words], Words]
    at: Callable[[Words], LoopHead]


class InvariantSource(Protocol):
    """A source of guesses; `statement` is their text on a certificate."""

    statement: str

    def invariants(self, path: Path, backs: Sequence[Path], variables: Sequence[Variable]) -> list[Invariant]:
        """Return guesses for the head that `path` comes to; a round leads to `backs` and changes `variables`."""


@dataclass(frozen=True)
class Carries:
    """The `total` of `bits` bits, added up by its carries: two variables hold a sum and what is to be carried."""

    domain: Addresses
    total: Bits
    bits: int
    statement = "a + 2 b is the sum, and the lowest bit of b rises"

    def invariants(self, path: Path, backs: Sequence[Path], variables: Sequence[Variable]) -> list[Invariant]:
        """Return one for any two variables."""
        words = [variable for variable in variables if variable.is_word and variable.kind != "vectors"]
        return [
            Invariant(_values(pair, path, ()), partial(_values, pair), partial(self._head, pair))
            for pair in permutations(words, 2)
        ]

    def _head(self, pair: Sequence[Variable], words: Words) -> LoopHead:
        (a, b), domain = words, self.domain
        whole = domain.and_(domain.add(a, domain.shl(b, 1, 64), 64), (1 << self.bits) - 1, 64)
        small = [domain.eq(domain.shr(word, self.bits, 64), 0, 64) for word in words if self.bits < 64]
        lowest = domain.and_(b, domain.sub(0, b, 64), 64)
        return LoopHead(dict(zip(pair, words, strict=True)), [domain.eq(whole, self.total, 64), *small], lowest, b)


@dataclass(frozen=True)
class Counters:
    """Arrays of `count` boards: in each round as many are done, and the variables that count or point move along."""

    domain: Addresses
    count: Bits
    statement = "a boards are done and right, and a rises to n"

    def invariants(self, path: Path, backs: Sequence[Path], variables: Sequence[Variable]) -> list[Invariant]:
        """Return the changes of one round, said of all; and the same with as many boards left before each."""
        (each, *unlike) = {_written(back) - _written(path) for back in backs}
        if unlike or each < 1:
            return []
        moving, arrays = {}, path.space.arrays
        for variable in variables:
            if variable.is_word:
                before = get(path.state, variable)
                moves = {self.domain.distance(get(back.state, variable), before) for back in backs}
                step = moves.pop()
                if not moves and step is not None:
                    moving[variable] = before, signed(step, 64)
        assert arrays is not None
        start = self.domain.add(arrays.frontier, _written(path), 64)
        ahead = arrays.round.following.ahead
        again = [(back, names_now(back, ahead)) for back in backs]

        made = {}
        for variable in variables:
            if variable not in moving and variable.kind != "flags":
                before = get(path.state, variable)
                renamed = [self.domain.renamed(before, now, variable.width) for _, now in again]
                if all(same(one, get(back.state, variable)) for one, (back, _) in zip(renamed, again, strict=True)):
                    made[variable] = before
        changing = {variable.key for variable in variables}
        unchanged = [value for name, value in path.state.registers.items() if ("registers", name) not in changing]
        limits = [value for value in unchanged if not isinstance(value, (int, Pointer))]
        heads = [partial(self._head, moving, start, each, made, ahead, bounds) for bounds in ((), limits)]
        return [Invariant((0,), self._next, head) for head in heads]

    def _next(self, _: Path, words: Words) -> Words:
        return (self.domain.add(words[0], 1, 64),)

    def _head(
        self,
        moving: Mapping[Variable, tuple[Bits, int]],
        start: Bits,
        each: int,
        made: Mapping[Variable, Bits],
        ahead: Mapping[Board, Bits],
        limits: Sequence[Bits],
        words: Words,
    ) -> LoopHead:
        domain, (rounds,) = self.domain, words
        done, all_left = self._times(rounds, each), domain.sub(self.count, start, 64)
        left = domain.sub(all_left, done, 64)
        values, guesses = {}, [domain.not_(domain.ult(left, each, 64), 1)]
        for variable, (before, rate) in moving.items():
            values[variable] = domain.add(before, self._times(rounds, rate), 64)
            if variable.kind != "registers" or isinstance(before, Pointer):
                continue
            if rate < 0:  # it counts down to 0
                spent = self._times(rounds, -rate)
                guesses += [domain.ult(spent, before, 64), domain.not_(domain.ult(before, spent, 64), 1)]
            elif rate:  # it counts up to a limit
                guesses += [domain.ult(values[variable], limit, 64) for limit in limits]
                guesses += [domain.not_(domain.ult(limit, values[variable], 64), 1) for limit in limits]
        conditions = [domain.ult(rounds, MOST_BOARDS, 64), domain.not_(domain.ult(all_left, done, 64), 1)]
        return LoopHead(values, conditions, rounds, left, guesses, domain.add(start, done, 64), made, ahead)

    def _times(self, number: Bits, rate: int) -> Bits:
        if rate < 0:
            return self.domain.sub(0, self._times(number, -rate), 64)
        if rate & (rate - 1) == 0:
            return self.domain.shl(number, rate.bit_length() - 1, 64) if rate else 0
        return self.domain.mul(number, rate, 64)


def names_now(path: Path, ahead: Mapping[Board, Bits]) -> dict[Bits, Bits]:
    """Return for boards that were read ahead those at the same places from the start of the path's next round."""
    assert path.space.arrays is not None
    known = path.space.arrays.round.following.ahead
    return {before: known[board] for board, before in ahead.items() if board in known}


def _values(variables: Sequence[Variable], path: Path, _: Words) -> Words:
    return tuple(get(path.state, variable) for variable in variables)


def _written(path: Path) -> int:
    arrays = path.space.arrays
    return len(arrays.round.written) if arrays else 0
