"""Times subjects on this processor: in several processes one after the other, in each of them all subjects by turns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from statistics import median

from setwise.analysis.bench import trials
from setwise.analysis.bench.core_selection import QuietCore, by_turns
from setwise.analysis.bench.subjects import Subject, arguments_for, timing_loop
from setwise.analysis.bench.trials import NoisyMeasurement, Sections, Timing, TrialBlock, cycles, summary
from setwise.analysis.workers import Workers
from setwise.codegen.run.stopwatch import ArgumentSets, Stopwatch
from setwise.codegen.run.timer import MODES, Mode, Timer

PATIENCE = 30.0
"""Seconds that a process waits for undisturbed trials, beyond those that it would need."""
_BLOCK = 32  # trials in one go, about a millisecond
_WARMING = 4  # trials in front of a block that are thrown away
_CYCLES = 40_000  # of calls in a trial: it ends before a scheduler's tick mostly comes
_PROBES = 9
_USUAL = 0.02  # seconds that a job takes where nothing disturbs


@dataclass(frozen=True, slots=True)
class BenchJob:
    """A subject in one mode, ready to be sent to another process; the sections are those of one round."""

    loop: Timer
    arguments: ArgumentSets
    sections: Sections


def bench(
    subjects: Sequence[Subject],
    modes: Sequence[Mode] = MODES,
    patience: float = PATIENCE,
    processes: int = trials.PROCESSES,
    report: Callable[[str], None] = lambda _: None,
    wanted: int = trials.WANTED,
) -> list[Timing | NoisyMeasurement]:
    """The timings of all subjects in those of these modes that they have, in their order.

    Chained calls are chained by each argument that may be a result, and the slowest count.
    `patience` is in seconds a process, `wanted` in blocks of each. `report` is told now and then how far it is.
    """
    chosen = [(subject, mode) for subject in subjects for mode in subject.modes if mode in modes]
    chained = [subject.chainable if mode == "chained" else (0,) for subject, mode in chosen]
    jobs = [
        BenchJob(timing_loop(subject, mode, argument), arguments_for(subject, mode), subject.sections(1))
        for (subject, mode), arguments in zip(chosen, chained, strict=True)
        for argument in arguments
    ]
    kept: list[list[list[TrialBlock]]] = []
    core = QuietCore()
    for number in range(processes):
        with core:
            core.look()
        said = f"process {number + 1} of {processes}: {len(jobs)} timings"
        report(f"{said}, on a core {core.undisturbed:.0%} undisturbed")
        with Workers(1) as worker:  # a process of its own: other pages of memory, another core perhaps, another time
            kept.append(worker.submit(run_by_turns, jobs, patience, wanted, core.row).result())
    blocks = zip(*kept, strict=True)
    return [
        _slowest([summary(subject.measurand(mode), next(blocks)) for _ in arguments])
        for (subject, mode), arguments in zip(chosen, chained, strict=True)
    ]


def _slowest(timings: Sequence[Timing | NoisyMeasurement]) -> Timing | NoisyMeasurement:
    """The one that takes longest; a refusal where there is one, for that might."""
    refused = next((timing for timing in timings if isinstance(timing, NoisyMeasurement)), None)
    return refused or max((timing for timing in timings if isinstance(timing, Timing)), key=attrgetter("median"))


def run_by_turns(
    jobs: Sequence[BenchJob], patience: float, wanted: int = trials.WANTED, row: float = 1.0
) -> list[list[TrialBlock]]:
    """The blocks of each job, run by turns until enough are kept, on a core where a quiet row takes so many cycles."""
    clocks = [_Clock(job) for job in jobs]
    try:
        by_turns(clocks, wanted, patience + _USUAL * len(jobs), row=row)
        return [clock.blocks for clock in clocks]
    finally:
        for clock in clocks:
            clock.close()


class _Clock:
    """A job at work."""

    def __init__(self, job: BenchJob) -> None:
        self._stopwatch = Stopwatch(job.loop, job.arguments)
        self.blocks: list[TrialBlock] = []
        one_round = job.sections
        self._stopwatch.run(1, _PROBES)
        probes = [cycles(record, one_round) * one_round.units for record in self._stopwatch.run(1, _PROBES)]
        self._rounds = max(1, round(_CYCLES / max(1.0, median(probes))))
        self._sections = Sections(one_round.adds, one_round.rows, one_round.units * self._rounds)

    @property
    def kept(self) -> int:
        return sum(block.cycles is not None for block in self.blocks)

    def run(self, row: float) -> None:
        records = self._stopwatch.run(self._rounds, _WARMING + _BLOCK)[_WARMING:]
        self.blocks.append(trials.block_of(records, replace(self._sections, row=row)))

    def forget(self) -> None:
        self.blocks.clear()

    def close(self) -> None:
        self._stopwatch.close()
