"""From stamps to cycles, on records made up: which trials are kept, what comes of them, and when nothing does."""

from statistics import median

import pytest

from setwise.analysis.bench import trials
from setwise.analysis.bench.trials import (
    Measurand,
    NoisyMeasurement,
    Timing,
    TrialBlock,
    block_of,
    cycles,
    is_clean,
    summary,
)
from setwise.codegen.run.stopwatch import Record
from setwise.codegen.run.timer import CHAIN_ADDS, WIDE_ROWS

UNITS = 100
MEASURAND = Measurand("dumb7.attacks.sout", "x86-64", 1, "sysv", "setwise", "chained")
TICKS = 0.7  # a cycle
STAMP = 50


def record(
    a_call: float = 14.0, ticks: float = TICKS, after: float = 1.0, wide: tuple[float, float] = (1, 1)
) -> Record:
    """A trial on a core of so many ticks a cycle; behind the calls its chain takes `after` times as long."""
    return Record(
        chain_before=round(CHAIN_ADDS * ticks) + STAMP,
        wide_before=round(WIDE_ROWS * ticks * wide[0]) + STAMP,
        warming=STAMP,
        calls=round(UNITS * a_call * ticks) + STAMP,
        wide_behind=round(WIDE_ROWS * ticks * wide[1]) + STAMP,
        chain_behind=round(CHAIN_ADDS * ticks * after) + STAMP,
        nothing=STAMP,
    )


def blocks(*figures: float | None) -> list[TrialBlock]:
    return [TrialBlock(32, 30 if figure is not None else 5, figure) for figure in figures]


# trials


@pytest.mark.parametrize("ticks", [0.5, 0.7, 1.3])
def test_cycles_are_ticks_over_those_of_an_addition(ticks: float) -> None:
    """Whatever the counter's rate; the stamp's own cost is taken off."""
    assert cycles(record(14.0, ticks), UNITS) == pytest.approx(14.0, rel=1e-3)
    assert cycles(record(14.0, ticks), 2 * UNITS) == pytest.approx(7.0, rel=1e-3)


@pytest.mark.parametrize("after", [0.991, 1.0, 1.009])
def test_chains_that_agree_are_clean(after: float) -> None:
    assert is_clean(record(after=after))


@pytest.mark.parametrize("after", [0.5, 0.985, 1.015, 40.0])
def test_a_clock_that_changes_is_not_clean(after: float) -> None:
    assert not is_clean(record(after=after))


@pytest.mark.parametrize("wide", [(1.05, 1.0), (1.0, 1.05), (1.3, 1.3), (1.0, 9.0)])
def test_a_core_that_is_shared_is_not_clean(wide: tuple[float, float]) -> None:
    assert not is_clean(record(wide=wide))


# blocks


def test_a_block_gives_the_mean_of_its_middle() -> None:
    """Two rhythms, half of the trials each, and one trial that an interrupt hit."""
    made = block_of([record(26.0)] * 16 + [record(28.0)] * 15 + [record(9000.0)], UNITS)
    assert (made.trials, made.clean) == (32, 32)
    assert made.cycles == pytest.approx(27.0, rel=1e-3)


def test_of_a_block_the_disturbed_trials_do_not_count() -> None:
    made = block_of([record(14.0)] * 26 + [record(20.0, wide=(1.2, 1.2))] * 6, UNITS)
    assert (made.trials, made.clean) == (32, 26)
    assert made.cycles == pytest.approx(14.0, rel=1e-3)


def test_of_a_block_that_is_not_calm_nothing_is_kept() -> None:
    """Its clean trials are not to be trusted: what disturbs checks also disturbs calls between two checks."""
    assert block_of([record(14.0)] * 23 + [record(after=1.2)] * 9, UNITS) == TrialBlock(32, 23, None)
    assert block_of([record(14.0)] * 24 + [record(after=1.2)] * 8, UNITS).cycles is not None
    assert block_of([], UNITS) == TrialBlock(0, 0, None)


# processes


def test_the_median_and_the_tenth_percentile_of_all_blocks() -> None:
    processes = [blocks(*(10 + at / 100 for at in range(start, start + 20))) for start in (0, 5, 10)]
    said = summary(MEASURAND, processes)
    assert isinstance(said, Timing)
    pooled = [figure.cycles for process in processes for figure in process if figure.cycles is not None]
    assert said.median == median(pooled)
    assert said.p10 == sorted(pooled)[5]
    assert said.spread == pytest.approx(0.10 / said.median)
    assert (said.blocks, said.processes, said.clean, said.trials) == (60, 3, 60 * 30, 60 * 32)
    assert said.as_dict()["acceptance"] == pytest.approx(30 / 32)


@pytest.mark.parametrize("quiet", [0, 1, 2])
def test_too_few_processes_and_nothing_is_said(quiet: int) -> None:
    full, none = blocks(*[10.0] * 9), blocks(*[None] * 9)
    said = summary(MEASURAND, [full] * quiet + [none] * (5 - quiet))
    assert said == NoisyMeasurement(
        MEASURAND, "too few of 1440 trials were undisturbed", quiet * 270 + (5 - quiet) * 45, 1440
    )


def test_processes_that_disagree_say_nothing() -> None:
    apart = trials.PROCESSES_AGREE
    near, far = 10 * (1 + 0.9 * apart), 10 * (1 + 1.2 * apart)
    rest = [blocks(*[10.0] * 9)] * 4
    assert isinstance(summary(MEASURAND, [*rest, blocks(*[near] * 9)]), Timing)
    said = summary(MEASURAND, [*rest, blocks(*[far] * 9)])
    assert isinstance(said, NoisyMeasurement)
    assert said.reason == f"the processes disagree, 10.00 to {far:.2f} cycles"
