"""What the model foretells of kernels as they are timed: call, loop and all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from setwise.analysis.cost.bounds import round_cost
from setwise.analysis.cost.processors import Processor
from setwise.analysis.cost.simulate import CORES, simulate
from setwise.analysis.measure.subjects import Subject, round_stream
from setwise.analysis.report.kernels import FigureKey

_SHORT = 64  # boards of an array whose stream is walked for the model: more of them change nothing
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
            streams = [round_stream(way, mode) for way in (short.waiting if mode == "chained" else (short,))]
            forecast = max(simulate(stream, here) for stream in streams) if here.name in CORES else None
            forecast = None if forecast is None else round(forecast / units, 3)
            bound = round(max(round_cost(stream, here).bound for stream in streams) / units, 3)
            forecasts[(routine.name, routine.isa, routine.lanes), mode] = bound, forecast
    return forecasts
