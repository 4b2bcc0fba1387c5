"""From the solver's answer to a counterexample: boards that are easy to read, what comes out and what should."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from analysis.certificate import Counterexample
from analysis.claims import Case, Entry, results
from analysis.domains import Value
from analysis.memory import Space
from analysis.pointers import Addresses, Pointer
from analysis.semantics import SemanticsError, State
from analysis.solve import Model, Solver
from analysis.symbolic import Explorer, Path
from analysis.task import Task


class Disagreement(AssertionError):
    """Two ways to the same answer that differ: an error in the prover itself."""


def plain(solver: Solver, task: Task, words: Sequence[Value], conditions: Sequence[Value]) -> Model:
    """A choice of the unknowns under these conditions, which can hold, with as few pieces on the board as may be."""
    kept = list(conditions)
    found = solver.model(kept)
    for wish in _wishes(solver.domain, task, words):
        better = solver.model([*kept, wish])
        if better is not None:
            kept, found = [*kept, wish], better
    if found is None:
        raise Disagreement("conditions that could hold no longer do")
    return found


def _wishes(domain: Addresses, task: Task, words: Sequence[Value]) -> list[Value]:
    """What makes a counterexample easy to read, the most welcome first."""
    wishes = []
    sliders: Value = 0
    for one, word in zip(task.words, words, strict=True):
        if one.kind == "board" and not isinstance(word, int):
            sliders = domain.or_(sliders, word, 64)
            wishes.append(domain.eq(domain.and_(word, domain.sub(word, 1, 64), 64), 0, 64))
    for one, word in zip(task.words, words, strict=True):
        if one.kind in ("empty", "occupied") and not isinstance(word, int):
            blockers = domain.not_(word, 64) if one.kind == "empty" else word
            fewest = domain.and_(blockers, domain.not_(sliders, 64), 64)
            wishes.append(domain.eq(fewest, 0, 64))
            wishes.append(domain.eq(domain.and_(fewest, domain.sub(fewest, 1, 64), 64), 0, 64))
    return wishes


def counterexample(
    domain: Addresses,
    entry: Entry,
    task: Task,
    case: Case,
    lane: int,
    model: Model,
    expected: Sequence[Value],
    what: str,
    state: State | None,
) -> Counterexample:
    """What the model says; `state` is that of the routine's end, None where it does not come to one.

    The expected results are computed a second time, over integers; Disagreement if they are others.
    """
    inputs = tuple(
        (one.name, tuple(model(word, 64) for word in lanes)) for one, lanes in zip(task.words, case.words, strict=True)
    )
    if case.lanes == 0:
        return Counterexample(what, inputs, 0, (), (), alias=case.alias, runs=state is not None)
    wanted = task.expected([lanes[min(lane, len(lanes) - 1)] for _, lanes in inputs])
    if wanted != tuple(model(one, 64) for one in expected):
        raise Disagreement(f"the specification over integers is not that over bit-vectors: {inputs}")
    got = () if state is None else tuple(_number(model, one) for one in results(task, case, state, lane))
    registers = {name: model(value, 64) for name, value in entry.registers.items()}
    for name, lanes in entry.vectors.items():
        registers |= {f"{name}.{place}": model(value, 64) for place, value in enumerate(lanes)}
    return Counterexample(what, inputs, lane, wanted, got, registers, alias=case.alias, runs=state is not None)


def _number(model: Model, value: Value) -> int:
    return 0 if isinstance(value, Pointer) else model(value, 64)


def afresh(state: State) -> State:
    """A copy with memory of its own."""
    return state.copy(cast(Space, state.memory).copy())


def never_returns(explorer: Explorer, start: State, model: Model) -> bool:
    """Whether the routine, started from here under these choices of the unknowns, runs on for too many instructions.

    The explorer's limit is more than any routine on a few boards needs.
    """

    def known(value: Value, width: int = 64) -> Value:
        return value if isinstance(value, Pointer) else model(value, width)

    space = cast(Space, start.memory)
    start.registers = {name: known(value) for name, value in start.registers.items()}
    start.vectors = {name: tuple(map(known, lanes)) for name, lanes in start.vectors.items()}
    for cells in space.cells.values():
        for at, (value, width, part) in cells.content.items():
            if value is not explorer.back:
                cells.content[at] = (known(value, width), width, part)
    path = Path(start, 0)
    try:
        return all(explorer.step(path) is None for _ in range(explorer.limits.steps))
    except SemanticsError:
        return False
