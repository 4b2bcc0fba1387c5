"""What to use for speed on one processor: variants that its forecasts choose, timed there; the README's first table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from setwise.analysis.code.kernel import binary_of
from setwise.analysis.cost.bounds import round_cost
from setwise.analysis.cost.processors import Processor
from setwise.analysis.measure.bench import bench
from setwise.analysis.measure.objective import WAYS, best, forecast, kernel_for, objectives
from setwise.analysis.measure.rivals import judge_binary
from setwise.analysis.measure.subjects import round_stream, subject
from setwise.analysis.measure.trials import METHOD, Timing
from setwise.analysis.proof.prover import Prover
from setwise.analysis.report import findings
from setwise.analysis.report.findings import Finding, about, explained
from setwise.analysis.report.kernels import FigureKey, figures_from
from setwise.analysis.report.markdown import code
from setwise.analysis.report.records import Record
from setwise.codegen.catalogue import find
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.run.call import missing
from setwise.codegen.targets import ALL_SETS, SCALARS, TARGETS, VECTORS

_PROOF = 30.0  # seconds; then code is run on the check's cases
PAGE = "README.md"
NEAR = 0.05
"""How far beyond its bound, as a part of that, arrays may be without a cause."""


@dataclass(frozen=True, slots=True)
class Need:
    """What somebody wants, in words; the routines that give it; for which instruction sets, the newest first."""

    words: str
    routines: tuple[str, ...]
    isas: tuple[str, ...]


_SOUTH = ("push.attacks.sout", "kogge-stone.attacks.sout", "dumb7.attacks.sout")
NEEDS = (
    Need("all that **one side's sliders** attack", ("sliders.union",), ALL_SETS[::-1]),
    Need("with its **knights, king and pawns**", ("side.union.white",), ALL_SETS[::-1]),
    Need("**one direction**, as south, one board", _SOUTH, SCALARS[::-1]),
    Need("east alone, by an addition", ("push.attacks.east", "subtraction.attacks.east"), SCALARS[:1]),
    Need("one direction, a register of boards", _SOUTH, VECTORS[::-1]),
    Need("one side's sliders, **arrays of boards**", ("sliders.union.batch",), VECTORS[::-1]),
)


@dataclass(frozen=True, slots=True)
class Choice:
    """The variant that is taken for an objective, and its cycles a board: as forecast, and as measured if they were.

    `fingerprint` is that of the usual kernel: where that is another now, so may be the choice. Of arrays `bound` says
    how long units take at the least.
    """

    name: str
    isa: str
    lanes: int
    objective: str
    variant: str
    forecast: float
    measured: float | None
    fingerprint: str
    bound: float | None = None

    @property
    def above(self) -> float:
        """How far beyond its bound it was measured, as a part of that; 0 where one of both is not known."""
        return self.measured / self.bound - 1 if self.measured and self.bound else 0.0


@dataclass(frozen=True, slots=True)
class Choices:
    """What was chosen: the machine, its processor as the model calls it, the day, how it was timed, the variants."""

    machine: str
    processor: str
    date: str
    method: str
    choices: tuple[Choice, ...]

    def of(self, fingerprints: Mapping[FigureKey, str]) -> Choices:
        """The same without choices among kernels whose code is another now."""
        known = {*fingerprints.values()}
        return replace(self, choices=tuple(choice for choice in self.choices if choice.fingerprint in known))

    @property
    def beyond(self) -> list[Choice]:
        """Arrays that take so much longer than units do that they want a cause."""
        return [each for each in self.choices if each.above > NEAR]

    def taken(self, need: Need, isa: str, objective: str) -> Choice | None:
        """What is taken for a need."""
        asked = (isa, objective)
        alike = (each for each in self.choices if each.name in need.routines and (each.isa, each.objective) == asked)
        return next(alike, None)


RECORD = Record("data/choices.json", Choices, "setwise report --measure choices", "choices")


def measure(
    here: Processor,
    machine: str,
    date: str,
    progress: Callable[[str], None],
    patience: float,
    needs: Sequence[Need] = NEEDS,
) -> Choices:
    """Choose for all that this processor has the instructions for, prove what is chosen, and time it."""
    chosen = list(_chosen(here, progress, needs))
    prover = Prover()
    for _, kernel in chosen:
        progress(f"proof of {kernel.name} for {kernel.target.name}")
        outcome = judge_binary(binary_of(kernel), kernel, prover, _PROOF)
        if not outcome.right:
            raise ValueError(f"{kernel.name} {kernel.variant} is wrong: {outcome.reason}")
    timings: dict[int, float] = {}
    for objective, way in WAYS.items():
        of_objective = [at for at, (wanted, _) in enumerate(chosen) if wanted == objective]
        timed = bench([subject(chosen[at][1]) for at in of_objective], (way,), patience, report=progress)
        found = zip(of_objective, timed, strict=True)
        timings |= {at: timing.median for at, timing in found if isinstance(timing, Timing)}
    choices = (_choice(objective, kernel, here, timings.get(at)) for at, (objective, kernel) in enumerate(chosen))
    return Choices(machine, here.name, date, METHOD, tuple(choices))


def _chosen(here: Processor, progress: Callable[[str], None], needs: Sequence[Need]) -> Iterator[tuple[str, Kernel]]:
    for need in needs:
        routines = [find(name) for name in need.routines]
        asked_for = objectives(routines[0])
        for isa in need.isas:
            if not missing(TARGETS[isa]):
                progress(f"variants of {routines[0].name} for {isa}")
                of_each = [
                    [kernel_for(objective, here, each, isa) for objective in asked_for]
                    for each in routines
                    if isa in each.isas
                ]
                for objective, kernels in zip(asked_for, zip(*of_each, strict=True), strict=True):
                    yield objective, best(kernels, objective, here)


def _choice(objective: str, kernel: Kernel, here: Processor, cycles: float | None) -> Choice:
    boards = kernel.layout.lanes if kernel.layout.boards and not kernel.routine.contract.elements else 1
    return Choice(
        *(kernel.name, kernel.target.name, kernel.layout.lanes, objective, kernel.variant),
        forecast=round(forecast(kernel, here).of(objective) / boards, 2),
        measured=None if cycles is None else round(cycles / boards, 2),
        fingerprint=figures_from(_usual(kernel)).fingerprint,
        bound=_bound(kernel, here) if kernel.routine.contract.elements else None,
    )


def _usual(kernel: Kernel) -> Kernel:
    """The usual kernel, that of an older instruction set where it is the same code."""
    usual = lower(kernel.routine, kernel.target.name)
    older = kernel.target.extends
    before = lower(kernel.routine, older.name) if older else usual
    return before if before.code == usual.code else usual


def _bound(kernel: Kernel, here: Processor) -> float:
    """Cycles a board that units take at least, the call and all."""
    ours = subject(kernel)
    return round(round_cost(round_stream(ours, "independent"), here).bound / (ours.calls * ours.boards), 2)


def complaints(held: Choices, known: Sequence[Finding]) -> list[str]:
    """A line on arrays that take longer than units do for no known cause, and on each finding about none of these."""
    asked = {_call(each): f"is {each.above:.0%} above its bound" for each in held.beyond}
    return findings.complaints(asked, about(known, held.processor, PAGE))


def arrays(held: Choices, known: Sequence[Finding]) -> dict[str, str | None]:
    """The fields of the page about arrays and their bounds."""
    bounded = [each for each in held.choices if each.bound and each.measured]
    said = [f"{code(each.isa)} {each.measured:.2f} of {each.bound:.2f}, {each.above:.0%} more" for each in bounded]
    causes = explained(map(_call, held.beyond), about(known, held.processor, PAGE))["causes"]
    return {"arrays": "; ".join(said) or None, "arrays_causes": causes}


def _call(choice: Choice) -> str:
    return f"{choice.name} {choice.isa}"
