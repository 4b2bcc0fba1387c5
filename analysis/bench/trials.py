"""The evaluation of trials: core cycles from time stamps, the selection of trials, and the statistics of a measurement.

The time stamp counter ticks at a constant rate, while a core's clock changes with load, heat and vector width. So each
trial has a chain of dependent additions before and behind the timed calls. Each addition takes one cycle, so the chains
give the number of ticks in a cycle. A trial is clean under two conditions:

* Both chains agree within CHAINS_AGREE: the clock did not change, and nothing interrupted the trial.
* Rows of four independent additions before and behind take no longer than on an undisturbed core (see
  core_selection.py), within WIDE_SLOWDOWN: no other hardware thread of the core takes its ALUs.

Trials are run in blocks. A block with a smaller fraction of clean trials than CALM is discarded, because the same
disturbance affects the calls between the checks. The figure of any other block is the mean of the middle half of its
clean trials. A loop may run in one of several rhythms that differ by a few per cent; the trials of a block begin
differently, and so cover all of them. The result is the median and the 10th percentile of the blocks of several
processes. There is none if too few blocks are kept, or if the processes disagree.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import ceil
from statistics import fmean, median
from typing import Any

from setwise.codegen.run.stopwatch import Record
from setwise.codegen.run.timer import CHAIN_ADDS, WIDE_ROWS

CHAINS_AGREE = 0.01
WIDE_SLOWDOWN = 1.03
CALM = 0.75
PROCESSES = 5
WANTED = 24
"""Blocks of each measurement to keep in each process."""
LEAST = 3
"""A process with fewer kept blocks does not count; more than half of the processes must count."""
PROCESSES_AGREE = 0.05
METHOD = (
    "Core cycles, call and return included: ticks of the time stamp counter, divided by the ticks of a cycle in\n"
    "chains of dependent additions before and behind each trial. A trial is kept if its chains agree within 1 %,\n"
    "if independent additions beside it run at full speed (at least four a cycle), and if at least three quarters\n"
    f"of its block pass these tests. Median and 10th percentile of the blocks of {PROCESSES} processes. Chained\n"
    "calls are chained through the argument that makes them slowest."
)
"""The method of measurement, in words, for reports."""
OURS = "setwise"
"""The maker of our own kernels."""
EMPTY = "-"
"""The maker of an empty routine, which is timed for the overhead of the call."""


@dataclass(frozen=True, slots=True)
class TrialBlock:
    """Trials run in sequence: their number, that of the clean ones, and the cycles of a unit (None if discarded)."""

    trials: int
    clean: int
    cycles: float | None


@dataclass(frozen=True, slots=True)
class Measurand:
    """The quantity that is measured: routine, instruction set, convention, maker, mode and unit.

    `mode` is chained, independent or mixed. `unit` is call or board. `boards` is the length of the arrays (0: no
    arrays).
    """

    name: str
    isa: str
    lanes: int
    abi: str
    maker: str
    mode: str
    unit: str = "call"
    boards: int = 0

    @property
    def title(self) -> str:
        """The measurand as one line of text."""
        lanes = f" x{self.lanes}" if self.lanes > 1 else ""
        return f"{self.name} {self.isa}{lanes} {self.maker} {self.mode}"


@dataclass(frozen=True, slots=True)
class Timing:
    """Core cycles of a unit: the median and the 10th percentile of `blocks` kept blocks from `processes` processes.

    `spread` is the range of the processes' medians as a fraction of the median. `clean` of `trials` trials were clean.
    """

    measurand: Measurand
    median: float
    p10: float
    spread: float
    blocks: int
    processes: int
    clean: int
    trials: int

    def as_dict(self) -> dict[str, Any]:
        """Return the measurand's fields, the figures and the fraction of clean trials in one dictionary, for JSON."""
        figures = asdict(self)
        return {**figures.pop("measurand"), **figures, "acceptance": self.clean / self.trials}


@dataclass(frozen=True, slots=True)
class NoisyMeasurement:
    """A measurement without a figure, and the reason. `clean` of `trials` trials were clean."""

    measurand: Measurand
    reason: str
    clean: int
    trials: int

    def as_dict(self) -> dict[str, Any]:
        """Return the measurand's fields, the reason and both counts in one dictionary, for JSON."""
        figures = asdict(self)
        return {**figures.pop("measurand"), **figures}


def is_clean(record: Record, row: float = 1.0) -> bool:
    """Return whether the additions before and behind the calls show that the core is undisturbed.

    `row` is the cycles of a row of additions on an undisturbed core.
    """
    cycles_of_row = row_of(record)
    return cycles_of_row is not None and cycles_of_row <= WIDE_SLOWDOWN * row


def row_of(record: Record) -> float | None:
    """Return the cycles of a row of additions, the larger of before and behind; None if the chains disagree."""
    before, behind = record.chain_before - record.nothing, record.chain_behind - record.nothing
    if min(before, behind) <= 0 or abs(before - behind) > CHAINS_AGREE * min(before, behind):
        return None
    wide = max(record.wide_before, record.wide_behind) - record.nothing
    return wide / WIDE_ROWS / _ticks_a_cycle(record)


def cycles(record: Record, units: int) -> float:
    """Return the core cycles of one of a trial's `units`, which are calls, or boards of an array."""
    return (record.calls - record.nothing) / _ticks_a_cycle(record) / units


def _ticks_a_cycle(record: Record) -> float:
    return (record.chain_before + record.chain_behind - 2 * record.nothing) / 2 / CHAIN_ADDS


def block_of(records: Sequence[Record], units: int, row: float = 1.0) -> TrialBlock:
    """Return the block of these trials, discarded if too few are clean."""
    clean = sorted(cycles(record, units) for record in records if is_clean(record, row))
    calm = bool(clean) and len(clean) >= CALM * len(records)
    return TrialBlock(len(records), len(clean), middle_mean(clean) if calm else None)


def middle_mean(ordered: Sequence[float]) -> float:
    """Return the mean of the middle half of sorted values.

    >>> middle_mean([1.0, 4.0, 6.0, 90.0])
    5.0
    """
    outer = len(ordered) // 4
    return fmean(ordered[outer : len(ordered) - outer])


def percentile(values: Sequence[float], part: float) -> float:
    """Return the smallest value such that at least the fraction `part` of the values is at most that value.

    >>> percentile([5.0, 1.0, 4.0, 2.0, 3.0, 9.0, 8.0, 6.0, 7.0, 10.0], 0.1)
    1.0
    """
    return sorted(values)[max(0, ceil(part * len(values)) - 1)]


def summary(measurand: Measurand, processes: Sequence[Sequence[TrialBlock]]) -> Timing | NoisyMeasurement:
    """Return the timing from the blocks of several processes, or a NoisyMeasurement that says why there is none."""
    blocks = [block for process in processes for block in process]
    clean, trials = sum(block.clean for block in blocks), sum(block.trials for block in blocks)
    kept = [[block.cycles for block in process if block.cycles is not None] for process in processes]
    speaking = [figures for figures in kept if len(figures) >= LEAST]
    if 2 * len(speaking) <= len(processes):
        return NoisyMeasurement(measurand, f"too few of {trials} trials were undisturbed", clean, trials)
    pooled = [figure for figures in speaking for figure in figures]
    medians = [median(figures) for figures in speaking]
    spread = (max(medians) - min(medians)) / median(pooled)
    if spread > PROCESSES_AGREE:
        apart = f"{min(medians):.2f} to {max(medians):.2f}"
        return NoisyMeasurement(measurand, f"the processes disagree, {apart} cycles", clean, trials)
    return Timing(measurand, median(pooled), percentile(pooled, 0.1), spread, len(pooled), len(speaking), clean, trials)
