"""The search for shorter code: candidates are tried on samples, put back into registers, and proved."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache

from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.decode import Binary, decode
from setwise.analysis.code.objects import ObjectFunction
from setwise.analysis.errors import CannotRunHere
from setwise.analysis.parallel import Show, made, silent
from setwise.analysis.proof.prover import Prover
from setwise.analysis.search.expressions import OutOfTime
from setwise.analysis.search.forms import Lanes, SearchError
from setwise.analysis.search.levels import LEVELS, Candidate, Level, single
from setwise.analysis.search.lift import lift
from setwise.analysis.search.lowering import binary_of_code, shortest
from setwise.analysis.search.program import Program, ProgramStep
from setwise.analysis.search.subject import SearchSubject, instruction_set
from setwise.analysis.search.substitutes import Trials
from setwise.analysis.workers import Workers
from setwise.codegen.ir.routine import Routine
from setwise.codegen.request import Request

_WORTH_PROCESSES = 8  # kernels: level a of fewer is done before processes have started


@dataclass(frozen=True)
class Improvement:
    """Shorter code: at which level, what was exchanged for what, so many instructions before and after, its bytes."""

    level: str
    said: str
    before: int
    after: int
    binary: Binary


@dataclass
class Tally:
    """What was tried: places of the code, so many of all; candidates, those right on all samples, and of these those
    that make no shorter code, refuted ones and undecided ones; seconds of a processor."""

    places: int = 0
    all_places: int = 0
    candidates: int = 0
    fitting: int = 0
    no_shorter: int = 0
    refuted: int = 0
    undecided: int = 0
    seconds: float = 0.0


def length(binary: Binary) -> int:
    """Instructions before the last ret, those that do nothing left out."""
    return sum(instruction.mnemonic != "nop" for instruction in decode(binary.text)) - 1


def refusal(subject: SearchSubject, binary: Binary) -> str:
    """Return in one line why code is not searched; "" where it is."""
    try:
        _trials(subject, binary)
    except SearchError as error:
        return str(error)
    return ""


def search(
    subject: SearchSubject, binary: Binary, level: str, budget: float, at: slice = slice(None)
) -> tuple[Tally, Improvement | None]:
    """Return what a level tried at these places of the code, and the first finding.

    It ends with the first finding, or when `budget` seconds of processor time are used. SearchError, of one line, where
    it cannot lift the code.
    """
    return _Search(subject, binary, level, time.thread_time() + budget).run(at)


@lru_cache(4)
def _trials(subject: SearchSubject, binary: Binary) -> Trials:
    program = lift(binary, subject.task, subject.plan.target)
    return Trials(
        subject.plan.routine.contract, subject.task, program, subject.plan.target, length(binary) - len(program.steps)
    )


def _places(subject: SearchSubject, binary: Binary, level: str) -> tuple[Program | ProgramStep, ...]:
    """Return where a level looks: the code as it is, and the result of each step."""
    program = _trials(subject, binary).program
    steps = tuple(step for step in program.steps if step.form.file)
    return (program, *steps) if level == "b" else steps


Values = frozenset[Lanes]
"""What the steps of a program give on the few samples, whichever instructions and order they have."""


def _values(trials: Trials, program: Program) -> Values:
    return frozenset(trials.values[step.number] for step in program.steps)


@cache
def _prover() -> Prover:
    return Prover()


@dataclass
class _Search:
    subject: SearchSubject
    binary: Binary
    level: str
    until: float
    tally: Tally = field(default_factory=Tally)

    def run(self, at: slice) -> tuple[Tally, Improvement | None]:
        start = time.thread_time()
        places = _places(self.subject, self.binary, self.level)
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
        """Return the finding at a place."""
        if isinstance(place, ProgramStep):
            return self.instead(place)
        self.tally.candidates, self.tally.fitting = 1 + self.tally.candidates, 1 + self.tally.fitting
        return self.judged(place, "another order or other registers")

    def instead(self, step: ProgramStep) -> Improvement | None:
        """Shorter code with something else in place of what a step gives."""
        trials = _trials(self.subject, self.binary)
        beside = {_values(trials, trials.program)}
        for level in LEVELS[self.level]:
            for program, candidate in self.right(trials, step, level):
                said = f"{step.said} is replaced by {candidate.said}"
                finding = self.judged(program, said)
                if finding is None and len(candidate.steps) > 1:
                    finding = self.beside(trials.program, program, said, beside)
                if finding:
                    return finding
        return None

    def right(self, trials: Trials, step: ProgramStep, level: Level) -> Iterator[tuple[Program, Candidate]]:
        """The programs with what the level has for a step that are right on all samples, and have no step too many."""
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

    def beside(self, before: Program, program: Program, said: str, seen: set[Values]) -> Improvement | None:
        """Shorter code beside a program that is right and no longer: what a value need not be now that fewer read it.

        Only of one whose values have not been seen.
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
                finding = self.judged(other, f"{said}; {step.said} is replaced by {candidate.said}")
                if finding:
                    return finding
        return None

    def judged(self, program: Program, said: str) -> Improvement | None:
        """The finding that a program is, if its code is shorter and proved."""
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
        return Improvement(self.level, said, length(self.binary), length(binary), binary)


@dataclass
class SearchSession:
    """The search of one subject: its findings, the code as it is then, and the attempts of each level on it."""

    title: str
    subject: SearchSubject
    original: Binary
    binary: Binary
    findings: list[Improvement] = field(default_factory=list)
    tallies: dict[str, Tally] = field(default_factory=dict)
    refused: str = ""
    """Why the code is not searched."""


def run_session(found: SearchSession, levels: Sequence[str], budget: float) -> SearchSession:
    """Search level by level, and from the first level again on code that was found; a level takes `budget` seconds."""
    found.refused = refusal(found.subject, found.binary)
    left = [] if found.refused else list(levels)
    while left:
        level = left.pop(0)
        found.tallies[level], finding = search(found.subject, found.binary, level, budget)
        if finding:
            found.findings.append(finding)
            found.binary = finding.binary
            found.tallies.clear()
            left = list(levels)
    return found


def sessions(requests: Sequence[Request]) -> list[SearchSession]:
    """Return a search for shorter code of each kernel, not begun; kernels with the same bytes have one."""
    found: dict[tuple[Binary, str], SearchSession] = {}
    for request, kernel in made(requests):
        if isinstance(kernel, str):
            continue
        name, isa, _, abi = request.key
        boards = kernel.layout.lanes if kernel.layout.boards else 1
        binary, subject = binary_of(kernel), SearchSubject(name, isa, abi, boards)
        found.setdefault((binary, name), SearchSession(request.title, subject, binary, binary))
    return [*found.values()]


def session_of(function: ObjectFunction, spec: Routine, abi: str = "sysv", lanes: int = 1) -> SearchSession:
    """Return a search for shorter code of a function of an ELF file, not begun."""
    binary = function.binary
    subject = SearchSubject(spec.name, instruction_set(binary), abi, lanes)
    if why := refusal(subject, binary):
        raise ValueError(f"{function.symbol}: {why}")
    return SearchSession(f"{function.symbol} as {spec.name}", subject, binary, binary)


def shorten(
    sessions: Sequence[SearchSession],
    levels: Sequence[str] = tuple(LEVELS),
    budget: float = 60.0,
    *,
    processes: int = 1,
    show: Show = silent,
) -> None:
    """Search for shorter code with the same contract, in place; an interrupted search keeps its findings.

    `levels` are a (another value in the place of a result), b (one new instruction) and c (two or three); each takes at
    most `budget` seconds of a processor. Raises CannotRunHere if a process dies. Needs NumPy and bitwuzla.
    """
    processes = min(processes, len(sessions))
    if processes < 2 or ([*levels] == ["a"] and len(sessions) < _WORTH_PROCESSES):
        for found in sessions:
            show(found.title)
            run_session(found, levels, budget)
        return
    try:
        with Workers(processes) as workers:
            running = [workers.submit(run_session, found, levels, budget) for found in sessions]
            for found, future in zip(sessions, running, strict=True):
                show(found.title)
                vars(found).update(vars(future.result()))
    except BrokenProcessPool:
        raise CannotRunHere("a search ended the process that made it: try routines one by one") from None
