"""From time stamps to core cycles: which trials are kept, what a measurement says, and when it says nothing.

The time stamp counter ticks at a rate of its own, while a core's clock changes with load, heat and the width of its
vectors. So each trial has a chain of additions before and behind the calls that are timed: an addition that waits for
the one before takes one cycle, and the chains say how many ticks a cycle is, there and then. A trial is clean when

* both chains agree within CHAINS_AGREE: the clock did not change and nothing came between;
* rows of four additions take no longer than on this core while nobody else uses it (see quiet.py), 1 cycle at most,
  within WIDE_SLOWDOWN, before and behind: nobody, on the other thread of the core above all, takes part of its units.

Trials are run in blocks. Of a block less than CALM of which is clean nothing is kept, for what disturbs its checks
disturbs calls between checks as well. Any other gives one figure, the mean of the middle half of its clean trials: a
loop may run in one of several rhythms, a few per cent apart, and the trials of a block begin differently, so that they
meet them all. What is reported is the median and the 10th percentile of the blocks of several processes, or nothing,
where too few are kept or the processes do not agree.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import ceil
from statistics import fmean, median
from typing import Any

from setwise.codegen.run.stopwatch import Record

CHAINS_AGREE = 0.01
WIDE_SLOWDOWN = 1.03
CALM = 0.75
PROCESSES = 5
WANTED = 24
"""Blocks to keep in each process."""
LEAST = 3
"""With fewer blocks a process says nothing; more than half of the processes must say something."""
PROCESSES_AGREE = 0.05
METHOD = (
    "Core cycles, call and return included: ticks of the time stamp counter, over those of a chain of dependent\n"
    "additions before and behind every trial. Kept are trials whose chains agree within 1 % and beside which\n"
    "independent additions take what they take on a quiet core, four a cycle at least, in blocks of which three\n"
    f"quarters are so. Median and 10th percentile of the blocks of {PROCESSES} processes. Chained calls wait by the\n"
    "argument by which they take longest."
)
"""What the figures are, in words."""
OURS = "setwise"
"""The maker of our own kernels."""
EMPTY = "-"
"""The maker of a routine that does nothing, which is timed for what the call itself takes."""


@dataclass(frozen=True, slots=True)
class Sections:
    """How much work the sections of a trial hold: additions of a chain, rows of four additions, units of the calls.

    A unit is a call, or a board of an array. `row` has the cycles that a row takes while nobody else uses the core.
    """

    adds: int
    rows: int
    units: int
    row: float = 1.0


@dataclass(frozen=True, slots=True)
class TrialBlock:
    """Trials that were run in one go: how many there were and were clean, and the cycles of a unit if any are kept."""

    trials: int
    clean: int
    cycles: float | None


@dataclass(frozen=True, slots=True)
class Measurand:
    """What is measured: whose routine, for which instruction set, how it is called, and the unit that is counted.

    `mode` is chained, independent or mixed, `unit` call or board; `boards` is the length of the arrays (0: no arrays).
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
        """In words."""
        lanes = f" x{self.lanes}" if self.lanes > 1 else ""
        return f"{self.name} {self.isa}{lanes} {self.maker} {self.mode}"


@dataclass(frozen=True, slots=True)
class Timing:
    """Core cycles of a unit: the median and the 10th percentile of the blocks kept.

    `spread` is how far the processes' medians lie apart, as a part of the median; `clean` of `trials` were clean.
    """

    measurand: Measurand
    median: float
    p10: float
    spread: float
    blocks: int
    processes: int
    clean: int
    trials: int

    @property
    def acceptance(self) -> float:
        """The part of the trials that was clean."""
        return self.clean / self.trials

    def as_dict(self) -> dict[str, Any]:
        """For JSON: the measurand's fields and the figures side by side."""
        figures = asdict(self)
        return {**figures.pop("measurand"), **figures, "acceptance": self.acceptance}


@dataclass(frozen=True, slots=True)
class NoisyMeasurement:
    """Why there is no figure."""

    measurand: Measurand
    reason: str
    clean: int
    trials: int

    def as_dict(self) -> dict[str, Any]:
        """For JSON: the measurand's fields, and the reason in place of figures."""
        figures = asdict(self)
        return {**figures.pop("measurand"), **figures}


def is_clean(record: Record, sections: Sections) -> bool:
    """Whether nothing disturbed the core before and behind the calls, as far as additions show."""
    row = row_of(record, sections)
    return row is not None and row <= WIDE_SLOWDOWN * sections.row


def row_of(record: Record, sections: Sections) -> float | None:
    """Cycles that a row of additions took, before the calls or behind; None where the chains do not agree."""
    before, behind = record.chain_before - record.nothing, record.chain_behind - record.nothing
    if min(before, behind) <= 0 or abs(before - behind) > CHAINS_AGREE * min(before, behind):
        return None
    wide = max(record.wide_before, record.wide_behind) - record.nothing
    return wide / sections.rows / _ticks_a_cycle(record, sections)


def cycles(record: Record, sections: Sections) -> float:
    """Core cycles of a unit in this trial."""
    return (record.calls - record.nothing) / _ticks_a_cycle(record, sections) / sections.units


def _ticks_a_cycle(record: Record, sections: Sections) -> float:
    return (record.chain_before + record.chain_behind - 2 * record.nothing) / 2 / sections.adds


def block_of(records: Sequence[Record], sections: Sections) -> TrialBlock:
    """What becomes of trials that were run in one go."""
    clean = sorted(cycles(record, sections) for record in records if is_clean(record, sections))
    calm = bool(clean) and len(clean) >= CALM * len(records)
    return TrialBlock(len(records), len(clean), middle_mean(clean) if calm else None)


def middle_mean(ordered: Sequence[float]) -> float:
    """The mean of the middle half of values in their order.

    >>> middle_mean([1.0, 4.0, 6.0, 90.0])
    5.0
    """
    outer = len(ordered) // 4
    return fmean(ordered[outer : len(ordered) - outer])


def percentile(values: Sequence[float], part: float) -> float:
    """The least of the values at or below which that part of them lies.

    >>> percentile([5.0, 1.0, 4.0, 2.0, 3.0, 9.0, 8.0, 6.0, 7.0, 10.0], 0.1)
    1.0
    """
    return sorted(values)[max(0, ceil(part * len(values)) - 1)]


def summary(measurand: Measurand, processes: Sequence[Sequence[TrialBlock]]) -> Timing | NoisyMeasurement:
    """The measurement of several processes together, or the reason why there is none."""
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
