"""The levels of the search: kinds of replacement for a value."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from setwise.analysis.search.expressions import ONES, Expressions
from setwise.analysis.search.forms import Lanes
from setwise.analysis.search.program import Argument, Known, Program, ProgramStep, lanes_of
from setwise.analysis.search.substitutes import Trials


@dataclass(frozen=True)
class Candidate:
    """A replacement for a value: another value, a constant or the last of `steps`; and its words on the few samples."""

    argument: Argument
    lanes: Lanes
    description: str
    steps: tuple[ProgramStep, ...] = ()


Level = Callable[[Trials, ProgramStep, float], Iterator[Candidate]]
"""A function that yields replacements for a step. It may raise OutOfTime when time.thread_time() exceeds the number."""


def others(trials: Trials, step: ProgramStep, _: float) -> Iterator[Candidate]:
    """Yield level a: first values in the step's register file that do not depend on the step, then `constants`."""
    program = trials.program
    for number in values_beside(trials, step):
        if program.files[number] == step.form.file:
            yield Candidate(number, trials.lanes(number), describe(program, number))
    for known in constants(program, step):
        yield Candidate(known, known.words, describe(program, known))


def _new(
    trials: Trials, step: ProgramStep, until: float, found: Callable[[Expressions], Iterator[tuple[ProgramStep, ...]]]
) -> Iterator[Candidate]:
    if step.form.file == "mask":
        return
    beside: list[Argument] = [*values_beside(trials, step), *constants(trials.program, step)]
    for steps in found(Expressions(trials, step, beside, until)):
        known = dict(trials.values)
        for new in steps:
            known[new.number] = new.form.result(trials.few, [lanes_of(arg, known) for arg in new.args])
        yield Candidate(steps[-1].number, known[steps[-1].number], "; ".join(new.description for new in steps), steps)


single: Level = partial(_new, found=Expressions.single)
"""Level b: one new instruction of the target over values and constants."""
pairs: Level = partial(_new, found=Expressions.pairs)
"""Level c: two new instructions of the target, of which the second reads the first."""
triples: Level = partial(_new, found=Expressions.triples)
"""Level c: three new instructions; the second reads the first, and the third reads the second."""


def values_beside(trials: Trials, step: ProgramStep) -> list[int]:
    """Return the numbers of arguments (no pointer to results) and of steps' results that do not depend on this step."""
    below = trials.program.below(step.number)
    given = [at for at, argument in enumerate(trials.task.arguments) if argument.kind != "results"]
    made = [other.number for other in trials.program.steps if other.form.file]
    return [number for number in (*given, *made) if number not in below]


def constants(program: Program, step: ProgramStep) -> list[Known]:
    """Return constants to replace a result: 0, all ones, those of its file that the program reads; for masks none."""
    if step.form.file == "mask":
        return []
    lanes = 8 if step.form.file == "vector" else 1
    own = [known for known in program.constants if len(known.words) == lanes]
    ones = (ONES,) * step.form.lanes + (0,) * (lanes - step.form.lanes)
    return list(dict.fromkeys([Known((0,) * lanes), Known(ones), *own]))


def describe(program: Program, argument: Argument) -> str:
    """Return an argument as text."""
    if isinstance(argument, Known):
        words = dict.fromkeys(argument.words)
        return "the constant " + ", ".join(f"{word:#x}" for word in words)
    description = next((step.description for step in program.steps if step.number == argument), "")
    return f"the result of {description}" if description else f"argument {argument + 1}"


LEVELS: Mapping[str, tuple[Level, ...]] = MappingProxyType({"a": (others,), "b": (single,), "c": (pairs, triples)})
"""The levels by letter; within a level, the cheaper search comes first."""
