"""How well forecasts agree with what is measured: how far they are off, and which of two they say is faster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean

from setwise.analysis.cost.processors.table import Processor
from setwise.analysis.cost.simulate import simulate
from setwise.analysis.measure.subjects import Subject, round_stream
from setwise.analysis.measure.trials import Measurand, Timing

APART = 1.1
"""Two figures are apart where one is more than so many times the other."""
_BOARDS = 64  # of an array whose stream is walked: more of them change nothing


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of so many figures the mean error as a part; of pairs that are apart how many the forecasts order rightly."""

    figures: int
    error: float
    pairs: int
    right: int


def forecasts_of(subjects: Iterable[Subject], modes: Sequence[str], on: Processor) -> dict[Measurand, float]:
    """Cycles of a unit as the model of that processor has them; of code whose time depends on its arguments none.

    ValueError where the model does not know the core, UnknownCost where its table lacks an instruction.
    """
    found = {}
    for subject in subjects:
        short = replace(subject, boards=min(_BOARDS, subject.boards))
        for mode in () if subject.varies else subject.modes:
            if mode in modes:
                calls = short.waiting if mode == "chained" else (short,)
                cycles = max(simulate(round_stream(each, mode), on) for each in calls)
                found[subject.measurand(mode)] = round(cycles / (short.boards or short.calls), 3)
    return found


def agreement(timings: Iterable[object], forecasts: Mapping[Measurand, float]) -> Agreement:
    """How forecasts agree with the timings; pairs are of one routine, called the same way.

    >>> sets = [Measurand("east", isa, 1, "sysv", "setwise", "chained") for isa in ("x86-64", "bmi2", "sse2")]
    >>> figures = [Timing(one, cycles, 0, 0, 0, 0, 0, 0) for one, cycles in zip(sets, (10, 10.5, 20))]
    >>> agreement(figures, dict(zip(sets, (10.0, 10.5, 10.2))))
    Agreement(figures=3, error=0.163..., pairs=2, right=1)
    """
    known = [timing for timing in timings if isinstance(timing, Timing) and timing.measurand in forecasts]
    if not known:
        return Agreement(0, 0.0, 0, 0)
    pairs = [
        (forecasts[one.measurand] < forecasts[other.measurand]) == (one.median < other.median)
        for one, other in combinations(known, 2)
        if _calls(one.measurand) == _calls(other.measurand)
        and max(one.median, other.median) > APART * min(one.median, other.median)
    ]
    error = fmean(abs(forecasts[timing.measurand] / timing.median - 1) for timing in known)
    return Agreement(len(known), error, len(pairs), sum(pairs))


def _calls(measurand: Measurand) -> tuple[str, str, int]:
    return measurand.name, measurand.mode, measurand.boards
