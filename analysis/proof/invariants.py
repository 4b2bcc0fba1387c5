"""Guesses at an invariant that holds at the head of a loop over arrays before each round.

A guess needs no trust: `loops` proves it, or takes another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from setwise.analysis.code.decode import signed
from setwise.analysis.proof.pointers import Addresses, Pointer
from setwise.analysis.proof.state import Variable, get
from setwise.analysis.proof.symbolic import Path
from setwise.analysis.semantics.domains import Bits

MOST_BOARDS = 1 << 60  # more do not fit into the address space


@dataclass(frozen=True, slots=True)
class LoopHead:
    """An invariant before some round.

    Variables have `values`, `conditions` hold, and `frontier` boards are done. Each of the `guesses` may hold, too.
    `rises` is a number that is greater the next time, `zero` one of which the zero flag may tell whether it is 0.
    """

    values: Mapping[Variable, Bits]
    conditions: Sequence[Bits]
    rises: Bits
    zero: Bits
    guesses: Sequence[Bits]
    frontier: Bits


Invariant = Callable[[Bits], LoopHead]
"""A guess: the head before the round of that number."""


@dataclass(frozen=True)
class Counters:
    """Arrays of `count` boards: in each round as many are done, and the variables that count or point move along."""

    domain: Addresses
    count: Bits
    statement = "a boards are done and right, and a rises to n"

    def invariants(self, path: Path, backs: Sequence[Path], variables: Sequence[Variable]) -> list[Invariant]:
        """Return guesses for the head that `path` comes to; a round leads to `backs` and changes `variables`."""
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
        changing = {variable.key for variable in variables}
        unchanged = [value for name, value in path.state.registers.items() if ("registers", name) not in changing]
        limits = [value for value in unchanged if not isinstance(value, (int, Pointer))]
        return [partial(self._head, moving, start, each, bounds) for bounds in ((), limits)]

    def _head(
        self,
        moving: Mapping[Variable, tuple[Bits, int]],
        start: Bits,
        each: int,
        limits: Sequence[Bits],
        rounds: Bits,
    ) -> LoopHead:
        domain = self.domain
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
        return LoopHead(values, conditions, rounds, left, guesses, domain.add(start, done, 64))

    def _times(self, number: Bits, rate: int) -> Bits:
        if rate < 0:
            return self.domain.sub(0, self._times(number, -rate), 64)
        if rate & (rate - 1) == 0:
            return self.domain.shl(number, rate.bit_length() - 1, 64) if rate else 0
        return self.domain.mul(number, rate, 64)


def _written(path: Path) -> int:
    arrays = path.space.arrays
    return len(arrays.round.written) if arrays else 0
