"""Benchmarks on this processor: several processes in sequence, and in each one all subjects in round-robin order."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from statistics import median
from typing import Any

from setwise.analysis.bench import compilers, trials
from setwise.analysis.bench.core_selection import QuietCore
from setwise.analysis.bench.subjects import BOARDS, Subject, arguments_for, empty_routines, subject, timing_loop
from setwise.analysis.bench.trials import EMPTY, OURS, NoisyMeasurement, Timing, TrialBlock, cycles, summary
from setwise.analysis.errors import CannotRunHere, NotInstalled
from setwise.analysis.parallel import Show, silent, unrefused
from setwise.analysis.workers import Workers
from setwise.codegen.kernel import Kernel
from setwise.codegen.request import Request
from setwise.codegen.run import cpu
from setwise.codegen.run.call import missing
from setwise.codegen.run.stopwatch import ArgumentSets, Stopwatch
from setwise.codegen.run.timer import MODES, Mode, Timer

PATIENCE = 30.0
"""Most seconds that a process waits for undisturbed trials, beyond the time that the trials themselves need."""
COMPILERS = ("gcc", "clang")
_BLOCK = 32  # trials of a block, about a millisecond
_WARMING = 4  # warm-up trials before a block, discarded
_CYCLES = 40_000  # of all calls of a trial, roughly: less than a scheduler tick
_PROBES = 9
_USUAL = 0.02  # seconds that an undisturbed job takes


@dataclass(frozen=True, slots=True)
class BenchJob:
    """A subject in one mode, to be pickled for a worker process. `units` are the calls or boards of an iteration."""

    loop: Timer
    arguments: ArgumentSets
    units: int


def time_subjects(
    subjects: Sequence[Subject],
    modes: Sequence[Mode] = MODES,
    patience: float = PATIENCE,
    processes: int = trials.PROCESSES,
    report: Callable[[str], None] = lambda _: None,
) -> list[Timing | NoisyMeasurement]:
    """Time each subject in each of its modes that is in `modes`; return the timings by subject, then by mode.

    A chained subject is timed once for each argument that can take the result, and the slowest of these timings is
    returned. `patience` is in seconds for each process. `report` receives a line of progress before each
    process.
    """
    chosen = [(subject, mode) for subject in subjects for mode in subject.modes if mode in modes]
    chained = [subject.chainable if mode == "chained" else (0,) for subject, mode in chosen]
    jobs = [
        BenchJob(timing_loop(subject, mode, argument), arguments_for(subject, mode), subject.units)
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
            kept.append(worker.submit(run_by_turns, jobs, patience, trials.WANTED, core.row).result())
    blocks = zip(*kept, strict=True)
    return [
        _slowest([summary(subject.measurand(mode), next(blocks)) for _ in arguments])
        for (subject, mode), arguments in zip(chosen, chained, strict=True)
    ]


def _slowest(timings: Sequence[Timing | NoisyMeasurement]) -> Timing | NoisyMeasurement:
    """Return the timing with the largest median, or a noisy measurement if any is, since it may be the slowest."""
    refused = next((timing for timing in timings if isinstance(timing, NoisyMeasurement)), None)
    return refused or max((timing for timing in timings if isinstance(timing, Timing)), key=attrgetter("median"))


def run_by_turns(
    jobs: Sequence[BenchJob], patience: float, wanted: int = trials.WANTED, row: float = 1.0
) -> list[list[TrialBlock]]:
    """Return the blocks of each job, discarded ones too, run in round-robin order until `wanted` of each are kept.

    So all jobs share disturbances fairly. After `patience` seconds and the usual time of the jobs no further round
    begins, so fewer blocks may be kept. `row` is the number of cycles of a row of additions on an undisturbed core. If
    a much lower number is found, all earlier blocks are forgotten.
    """
    waiting = clocks = [_Clock(job) for job in jobs]
    end = time.monotonic() + patience + _USUAL * len(jobs)
    with QuietCore(row) as core:
        while waiting:
            for clock in waiting:
                if core.look():
                    for other in clocks:
                        other.blocks.clear()
                clock.run(core.row)
            waiting = [clock for clock in clocks if clock.kept < wanted and time.monotonic() < end]
    return [clock.blocks for clock in clocks]


class _Clock:
    """A job with its loop in executable memory and the blocks measured so far; `kept` counts those not discarded."""

    def __init__(self, job: BenchJob) -> None:
        self._stopwatch = Stopwatch(job.loop, job.arguments)
        self.blocks: list[TrialBlock] = []
        self._stopwatch.run(1, _PROBES)
        probes = [cycles(record, 1) for record in self._stopwatch.run(1, _PROBES)]
        self._rounds = max(1, round(_CYCLES / max(1.0, median(probes))))
        self._units = job.units * self._rounds

    @property
    def kept(self) -> int:
        return sum(block.cycles is not None for block in self.blocks)

    def run(self, row: float) -> None:
        records = self._stopwatch.run(self._rounds, _WARMING + _BLOCK)[_WARMING:]
        self.blocks.append(trials.block_of(records, self._units, row))


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Timings, and one line on each kernel that this processor cannot run."""

    timings: Sequence[Timing | NoisyMeasurement]
    not_run: Sequence[str]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One dictionary for each timing, with a field `speed`.

        `speed` is the median of the fastest set-wise compiled code divided by the median of this row. It is None
        without such code for the same routine, set, lanes, mode and array length, and if the row has no median.
        """
        rows = [timing.as_dict() for timing in self.timings]
        best: dict[tuple[object, ...], float] = {}
        for row in rows:
            ours = row["maker"].startswith((OURS, EMPTY))
            if "median" in row and not ours and compilers.FOR_SCALE not in row["maker"]:
                best[_key(row)] = min(row["median"], best.get(_key(row), row["median"]))
        return [
            {**row, "speed": best[_key(row)] / row["median"] if "median" in row and _key(row) in best else None}
            for row in rows
        ]


def _key(row: dict[str, Any]) -> tuple[object, ...]:
    return tuple(row[key] for key in ("name", "isa", "lanes", "mode", "boards"))


def machine() -> dict[str, Any]:
    """Return the processor's brand string and the number of hardware threads."""
    return {"processor": cpu.brand(), "threads": os.cpu_count()}


def bench(
    requests: Sequence[Request],
    modes: Sequence[str] = MODES,
    *,
    beside: Sequence[str] = (),
    boards: int = BOARDS,
    patience: float = PATIENCE,
    named: bool = False,
    show: Show = silent,
) -> Benchmark:
    """Time kernels, and empty routines with the same parameters, on this processor, in core cycles.

    `modes` are some of chained, independent and mixed. `beside` names compilers, whose code for the same routines is
    timed, too. `boards` is the length of arrays. `patience` is the time to wait for undisturbed trials, in seconds for
    each of several processes. With `named` a timing shows its variant's name. `show` receives lines of progress.

    Raises Refused if all requests are, CannotRunHere if this processor can run none of the kernels or a compiler fails,
    NotInstalled if a compiler is missing, and ValueError for other arguments that are wrong.
    """
    chosen = [mode for mode in MODES if mode in known(modes, MODES, "mode")]
    known(beside, COMPILERS, "compiler")
    if boards < 1:
        raise ValueError(f"arrays of {boards} boards cannot be timed: give 1 or more")

    def made(request: Request) -> Kernel:
        show(f"{request.routine.name} for {request.isa}")
        return request.kernel

    kernels, not_run = _that_run(list(unrefused(made, requests)))
    makers = (f"{OURS} {kernel.variant}" if named and kernel.variant else OURS for kernel in kernels)
    subjects = [subject(kernel, maker=maker, boards=boards) for kernel, maker in zip(kernels, makers, strict=True)]
    if beside:
        subjects = list(_with_compiled(kernels, subjects, beside, show))
    timings = time_subjects([*subjects, *empty_routines(subjects)], chosen, patience, report=show)
    return Benchmark(timings, not_run)


def known(given: Sequence[str], names: Sequence[str], kind: str) -> Sequence[str]:
    """Return the given names. Raises ValueError if one is not in `names`; its message calls them by the word `kind`."""
    if unknown := [name for name in given if name not in names]:
        raise ValueError(f"unknown {kind} '{unknown[0]}': choose from {','.join(names)}")
    return given


def _that_run(kernels: Sequence[Kernel]) -> tuple[list[Kernel], list[str]]:
    """Return the kernels that this processor can run, and one line on each other kernel.

    Raises CannotRunHere if it can run none.
    """
    run = [kernel for kernel in kernels if not missing(kernel.target)]
    not_run = [
        f"{kernel.name} for {kernel.target.name} is not run: this processor lacks {', '.join(lacking)}"
        for kernel in kernels
        if (lacking := missing(kernel.target))
    ]
    if not run:
        raise CannotRunHere(not_run[0])
    return run, not_run


def _with_compiled(
    kernels: Sequence[Kernel], subjects: Sequence[Subject], names: Sequence[str], show: Show
) -> Iterator[Subject]:
    """Yield the subject of each kernel, followed by subjects of C for it that the named compilers compiled."""
    if any(kernel.convention.name != "sysv" for kernel in kernels):
        raise ValueError("compiled C uses the System V convention: leave out --abi or --beside")
    using = [compiler for compiler in compilers.installed() if compiler.name.partition("-")[0] in names]
    for name in names:
        if not any(compiler.name.startswith(name) for compiler in using):
            raise NotInstalled(f"{name} is not installed; on Debian: apt install {name}")
    for kernel, ours in zip(kernels, subjects, strict=True):
        show(f"C of {kernel.name} for {kernel.target.name}")
        try:
            compiled = compilers.compile_all([kernel.name], kernel.target.name, kernel.layout.lanes, using=using)
        except compilers.CompilerError as error:
            raise CannotRunHere(str(error)) from None
        yield ours
        yield from (subject(kernel, c.binary, c.label, ours.boards or 1) for c in compiled if c.binary is not None)
