"""Bits of constants that do not matter: found on samples, then asked of the solver all at once."""

from __future__ import annotations

import time
from dataclasses import dataclass

from setwise.analysis.proof.prover import Prover
from setwise.analysis.proof.solver import LimitError, Model
from setwise.analysis.run.task import TaskError, assumptions, specified
from setwise.analysis.search.forms import Lanes
from setwise.analysis.search.program import Argument, Known, Program, lanes_of
from setwise.analysis.search.trials import Trials
from setwise.analysis.semantics.domains import Bits

_RESULTS = 8  # where results go: some address that is a word's and no more


@dataclass(frozen=True)
class Spare:
    """A constant, lane by lane, and its bits that may have any value, all of them at once."""

    words: tuple[int, ...]
    bits: tuple[int, ...]


def spare_bits(trials: Trials, known: Known, prover: Prover, until: float) -> Spare | None:
    """The bits of a constant that do not matter; None where all do. LimitError where that is not decided."""
    words = known.words if len(known.words) == 1 else known.words[: _lanes(trials.program, known)]
    bits = trials.idle_bits(known, len(words))
    while any(bits):
        model = _difference(trials, known, bits, prover, until)
        if model is None:
            return Spare(words, tuple(bits))
        bits = [free & ~mask for free, mask in zip(bits, model, strict=True)]
    return None


def _lanes(program: Program, known: Known) -> int:
    """How many lanes of a constant some step reads."""
    return max(step.form.lanes for step in program.steps if known in step.args)


def _difference(trials: Trials, known: Known, bits: list[int], prover: Prover, until: float) -> list[int] | None:
    """Bits of these that, turned, make some result wrong for some arguments; None where there are none."""
    domain, task, program = prover.domain, trials.task, trials.program
    solver = prover.solver
    solver.limit(max(1.0, until - time.thread_time()))
    words = [[domain.variable(argument.name, 64) for _ in range(argument.place.lanes)] for argument in task.arguments]
    turned = [domain.variable("turned", 64) for _ in bits]
    values: dict[Argument, Lanes] = {}
    read = {*program.results, *(arg for step in program.steps for arg in step.args)}
    for parameter in program.parameters:
        if parameter.number not in read:
            continue
        wide = 8 if parameter.file == "vector" else 1
        lanes: list[Bits] = words[parameter.number] if parameter.number < len(words) else []
        if lanes and task.arguments[parameter.number].kind == "results":
            lanes = [_RESULTS]
        values[parameter.number] = (*lanes, *(domain.variable("any", 64) for _ in range(wide - len(lanes))))
    places = zip(known.words[: len(bits)], turned, bits, strict=True)
    instead = [domain.xor(word, domain.and_(mask, free, 64), 64) for word, mask, free in places]
    values[known] = (*instead, *known.words[len(instead) :])
    for step in program.steps:
        args = [values[arg] if arg in values else lanes_of(arg, {}) for arg in step.args]
        values[step.number] = step.form.result(domain, args)
    got = trials.ends(program, lambda arg: values[arg] if arg in values else lanes_of(arg, {}))
    boards = task.lanes if any(argument.place.lanes > 1 for argument in task.arguments) else 1
    assumed: list[Bits] = []
    wanted: list[list[Bits]] = []
    for lane in range(boards):
        given = [
            lanes[min(lane, len(lanes) - 1)]
            for lanes, argument in zip(words, task.arguments, strict=True)
            if argument.kind != "results"
        ]
        try:
            assumed += assumptions(task, domain, given)
            wanted.append(specified(task, domain, given))
        except TaskError:
            raise LimitError from None
    differs: Bits = 0
    expected = [wanted[lane][at] for at, result in enumerate(task.results) for lane in range(result.place.lanes)]
    for one, other in zip(got, expected, strict=False):
        differs = domain.or_(differs, domain.ne(one, other, 64), 1)
    model: Model | None = solver.model([*assumed, differs])
    return None if model is None else [model(mask, 64) & free for mask, free in zip(turned, bits, strict=True)]
