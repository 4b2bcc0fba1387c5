"""From the solver's answer to a counterexample: boards that are easy to read, what comes out and what should."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import cast

from setwise.analysis.proof.certificate import Counterexample
from setwise.analysis.proof.claims import Case, EntryUnknowns, results
from setwise.analysis.proof.memory import Space
from setwise.analysis.proof.pointers import Addresses, Distance, Pointer
from setwise.analysis.proof.solver import Model, Solver
from setwise.analysis.proof.symbolic import Explorer, Path
from setwise.analysis.run.task import Task
from setwise.analysis.semantics.domains import Bits
from setwise.analysis.semantics.state import Flag
from setwise.analysis.semantics.table import SemanticsError, State

_ALL = (1 << 64) - 1
_FEW_PIECES = 3
_SAMPLES = 8  # of each density


class Disagreement(AssertionError):
    """Two ways to the same answer that differ: an error in the prover itself."""


def samples(task: Task) -> Iterator[tuple[int, ...]]:
    """Words of 64 bits that a contract allows: all zeros and ones, then even, sparse and dense ones; always the same.

    Of more than two there are no zeros and ones. Sliders stand on occupied squares alone.
    """
    words = task.words
    for drawn in _drawn(len(words)):
        within = _ALL
        for argument, word in zip(words, drawn, strict=True):
            within &= {"occupied": word, "empty": ~word}.get(argument.kind, _ALL)
        yield tuple(
            (word & within if argument.kind == "board" else word) % (argument.below or 1 << 64)
            for argument, word in zip(words, drawn, strict=True)
        )


def _drawn(number: int) -> Iterator[tuple[int, ...]]:
    if number < 3:
        yield from product((0, 1, _ALL), repeat=number)
    chance = random.Random(number)
    for _ in range(_SAMPLES):
        each = [[chance.getrandbits(64) for _ in range(3)] for _ in range(number)]
        yield tuple(one for one, _, _ in each)
        yield tuple(one & two & three for one, two, three in each)
        yield tuple(one | two | three for one, two, three in each)


def readable_model(solver: Solver, task: Task, words: Sequence[Bits], conditions: Sequence[Bits]) -> Model:
    """A choice of the unknowns under these conditions, which can hold, that is easy to read.

    As few pieces stand on the board as may be, and on the lowest squares: so it is the same whatever solver finds it.
    """
    found = solver.pleasing(conditions, _wishes(solver.domain, task, words), about="a claim fails, readably")
    if found is None:
        raise Disagreement("conditions that could hold no longer do")
    return found


def _wishes(domain: Addresses, task: Task, words: Sequence[Bits]) -> Iterator[Bits]:
    """What makes a counterexample easy to read, the most welcome first."""
    unknown = [(argument, word) for argument, word in zip(task.words, words, strict=False) if not isinstance(word, int)]
    sliders: Bits = 0
    boards: list[Bits] = []
    for argument, word in unknown:
        if argument.kind == "board":
            sliders = domain.or_(sliders, word, 64)
        if argument.kind in ("board", "leapers"):
            boards.append(word)
    for argument, word in unknown:
        if argument.kind in ("empty", "occupied"):
            blockers = domain.not_(word, 64) if argument.kind == "empty" else word
            boards.append(domain.and_(blockers, domain.not_(sliders, 64), 64))
    for word in boards:
        fewer = word
        for _ in range(_FEW_PIECES):
            yield domain.eq(fewer, 0, 64)
            fewer = domain.and_(fewer, domain.sub(fewer, 1, 64), 64)
    for argument, word in unknown:
        if argument.kind == "empty":
            yield domain.eq(domain.and_(word, sliders, 64), 0, 64)
            yield domain.eq(domain.and_(domain.not_(word, 64), sliders, 64), 0, 64)  # or all stand on empty squares
            boards.append(domain.and_(word, sliders, 64))
    for word in boards:
        for square in reversed(range(64)):
            yield domain.eq(domain.and_(word, 1 << square, 64), 0, 64)


def counterexample(
    domain: Addresses,
    entry: EntryUnknowns,
    task: Task,
    case: Case,
    lane: int,
    model: Model,
    expected: Sequence[Bits],
    what: str,
    state: State | None,
) -> Counterexample:
    """What the model says; `state` is that of the routine's end, None where it does not come to one.

    The expected results are computed a second time, over integers; Disagreement if they are others.
    """
    inputs = tuple(
        (argument.name, tuple(model(word, 64) for word in lanes))
        for argument, lanes in zip(task.words, case.words, strict=True)
    )
    registers = {name: model(value, 64) for name, value in entry.words()}
    wanted: tuple[int, ...] = ()
    got: tuple[int, ...] = ()
    if case.lanes:
        wanted = task.expected([lanes[min(lane, len(lanes) - 1)] for _, lanes in inputs])
        if wanted != tuple(model(word, 64) for word in expected):
            raise Disagreement(f"the specification over integers is not that over bit-vectors: {inputs}")
        got = () if state is None else tuple(_number(model, result) for result in results(task, case, state, lane))
    return Counterexample(what, inputs, lane, wanted, got, registers, alias=case.alias, runs=state is not None)


def _number(model: Model, value: Bits) -> int:
    return 0 if isinstance(value, Pointer) else model(value, 64)


def afresh(state: State) -> State:
    """A copy with memory of its own."""
    return state.copy(cast(Space, state.memory).copy())


def never_returns(explorer: Explorer, start: State, model: Model) -> bool:
    """Whether the routine, started from here under these choices of the unknowns, comes back to a state that it was in.

    A kernel of ours also where it runs on for more instructions than the explorer's limit: none needs as many on a few
    boards. Somebody else's function may.
    """

    def known(value: Bits, width: int = 64) -> Bits:
        return value if isinstance(value, (Pointer, Distance)) else model(value, width)

    space = cast(Space, start.memory)
    start.registers = {name: known(value) for name, value in start.registers.items()}
    start.vectors = {name: tuple(map(known, lanes)) for name, lanes in start.vectors.items()}
    for cells in space.cells.values():
        for at, (value, width, part) in cells.content.items():
            if value is not explorer.back:
                cells.content[at] = (known(value, width), width, part)
    path, before = Path(start, 0), Path(afresh(start), -1)
    try:
        for number in range(explorer.limits.steps):
            if path.offset == before.offset and _same(path.state, before.state):
                return True
            if number & (number - 1) == 0:  # a state at ever longer distances: a round of any length shows
                before = Path(afresh(path.state), path.offset)
            if explorer.step(path) is not None:
                return False
    except SemanticsError:
        return False
    return explorer.code.binary.layout is None


def _same(state: State, before: State) -> bool:
    """Whether registers, memory and flags are as they were."""
    cells, kept = (cast(Space, each.memory).cells for each in (state, before))
    return (
        (state.registers, state.vectors) == (before.registers, before.vectors)
        and {base: held.content for base, held in cells.items()} == {base: held.content for base, held in kept.items()}
        and _values(state.flags) == _values(before.flags)
    )


def _values(flags: Mapping[str, Flag | None]) -> dict[str, Bits]:
    return {name: None if flag is None else flag() for name, flag in flags.items()}
