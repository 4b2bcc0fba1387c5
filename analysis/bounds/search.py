"""The fewest operations of a program: that none of fewer is right, each with a certificate, and one that is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from setwise.analysis.bounds.certificate import check
from setwise.analysis.bounds.formula import Formula
from setwise.analysis.bounds.programs import Model, Program, on_line
from setwise.analysis.bounds.synthesis import Synthesis
from setwise.analysis.run.workers import Overdue, in_own_process

SOLVER = "cadical153"
"""By its name in python-sat: of those there that write certificates, the quickest here."""


@dataclass(frozen=True, slots=True)
class Refuted:
    """That no shortest program has so many operations: it would be wrong for one of these inputs.

    `formula` says so in conjunctive normal form, and `certificate`, which has been checked, that it cannot hold; it
    derives `derived` clauses.
    """

    model: Model
    operations: int
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
    """A program of so many operations, right for all inputs on an endless line."""

    model: Model
    operations: int
    program: Program


@dataclass(frozen=True, slots=True)
class Undecided:
    """A question that was still open after so many seconds of processor time."""

    model: Model
    operations: int
    seconds: float


Answer = Refuted | Found | Undecided


def decide(reach: int, inputs: int, operations: int) -> Refuted | Found:
    """Whether a program of so many operations gives the attacks of that reach, if none of fewer does.

    Asked on the smallest ring on which the answer is the line's. Raises BrokenCertificate where the solver's answer
    cannot be believed, ModuleNotFoundError without python-sat.
    """
    for ring in count(reach + 1):
        model = Model(reach, inputs, ring)
        answer = on_ring(model, operations)
        if isinstance(answer, Refuted):
            return answer
        program = on_line(answer, model)
        if program is not None:
            return Found(model, operations, program)
    raise AssertionError("a ring that is large enough is a line")


def decide_within(reach: int, inputs: int, operations: int, budget: float) -> Answer:
    """The same, or Undecided after so many seconds of processor time; a system that cannot fork takes its time."""
    try:
        return in_own_process(lambda: decide(reach, inputs, operations), budget)
    except Overdue:
        return Undecided(Model(reach, inputs, reach + 1), operations, budget)


def on_ring(model: Model, operations: int) -> Refuted | Program:
    """The same on one ring: samples are added until no program is right for all of them, or one for all inputs."""
    from pysat.solvers import Solver

    synthesis = Synthesis(model, operations)
    samples: list[tuple[int, int]] = []
    added = 0
    with Solver(name=SOLVER) as solver:
        while True:
            solver.append_formula(synthesis.formula.clauses[added:])
            added = len(synthesis.formula.clauses)
            if not solver.solve():
                return refuted(model, operations, samples)
            program = synthesis.program({literal for literal in solver.get_model() if literal > 0})
            wrong = (pair for pair in model.all_inputs() if model.result(program, *pair) != model.attacks(*pair))
            sample = next(wrong, None)
            if sample is None:
                return program
            synthesis.learn(*sample)
            samples.append(sample)


def asked(model: Model, operations: int, samples: Sequence[tuple[int, int]]) -> Formula:
    """The formula that holds if some program of so many operations is right for these inputs."""
    synthesis = Synthesis(model, operations)
    for sample in samples:
        synthesis.learn(*sample)
    return synthesis.formula


def refuted(model: Model, operations: int, samples: Sequence[tuple[int, int]]) -> Refuted:
    """A certificate for these inputs, by the solver, and checked; ValueError where some program is right for them."""
    from pysat.solvers import Solver

    formula = asked(model, operations, samples)
    with Solver(name=SOLVER, bootstrap_with=formula.clauses, with_proof=True) as solver:
        if solver.solve():
            raise ValueError(f"some program of {operations} operations is right for these {len(samples)} inputs")
        certificate = solver.get_proof()
    derived = check(formula.clauses, certificate)
    return Refuted(model, operations, tuple(samples), formula, "\n".join(certificate) + "\n", derived)
