"""Guesses of loop invariants for loops over arrays.

A guess need not be right: `loops` proves it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from setwise.analysis.code.decode import signed
from setwise.analysis.proof.memory import Unsupported
from setwise.analysis.proof.path_state import Variable, get
from setwise.analysis.proof.pointers import Addresses, Pointer
from setwise.analysis.proof.symbolic import Path
from setwise.analysis.semantics.domains import Bits

MOST_BOARDS = 1 << 60  # more do not fit into the address space


@dataclass(frozen=True, slots=True)
class LoopHead:
    """An instance of an invariant at a loop's head.

    The variables have `values`, `conditions` hold, `frontier` boards are done and `left` remain. Each of the `guesses`
    may hold in addition.
    """

    values: Mapping[Variable, Bits]
    conditions: Sequence[Bits]
    frontier: Bits
    left: Bits
    guesses: Sequence[Bits]


@dataclass(frozen=True)
class Invariant:
    """A loop invariant over arrays of `count` boards.

    `start` boards are done before the loop, and each iteration does `each` more. `moving` maps an induction variable
    to its initial value and its step. A variable in a register may count up to one of `limits`.
    """

    domain: Addresses
    count: Bits
    start: Bits
    each: int
    moving: Mapping[Variable, tuple[Bits, int]]
    limits: Sequence[Bits]

    def head(self, rounds: Bits) -> LoopHead:
        """Return the invariant at the head of the loop after a number of iterations."""
        domain = self.domain
        done, all_left = self._times(rounds, self.each), domain.sub(self.count, self.start, 64)
        left = domain.sub(all_left, done, 64)
        values, guesses = {}, [domain.not_(domain.ult(left, self.each, 64), 1)]
        for variable, (before, rate) in self.moving.items():
            values[variable] = domain.add(before, self._times(rounds, rate), 64)
            if variable.kind != "registers" or isinstance(before, Pointer):
                continue
            if rate < 0:  # a count down to 0
                spent = self._times(rounds, -rate)
                guesses += [domain.ult(spent, before, 64), domain.not_(domain.ult(before, spent, 64), 1)]
            elif rate:  # a count up to a limit
                guesses += [domain.ult(values[variable], limit, 64) for limit in self.limits]
                guesses += [domain.not_(domain.ult(limit, values[variable], 64), 1) for limit in self.limits]
        conditions = [domain.ult(rounds, MOST_BOARDS, 64), domain.not_(domain.ult(all_left, done, 64), 1)]
        return LoopHead(values, conditions, domain.add(self.start, done, 64), left, guesses)

    def _times(self, number: Bits, rate: int) -> Bits:
        if rate < 0:
            return self.domain.sub(0, self._times(number, -rate), 64)
        if rate & (rate - 1) == 0:
            return self.domain.shl(number, rate.bit_length() - 1, 64) if rate else 0
        return self.domain.mul(number, rate, 64)


def guess(
    domain: Addresses, count: Bits, path: Path, backs: Sequence[Path], variables: Sequence[Variable]
) -> Invariant:
    """Return a guessed invariant for the head of `path`, from one iteration, which ends in `backs`.

    `variables` are the parts of the state that the iteration changes. Raises Unsupported if its paths do not all
    process the same number of boards.
    """
    arrays = path.space.arrays
    (each, *unlike) = {_written(back) - _written(path) for back in backs}
    if arrays is None or unlike or each < 1:
        raise Unsupported(f"no invariant is found for the loop at {path.offset:#x}")
    moving = {}
    for variable in variables:
        if variable.is_word:
            before = get(path.state, variable)
            moves = {domain.distance(get(back.state, variable), before) for back in backs}
            step = moves.pop()
            if not moves and step is not None:
                moving[variable] = before, signed(step, 64)
    changing = {variable.key for variable in variables}
    unchanged = [value for name, value in path.state.registers.items() if ("registers", name) not in changing]
    limits = [value for value in unchanged if not isinstance(value, (int, Pointer))]
    return Invariant(domain, count, domain.add(arrays.frontier, _written(path), 64), each, moving, limits)


def _written(path: Path) -> int:
    arrays = path.space.arrays
    return len(arrays.round.written) if arrays else 0
