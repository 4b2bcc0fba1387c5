"""Tests of replacements for a value: all on a few samples; programs with those that are right then on many."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from random import Random

from setwise.analysis.search.forms import Lanes, SearchError
from setwise.analysis.search.program import Argument, Program, lanes_of
from setwise.analysis.semantics.domains import Bits
from setwise.analysis.semantics.samples import BYTES, PITCH, Sampled, Samples
from setwise.analysis.spec.contracts import Contract
from setwise.analysis.spec.task import Task
from setwise.codegen.targets.table import Target

FEW = 48
MANY = 1024
_TOGETHER = 32
"""The number of candidates, or changed bits, that are tested at once."""
_BUFFER = 1 << 20  # an arbitrary address for results


@dataclass(frozen=True)
class Samplings:
    """Samples of a contract in a domain: the content of each parameter of a program, and the expected results."""

    domain: Samples
    given: tuple[Lanes, ...]
    expected: tuple[Bits, ...]
    """The words of all results, in the order of the task's results, lane by lane."""

    @staticmethod
    def of(contract: Contract, task: Task, program: Program, number: int) -> Samplings:
        """Return `number` samples for a program with this task. Raises SearchError for a contract without cases."""
        domain = Samples(number)
        lanes = task.lanes if any(argument.place.lanes > 1 for argument in task.arguments) else 1
        names, columns, expected = _drawn(contract, number * lanes)
        # Each lane has its own boards.
        words = {
            name: [domain.of(column[lane * number : (lane + 1) * number]) for lane in range(lanes)]
            for name, column in zip(names, columns, strict=True)
        }
        draw = Random(1)
        read = {*program.results, *(arg for step in program.steps for arg in step.args)}

        def held(at: int, file: str) -> Lanes:
            wide = 8 if file == "vector" else 1
            if at not in read:
                return (0,) * wide
            known: list[Bits] = []
            if at < len(task.arguments):
                argument = task.arguments[at]
                if argument.kind == "results":
                    return (_BUFFER + 8,)
                known = words[argument.name][: argument.place.lanes]
            junk = ([draw.getrandbits(64) for _ in range(number)] for _ in range(wide - len(known)))
            return (*known, *map(domain.of, junk))

        given = tuple(held(p.number, p.file) for p in program.parameters)
        results = tuple(
            domain.of(column[lane * number : (lane + 1) * number])
            for at, result in enumerate(task.results)
            for column in [[row[at] for row in expected]]
            for lane in range(result.place.lanes)
        )
        return Samplings(domain, given, results)


@cache
def _drawn(contract: Contract, number: int) -> tuple[tuple[str, ...], list[list[int]], list[list[int]]]:
    from setwise.analysis.run.inputs import few_cases  # imports NumPy, which --help does not need

    try:
        cases = few_cases(contract, number)
    except ValueError as error:
        raise SearchError(str(error)) from None
    return cases.names, [column.tolist() for column in cases.columns], cases.expected.tolist()


class Trials:
    """A program that is right on the few samples (else SearchError), with tests whether replacements preserve that."""

    def __init__(self, contract: Contract, task: Task, program: Program, target: Target, moves: int = 0) -> None:
        self.contract, self.task, self.program, self.target = contract, task, program, target
        self.moves = moves
        """0 if every instruction of the code is a step. If not, a replacement that saves no step may save a move."""
        self.samples = Samplings.of(contract, task, program, FEW)
        self.few = self.samples.domain
        self.values = program.values(self.few, self.samples.given)
        if self._wrong(program, self.samples, self.values):
            raise SearchError("it violates the specification: setwise prove shows how")

    @cached_property
    def many(self) -> Samplings:
        """The large set of samples."""
        return Samplings.of(self.contract, self.task, self.program, MANY)

    def right(self, program: Program) -> bool:
        """Return whether a program is right on the large set of samples."""
        return not self._wrong(program, self.many, program.values(self.many.domain, self.many.given))

    def lanes(self, arg: Argument) -> Lanes:
        """Return the words of an argument on the few samples."""
        return lanes_of(arg, self.values)

    def standing_in(self, number: int, candidates: Sequence[Lanes]) -> Iterator[int]:
        """Yield the indices of candidates that can replace value `number`: results stay right on the few samples."""
        size = self.few.number * BYTES
        for start in range(0, len(candidates), _TOGETHER):
            some = candidates[start : start + _TOGETHER]
            wrong = self._wrong_with(number, some).to_bytes(size * len(some), "little")
            yield from (start + at for at in range(len(some)) if not any(wrong[at * size : (at + 1) * size]))

    def caring(self, number: int, domain: Samples) -> Bits:
        """Return for each sample a mask of the bits of a value that make a result wrong if changed alone.

        The result is a value of `domain`, which holds the few samples of the first lane, then those of the next.
        """
        lanes = self.lanes(number)
        few, caring = self.few, []
        for at, lane in enumerate(lanes[: domain.number // few.number]):
            bits = 0
            for start in range(0, 64, _TOGETHER):
                changed = [few.xor(lane, 1 << bit, 64) for bit in range(start, start + _TOGETHER)]
                wrong = self._wrong_with(number, [(*lanes[:at], one, *lanes[at + 1 :]) for one in changed])
                for bit in range(_TOGETHER):
                    size = few.number * PITCH
                    bits |= (wrong >> bit * size & (1 << size) - 1) << start + bit
            caring.append(Sampled(bits))
        return domain.joined(caring, few)

    def _wrong_with(self, number: int, candidates: Sequence[Lanes]) -> int:
        """Return the samples with a wrong result if a candidate replaces the words of value `number`.

        Each wrong sample has a 1 in its lowest bit. The samples of the first candidate are the lowest.
        """
        few = self.few
        domain = Samples(few.number * len(candidates))
        known: dict[Argument, Lanes] = {
            number: tuple(domain.joined(lane, few) for lane in zip(*candidates, strict=True))
        }
        repeated: dict[Argument, Lanes] = {}

        def argument(arg: Argument) -> Lanes:
            if arg in known:
                return known[arg]
            if arg not in repeated:
                repeated[arg] = tuple(domain.repeated(lane, few) for lane in lanes_of(arg, self.values))
            return repeated[arg]

        for step in self.program.steps:
            if step.number != number and not known.keys().isdisjoint(step.args):
                known[step.number] = step.form.result(domain, [argument(arg) for arg in step.args])
        differing = 0
        for got, wanted in zip(self.ends(self.program, argument), self.samples.expected, strict=False):
            differing |= domain.differing(got, domain.repeated(wanted, few))
        return differing

    def _wrong(self, program: Program, samplings: Samplings, values: Mapping[int, Lanes]) -> bool:
        domain = samplings.domain
        ends = self.ends(program, lambda arg: lanes_of(arg, values))
        return any(domain.differing(got, wanted) for got, wanted in zip(ends, samplings.expected, strict=False))

    def ends(self, program: Program, argument: Callable[[Argument], Lanes]) -> list[Bits]:
        """Return the words of a program's results, in the order of the task's results, lane by lane.

        `argument` returns the lanes of a value. Results in registers may be followed by unused lanes. Without results
        in registers, return the words that the program stores, 0 where it stores none.
        """
        if program.results:
            return [lane for result in program.results for lane in argument(result)]
        memory: dict[int, Bits] = {}
        for step in program.steps:
            if step.form.file is None:
                start = step.form.offset
                memory.update((start + 8 * at, lane) for at, lane in enumerate(argument(step.number)))
        return [memory.get(8 * at, 0) for at in range(len(self.samples.expected))]
