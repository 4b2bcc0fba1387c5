"""Counterexamples from the solver's models, chosen to be easy to read."""

from collections.abc import Iterator, Sequence

from setwise.analysis.proof.certificate import Counterexample
from setwise.analysis.proof.claims import Case, EntryUnknowns, results
from setwise.analysis.proof.pointers import Addresses, Pointer
from setwise.analysis.proof.solver import Model
from setwise.analysis.semantics.domains import Bits
from setwise.analysis.semantics.state import MachineState
from setwise.analysis.spec.task import Task, TaskError

_FEW_PIECES = 3


def wishes(domain: Addresses, task: Task, words: Sequence[Bits]) -> Iterator[Bits]:
    """Yield properties of a readable counterexample as one-bit conditions, in order of priority.

    `words` are the arguments. Boards should have few pieces, on low squares.
    """
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
            # If some slider must be on an empty square, all of them should be.
            yield domain.eq(domain.and_(domain.not_(word, 64), sliders, 64), 0, 64)
            boards.append(domain.and_(word, sliders, 64))
    for word in boards:
        for square in reversed(range(64)):
            yield domain.eq(domain.and_(word, 1 << square, 64), 0, 64)


def counterexample(
    entry: EntryUnknowns,
    case: Case,
    lane: int,
    model: Model,
    expected: Sequence[Bits],
    what: str,
    state: MachineState | None,
) -> Counterexample:
    """Return the counterexample of a model, with the complaint `what`. `state` is the state on return, or None.

    The expected results are recomputed over integers. Raises TaskError if the model gives others for `expected`.
    """
    inputs = tuple(
        (argument.name, tuple(model(word, 64) for word in lanes))
        for argument, lanes in zip(case.task.words, case.words, strict=True)
    )
    registers = {name: model(value, 64) for name, value in entry.words()}
    wanted: tuple[int, ...] = ()
    got: tuple[int, ...] = ()
    if case.lanes:
        wanted = case.task.expected([lanes[min(lane, len(lanes) - 1)] for _, lanes in inputs])
        if wanted != tuple(model(word, 64) for word in expected):
            raise TaskError("the specification does not give equal results twice: let it depend on its arguments alone")
        made = [] if state is None else results(case, state, lane)
        got = tuple(0 if isinstance(word, Pointer) else model(word, 64) for word in made)
    alias = case.alias[0] if case.alias else None
    return Counterexample(what, inputs, lane, wanted, got, registers, alias=alias, runs=state is not None)
