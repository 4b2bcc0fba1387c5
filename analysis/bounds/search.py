"""The fewest operations of a program: that none of fewer is right, each with a certificate, and one that is right."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeVar

from setwise.analysis.bounds.certificate import check
from setwise.analysis.bounds.formula import Formula
from setwise.analysis.bounds.programs import ANY, Kinds, Model, Program, kinds_of, on_line
from setwise.analysis.bounds.synthesis import Synthesis
from setwise.analysis.run.workers import Overdue, in_own_process

T = TypeVar("T")

SOLVER = "cadical153"
"""By its name in python-sat: of those there that write certificates, the quickest here."""


@dataclass(frozen=True, slots=True)
class Refuted:
    """That no shortest program has operations of these kinds, but for some: it would be wrong for one of these inputs.

    `formula` says so in conjunctive normal form, and `certificate`, which has been checked, that it cannot hold; it
    derives `derived` clauses.
    """

    model: Model
    kinds: Kinds
    but: tuple[Kinds, ...]
    samples: tuple[tuple[int, int], ...]
    formula: Formula
    certificate: str
    derived: int

    @property
    def any_reach(self) -> bool:
        """Whether it is so for every greater reach: the attacks of these inputs are the same then."""
        return all(self.model.ends(*sample) for sample in self.samples)


@dataclass(frozen=True, slots=True)
class Found:
    """A program that is right for all inputs on an endless line."""

    program: Program


@dataclass(frozen=True, slots=True)
class Undecided:
    """A question that was still open after so many seconds of processor time."""

    seconds: float


Answer = Refuted | Found | Undecided


def worth_asking(reach: int, inputs: int, operations: int) -> Refuted:
    """That programs of so many operations are of few kinds, `but`, if they are right: only those need be asked for.

    Of all others, none makes its result from the squares that it must be made from; no input is needed to see it.
    """
    from pysat.solvers import Solver

    model, every = Model(reach, inputs, reach + 1), (ANY,) * operations
    synthesis, left = Synthesis(model, every), set()
    with Solver(name=SOLVER, bootstrap_with=synthesis.formula.clauses) as solver:
        while solver.solve():
            kinds = kinds_of(_program(synthesis, solver.get_model()))
            left.add(kinds)
            synthesis.leave_out(kinds)
            solver.add_clause(synthesis.formula.clauses[-1])
    return refuted(model, every, (), sorted(left))


def decide(reach: int, inputs: int, kinds: Kinds, budget: float | None = None) -> Answer:
    """Whether a program of these kinds gives the attacks of that reach, if none of fewer operations does.

    Asked on the smallest ring on which the answer is the line's. Undecided after so many seconds of processor time; a
    system that cannot fork takes its time. Raises BrokenCertificate where the solver's answer cannot be believed,
    ModuleNotFoundError without python-sat.
    """
    try:
        return _within(budget, lambda: _decided(reach, inputs, kinds))
    except Overdue:
        assert budget is not None
        return Undecided(budget)


def _within(budget: float | None, function: Callable[[], T]) -> T:
    """What it gives; Overdue after so many seconds of processor time."""
    return function() if budget is None else in_own_process(function, budget)


def _decided(reach: int, inputs: int, kinds: Kinds) -> Refuted | Found:
    for ring in count(reach + 1):
        model = Model(reach, inputs, ring)
        answer = on_ring(model, kinds)
        if isinstance(answer, Refuted):
            return answer
        program = on_line(answer, model)
        if program is not None:
            return Found(program)
    raise AssertionError("a ring that is large enough is a line")


def monotone(reach: int, inputs: int, kinds: Kinds, budget: float | None = None) -> Found | None:
    """A right program of these kinds with monotone functions, None where none is found: most that are known have such.

    It takes a small part of the time of `decide`, which has the last word.
    """
    model = Model(reach, inputs, reach + 1)
    synthesis = Synthesis(model, kinds)
    synthesis.monotone()
    try:
        program, _ = _within(budget, lambda: _right_for_all(model, synthesis))
    except Overdue:
        return None
    lifted = on_line(program, model) if program else None
    return Found(lifted) if lifted else None


def on_ring(model: Model, kinds: Kinds) -> Refuted | Program:
    """The same on one ring: a program that is right for all inputs there, or that there is none."""
    program, samples = _right_for_all(model, Synthesis(model, kinds))
    return program or refuted(model, kinds, samples)


def _right_for_all(model: Model, synthesis: Synthesis) -> tuple[Program | None, list[tuple[int, int]]]:
    """A program that is right for all inputs, or None and samples for which none is: one more until it is settled."""
    from pysat.solvers import Solver

    samples: list[tuple[int, int]] = []
    added = 0
    with Solver(name=SOLVER) as solver:
        while True:
            solver.append_formula(synthesis.formula.clauses[added:])
            added = len(synthesis.formula.clauses)
            if not solver.solve():
                return None, samples
            program = _program(synthesis, solver.get_model())
            wrong = (pair for pair in model.all_inputs() if model.result(program, *pair) != model.attacks(*pair))
            sample = next(wrong, None)
            if sample is None:
                return program, samples
            synthesis.learn(*sample)
            samples.append(sample)


def _program(synthesis: Synthesis, literals: Sequence[int]) -> Program:
    return synthesis.program({literal for literal in literals if literal > 0})


def asked(model: Model, kinds: Kinds, samples: Sequence[tuple[int, int]], but: Collection[Kinds] = ()) -> Formula:
    """The formula that holds if some program of these kinds, but for some, is right for these inputs."""
    synthesis = Synthesis(model, kinds)
    for each in but:
        synthesis.leave_out(each)
    for sample in samples:
        synthesis.learn(*sample)
    return synthesis.formula


def refuted(model: Model, kinds: Kinds, samples: Sequence[tuple[int, int]], but: Collection[Kinds] = ()) -> Refuted:
    """A certificate for these inputs, by the solver, and checked; ValueError where some program is right for them."""
    from pysat.solvers import Solver

    formula = asked(model, kinds, samples, but)
    with Solver(name=SOLVER, bootstrap_with=formula.clauses, with_proof=True) as solver:
        if solver.solve():
            raise ValueError(f"some program of {len(kinds)} operations is right for these {len(samples)} inputs")
        certificate = solver.get_proof()
    derived = check(formula.clauses, certificate)
    return Refuted(model, kinds, tuple(but), tuple(samples), formula, "\n".join(certificate) + "\n", derived)
