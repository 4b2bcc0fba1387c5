"""Straight-line code as a dataflow program, and its values on samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from setwise.analysis.search.forms import Form, Lanes
from setwise.analysis.semantics.samples import Samples
from setwise.codegen.machine.code import RegisterFile


@dataclass(frozen=True, slots=True)
class Known:
    """A constant as the words of a register: one, or eight for a vector register."""

    words: tuple[int, ...]

    @property
    def file(self) -> RegisterFile:
        """The register file that can hold the constant."""
        return "vector" if len(self.words) > 1 else "general"


Argument = int | Known
"""A value by its number, or a constant."""


@dataclass(frozen=True, slots=True)
class ProgramInput:
    """A value at entry, in a register of `file` or on the stack. Of an argument, the lowest `lanes` words are set."""

    number: int
    file: RegisterFile
    lanes: int


@dataclass(frozen=True, slots=True)
class ProgramStep:
    """An instruction of a program: the number of its result, its arguments, and its origin as text.

    An instruction that only writes memory has a number too, which no step reads.
    """

    number: int
    form: Form
    args: tuple[Argument, ...]
    description: str


@dataclass(frozen=True)
class Program:
    """Parameters, and steps that read only parameters and earlier steps. `results` are those in registers."""

    parameters: tuple[ProgramInput, ...]
    steps: tuple[ProgramStep, ...]
    results: tuple[Argument, ...]

    @cached_property
    def files(self) -> Mapping[int, RegisterFile]:
        """The register file of each value by its number. Stores are left out."""
        made = {step.number: step.form.file for step in self.steps if step.form.file}
        return {parameter.number: parameter.file for parameter in self.parameters} | made

    @cached_property
    def constants(self) -> tuple[Known, ...]:
        """All distinct constants that steps read."""
        found = (arg for step in self.steps for arg in step.args if isinstance(arg, Known))
        return tuple(dict.fromkeys(found))

    def below(self, number: int) -> frozenset[int]:
        """Return the numbers of a value and of all values that depend on it."""
        below = {number}
        for step in self.steps:
            if not below.isdisjoint(step.args):
                below.add(step.number)
        return frozenset(below)

    def readers(self, number: int) -> frozenset[int]:
        """Return the numbers of the steps that read a value."""
        return frozenset(step.number for step in self.steps if number in step.args)

    def with_instead(self, number: int, other: Argument, new: Sequence[ProgramStep] = ()) -> Program:
        """Return the program with `other` in place of value `number`, with `new` steps and without dead ones.

        The new steps must not depend on the replaced value.
        """
        steps = [
            replace(step, args=tuple(other if arg == number else arg for arg in step.args))
            for step in self.steps
            if step.number != number
        ]
        results = tuple(other if result == number else result for result in self.results)
        return Program(self.parameters, _sorted(self.parameters, [*new, *steps]), results).needed()

    def needed(self) -> Program:
        """Return the program without dead steps. Stores and all parameters are kept."""
        read = {result for result in self.results if isinstance(result, int)}
        kept = []
        for step in reversed(self.steps):
            if step.number in read or step.form.file is None:
                read.update(arg for arg in step.args if isinstance(arg, int))
                kept.append(step)
        return replace(self, steps=tuple(reversed(kept)))

    def values(self, domain: Samples, given: Sequence[Lanes]) -> dict[int, Lanes]:
        """Return the words of each value by its number (of a store, the words written); the parameters' are `given`."""
        known: dict[int, Lanes] = {p.number: lanes for p, lanes in zip(self.parameters, given, strict=True)}
        for step in self.steps:
            known[step.number] = step.form.result(domain, [lanes_of(arg, known) for arg in step.args])
        return known


def lanes_of(arg: Argument, known: Mapping[int, Lanes]) -> Lanes:
    """Return the words of an argument; `known` maps the numbers of values to their words."""
    return arg.words if isinstance(arg, Known) else known[arg]


def _sorted(parameters: Iterable[ProgramInput], steps: Sequence[ProgramStep]) -> tuple[ProgramStep, ...]:
    """Return the steps in topological order: the next one is always the first whose arguments are computed."""
    made = {parameter.number for parameter in parameters}
    waiting, ordered = list(steps), []
    while waiting:
        ready = next(at for at, step in enumerate(waiting) if all(a in made or isinstance(a, Known) for a in step.args))
        step = waiting.pop(ready)
        made.add(step.number)
        ordered.append(step)
    return tuple(ordered)
