"""What the model foretells of kernels as they are timed: call, loop and all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from setwise.analysis.cost.bounds import round_cost
from setwise.analysis.cost.processors import Processor, processor
from setwise.analysis.cost.simulate import CORES, simulate
from setwise.analysis.measure.subjects import Subject, round_stream, subject
from setwise.analysis.report.kernels import FigureKey
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower

_SHORT = 64  # boards of an array whose stream is walked for the model: more of them change nothing
FORETOLD = "zen4"
"""The processor that forecasts are for where nothing was measured: it has every instruction set."""
Forecasts = Mapping[tuple[FigureKey, str], tuple[float, float | None]]
"""By kernel and mode the bound and the forecast, None where the core is not known well enough for one."""


def forecasts_of(subjects: Sequence[Subject], here: Processor, progress: Callable[[str], None]) -> Forecasts:
    """The model's bound for what the timing loop executes, and its forecast, in cycles of a call or a board."""
    forecasts: dict[tuple[FigureKey, str], tuple[float, float | None]] = {}
    for routine in subjects:
        if routine.varies:
            continue
        progress(f"model of {routine.name} for {routine.isa}")
        short = replace(routine, boards=_SHORT) if routine.boards else routine
        units = short.boards or short.calls
        for mode in short.modes:
            stream = round_stream(short, mode)
            forecast = round(simulate(stream, here) / units, 3) if here.name in CORES else None
            bound = round(round_cost(stream, here).bound / units, 3)
            forecasts[(routine.name, routine.isa, routine.lanes), mode] = bound, forecast
    return forecasts


def foretold(key: FigureKey) -> list[tuple[tuple[FigureKey, str], tuple[float, float | None]]]:
    """The forecasts of a kernel of the catalogue on FORETOLD."""
    name, isa, lanes = key
    kernel = lower(find(name), isa, "sysv", lanes)
    return [*forecasts_of([subject(kernel)], processor(FORETOLD), lambda _: None).items()]
