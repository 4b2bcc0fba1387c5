"""The measurement loop: several processes in sequence, and in each one all subjects in round-robin order."""

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
"""Seconds that a process waits for undisturbed trials, beyond the time that the trials themselves need."""
_BLOCK = 32  # trials of a block, about a millisecond
_WARMING = 4  # warm-up trials before a block, discarded
_CYCLES = 40_000  # of calls in a trial: shorter than a scheduler tick
_PROBES = 9
_USUAL = 0.02  # seconds of an undisturbed job


@dataclass(frozen=True, slots=True)
class BenchJob:
    """A subject in one mode, in a form that can be pickled for a worker process. `sections` are those of one round."""

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
    """Time each subject in each of its modes that is in `modes`.

    Return the timings in the order of the subjects. A chained subject is timed once for each argument that can take the
    result, and the slowest of these timings is returned. `patience` is in seconds for each process. `wanted` is the
    number of blocks to keep in each process. `report` receives a line of progress before each process.
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
        with Workers(1) as worker:  # a new process: other physical pages, perhaps another core
            kept.append(worker.submit(run_by_turns, jobs, patience, wanted, core.row).result())
    blocks = zip(*kept, strict=True)
    return [
        _slowest([summary(subject.measurand(mode), next(blocks)) for _ in arguments])
        for (subject, mode), arguments in zip(chosen, chained, strict=True)
    ]


def _slowest(timings: Sequence[Timing | NoisyMeasurement]) -> Timing | NoisyMeasurement:
    """Return the timing with the largest median, or a noisy measurement if there is one, which may be the slowest."""
    refused = next((timing for timing in timings if isinstance(timing, NoisyMeasurement)), None)
    return refused or max((timing for timing in timings if isinstance(timing, Timing)), key=attrgetter("median"))


def run_by_turns(
    jobs: Sequence[BenchJob], patience: float, wanted: int = trials.WANTED, row: float = 1.0
) -> list[list[TrialBlock]]:
    """Return the blocks of each job, run in round-robin order until `wanted` blocks of each are kept.

    `row` is the number of cycles of a row of additions on an undisturbed core.
    """
    clocks = [_Clock(job) for job in jobs]
    try:
        by_turns(clocks, wanted, patience + _USUAL * len(jobs), row=row)
        return [clock.blocks for clock in clocks]
    finally:
        for clock in clocks:
            clock.close()


class _Clock:
    """A job with its loop in executable memory and the blocks measured so far."""

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
