"""The search for shorter code: replacements are tested on samples, compiled, and proved.

The levels of the search are kinds of replacement for a value.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache, partial
from types import MappingProxyType

from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.decode import Binary, decode, features
from setwise.analysis.code.objects import ObjectFunction
from setwise.analysis.parallel import Show, made, silent
from setwise.analysis.proof.prover import Prover
from setwise.analysis.search.expressions import Expressions, OutOfTime
from setwise.analysis.search.forms import Lanes, SearchError
from setwise.analysis.search.lift import lift
from setwise.analysis.search.lowering import binary_of_code, shortest
from setwise.analysis.search.packed_samples import ONES
from setwise.analysis.search.program import Argument, Known, Program, ProgramStep, lanes_of
from setwise.analysis.search.substitutes import Trials
from setwise.analysis.spec.contracts import task_for
from setwise.analysis.spec.task import Task
from setwise.analysis.workers import Workers
from setwise.codegen.catalogue import find
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.routine import Routine
from setwise.codegen.kernel import Plan, convention_named
from setwise.codegen.request import Request
from setwise.codegen.targets import TARGETS, target_named


@dataclass(frozen=True)
class SearchSubject:
    """The terms of a search: a routine's name (for its contract), instruction set, convention, boards per argument."""

    routine: str
    isa: str
    abi: str
    boards: int = 1

    def __reduce__(self) -> tuple[type[SearchSubject], tuple[str, str, str, int]]:
        return SearchSubject, (self.routine, self.isa, self.abi, self.boards)

    @cached_property
    def plan(self) -> Plan:
        """The plan by which codegen compiles new code."""
        return Plan(find(self.routine), target_named(self.isa), convention_named(self.abi), Layout())

    @cached_property
    def task(self) -> Task:
        """The task that new code must fulfil."""
        return task_for(self.plan.routine.contract, self.plan.convention, self.boards)


@dataclass(frozen=True)
class Improvement:
    """Shorter code: its level, the replacement as text, the numbers of instructions before and after, and the bytes."""

    level: str
    description: str
    before: int
    after: int
    binary: Binary


@dataclass
class Tally:
    """Counts of one level's attempts.

    `places` of `all_places` in the code were searched. Of the `candidates`, `fitting` gave new programs, right on all
    samples and not too long; of these, `no_shorter` gave no shorter code, `refuted` were refuted, and `undecided` were
    neither proved nor refuted. `seconds` is CPU time.
    """

    places: int = 0
    all_places: int = 0
    candidates: int = 0
    fitting: int = 0
    no_shorter: int = 0
    refuted: int = 0
    undecided: int = 0
    seconds: float = 0.0


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


def _new(trials: Trials, step: ProgramStep, until: float, number: int, window: int = 0) -> Iterator[Candidate]:
    if step.form.file == "mask":
        return
    beside: list[Argument] = [*values_beside(trials, step), *constants(trials.program, step)]
    for steps in Expressions(trials, step, beside, until, window).chains(number):
        known = dict(trials.values)
        for new in steps:
            known[new.number] = new.form.result(trials.few, [lanes_of(arg, known) for arg in new.args])
        yield Candidate(steps[-1].number, known[steps[-1].number], "; ".join(new.description for new in steps), steps)


single: Level = partial(_new, number=1)
"""Level b: one new instruction of the target over values and constants."""
pairs: Level = partial(_new, number=2)
"""Level c: two new instructions of the target, of which the second reads the first."""
triples: Level = partial(_new, number=3)
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


def windows(*numbers: int) -> tuple[Level, ...]:
    """Return levels d and e: as many new instructions, in windows of two more."""
    return tuple([partial(_new, number=number, window=number + 2) for number in numbers])


LEVELS: Mapping[str, tuple[Level, ...]] = MappingProxyType(
    {"a": (others,), "b": (single,), "c": (pairs, triples), "d": windows(1, 2, 3), "e": windows(4)}
)
"""The levels by letter; within a level, the cheaper search comes first."""


def instruction_set(binary: Binary) -> str:
    """Return the name of the first instruction set that lacks none or else the fewest of the code's CPU features."""
    needed = features(decode(binary.text))
    return min(TARGETS, key=lambda name: len(needed - TARGETS[name].features))


def length(binary: Binary) -> int:
    """Return the number of instructions, without nops and the last ret."""
    return sum(instruction.mnemonic != "nop" for instruction in decode(binary.text)) - 1


def search(
    subject: SearchSubject, binary: Binary, level: str, budget: float, at: slice = slice(None)
) -> tuple[Tally, Improvement | None]:
    """Search one level for about `budget` seconds of CPU time. Return the attempts, and the first improvement or None.

    `at` selects places of the code: its steps with a result, preceded in level b by the unchanged program. Raises
    SearchError if the code cannot be lifted or is wrong on samples, or if the contract has no test cases.
    """
    return _Search(subject, binary, level, time.thread_time() + budget).run(at)


@lru_cache(4)
def _trials(subject: SearchSubject, binary: Binary) -> Trials:
    program = lift(binary, subject.task, subject.plan.target)
    return Trials(
        subject.plan.routine.contract, subject.task, program, subject.plan.target, length(binary) - len(program.steps)
    )


Values = frozenset[Lanes]
"""The words of each step's result on the few samples, as a set: the same for steps in another order."""


def _values(trials: Trials, program: Program) -> Values:
    return frozenset(trials.values[step.number] for step in program.steps)


_prover = cache(Prover)


@dataclass
class _Search:
    subject: SearchSubject
    binary: Binary
    level: str
    until: float
    tally: Tally = field(default_factory=Tally)

    def run(self, at: slice) -> tuple[Tally, Improvement | None]:
        start, program = time.thread_time(), _trials(self.subject, self.binary).program
        places: list[Program | ProgramStep] = [step for step in program.steps if step.form.file]
        if self.level == "b":  # codegen may compile the unchanged program to fewer instructions
            places.insert(0, program)
        finding = None
        for place in places[at]:
            if time.thread_time() > self.until or finding:
                break
            finding = self.look(place)
            if finding or time.thread_time() <= self.until:
                self.tally.places += 1
        self.tally.seconds, self.tally.all_places = time.thread_time() - start, len(places)
        return self.tally, finding

    def look(self, place: Program | ProgramStep) -> Improvement | None:
        """Search one place, a step or the unchanged program, and return its improvement or None."""
        if isinstance(place, ProgramStep):
            return self.instead(place)
        self.tally.candidates, self.tally.fitting = 1 + self.tally.candidates, 1 + self.tally.fitting
        return self.judged(place, "another order or other registers")

    def instead(self, step: ProgramStep) -> Improvement | None:
        """Return the first improvement in which a step's result, and perhaps a second one, is replaced, or None."""
        trials = _trials(self.subject, self.binary)
        beside = {_values(trials, trials.program)}
        for level in LEVELS[self.level]:
            for program, candidate in self.right(trials, step, level):
                description = f"{step.description} is replaced by {candidate.description}"
                finding = self.judged(program, description)
                if finding is None and len(candidate.steps) > 1:
                    finding = self.beside(trials.program, program, description, beside)
                if finding:
                    return finding
        return None

    def right(self, trials: Trials, step: ProgramStep, level: Level) -> Iterator[tuple[Program, Candidate]]:
        """Yield the distinct programs, right on all samples and not too long, each with its replacement of a step."""
        candidates: list[Candidate] = []
        with suppress(OutOfTime):
            candidates += level(trials, step, self.until)
        self.tally.candidates += len(candidates)
        seen: set[Program] = set()
        most = len(trials.program.steps) - (not trials.moves)
        for at in trials.standing_in(step.number, [candidate.lanes for candidate in candidates]):
            candidate = candidates[at]
            program = trials.program.with_instead(step.number, candidate.argument, candidate.steps)
            if len(program.steps) <= most and program not in seen and trials.right(program):
                seen.add(program)
                self.tally.fitting += 1
                yield program, candidate

    def beside(self, before: Program, program: Program, description: str, seen: set[Values]) -> Improvement | None:
        """Search for a second replacement in a program that alone is no improvement. Return the improvement or None.

        Only steps that have lost a reader since `before` are replaced: they may need fewer bits. A program whose set of
        values is in `seen` is skipped; otherwise that set is added.
        """
        trials = Trials(self.subject.plan.routine.contract, self.subject.task, program, self.subject.plan.target, 1)
        values = _values(trials, program)
        if values in seen:
            return None
        seen.add(values)
        for step in program.steps:
            if before.readers(step.number) <= program.readers(step.number):
                continue
            for other, candidate in self.right(trials, step, single):
                finding = self.judged(
                    other, f"{description}; {step.description} is replaced by {candidate.description}"
                )
                if finding:
                    return finding
        return None

    def judged(self, program: Program, description: str) -> Improvement | None:
        """Compile a program and return it as an improvement if its code is shorter and proved, else None."""
        code = shortest(program, self.subject.plan)
        binary = binary_of_code(code) if code else None
        if binary is None or length(binary) >= length(self.binary):
            self.tally.no_shorter += 1
            return None
        certificate = _prover().prove(binary, self.subject.task)
        if certificate.status != "proved":
            self.tally.refuted += certificate.status == "refuted"
            self.tally.undecided += certificate.status == "not proved"
            return None
        return Improvement(self.level, description, length(self.binary), length(binary), binary)


@dataclass
class SearchSession:
    """The search of one subject: its improvements, the current code, and the attempts of each level on that code."""

    title: str
    subject: SearchSubject
    original: Binary
    binary: Binary
    findings: list[Improvement] = field(default_factory=list)
    tallies: dict[str, Tally] = field(default_factory=dict)
    refused: str = ""
    """The reason why the code is not searched, or ""."""


def run_session(found: SearchSession, levels: Sequence[str], budget: float) -> SearchSession:
    """Search level by level, and start over after each improvement. Update the session and return it.

    Each search of a level takes about `budget` seconds of CPU time, or less.
    """
    left = list(levels)
    while left:
        level = left.pop(0)
        try:
            found.tallies[level], finding = search(found.subject, found.binary, level, budget)
        except SearchError as error:
            found.refused = str(error)
            break
        if finding:
            found.findings.append(finding)
            found.binary = finding.binary
            found.tallies.clear()
            left = list(levels)
    return found


def sessions(requests: Sequence[Request]) -> list[SearchSession]:
    """Return a new session for each kernel that can be made. Kernels of one routine with the same bytes share one."""
    found: dict[tuple[Binary, str], SearchSession] = {}
    for request, kernel in made(requests):
        if isinstance(kernel, str):
            continue
        name, isa, _, abi = request.key
        boards = kernel.layout.lanes if kernel.layout.batched else 1
        binary, subject = binary_of(kernel), SearchSubject(name, isa, abi, boards)
        found.setdefault((binary, name), SearchSession(request.title, subject, binary, binary))
    return [*found.values()]


def session_of(function: ObjectFunction, spec: Routine, abi: str = "sysv", lanes: int = 1) -> SearchSession:
    """Return a new session for an ELF function under the contract of `spec`.

    Raises SearchError if the code cannot be lifted or is wrong on samples, or if the contract has no test cases.
    """
    binary = function.binary
    subject = SearchSubject(spec.name, instruction_set(binary), abi, lanes)
    _trials(subject, binary)  # raises SearchError
    return SearchSession(f"{function.symbol} as {spec.name}", subject, binary, binary)


def shorten(
    sessions: Sequence[SearchSession],
    levels: Sequence[str] = tuple(LEVELS),
    budget: float = 60.0,
    *,
    processes: int = 1,
    show: Show = silent,
) -> None:
    """Search for shorter code with the same contract and update the sessions in place.

    Levels: a, another value in place of a result; b, one new instruction, or new order and registers; c, two or three;
    d, one to three with new constants or carries, as if few instructions were replaceable; e, four.
    A level's search takes about `budget` seconds of CPU time. If interrupted, sessions keep improvements; with several
    processes, those before the first unfinished one. Raises CannotRunHere if a process dies. Needs NumPy and bitwuzla.
    """
    processes = min(processes, len(sessions))
    if processes < 2:
        for found in sessions:
            show(found.title)
            run_session(found, levels, budget)
        return
    with Workers(processes) as workers:
        running = [workers.submit(run_session, found, levels, budget) for found in sessions]
        for found, future in zip(sessions, running, strict=True):
            show(found.title)
            vars(found).update(vars(future.result()))
