"""Calls from Python, timed: what a figure is, and how calls that are compared take turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from timeit import Timer
from typing import Any, TypeVar

METHOD = (
    "Trials of as many calls as last a fifth of a millisecond, or of one; what is compared takes turns. A figure is "
    "the fastest trial's: of one thread in processor time, which does not grow while others have the core, of several "
    "by the clock."
)
OURS, OUT, FOREIGN, LOOP, COPY, FILL, NUMBA, CHESS = (
    *("setwise", "setwise, out=", "ctypes", "its loop alone", "copy", "NumPy", "numba", "python-chess"),
)
"""Who does it."""
_TRIAL, _FEWEST = 200e-6, 3  # seconds, trials
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call:
    """Nanoseconds of a call: of the fastest trial, and the median of all.

    `boards` is the length of the arrays that are given, 0 for integers.
    """

    by: str
    routine: str
    boards: int
    threads: int
    fastest: float
    median: float


def timer(call: Callable[..., Any], arguments: Sequence[Any], **named: Any) -> Timer:
    """Of the call, written as one writes it; it has been called once, so that all is made that is made once."""
    call(*arguments, **named)
    places = [f"given{at}" for at in range(len(arguments))]
    written = ", ".join([*places, *(f"{name}={name}" for name in named)])
    names = {"call": call, **dict(zip(places, arguments, strict=True)), **named}
    clock = time.perf_counter if named.get("threads", 1) > 1 else time.thread_time
    return Timer(f"call({written})", timer=clock, globals=names)


def by_turns(timers: Mapping[T, Timer], seconds: float) -> dict[T, tuple[float, float]]:
    """The fastest and the median nanoseconds of a call, over trials in turn for so many seconds each."""
    numbers = {key: max(1, round(_TRIAL / max(one.timeit(1), 1e-9))) for key, one in timers.items()}
    trials: dict[T, list[float]] = {key: [] for key in timers}
    spent = dict.fromkeys(timers, 0.0)
    while waiting := [key for key in timers if spent[key] < seconds or len(trials[key]) < _FEWEST]:
        for key in waiting:
            begin = time.perf_counter()
            trials[key].append(timers[key].timeit(numbers[key]) * 1e9 / numbers[key])
            spent[key] += time.perf_counter() - begin
    return {key: (round(min(each), 1), round(median(each), 1)) for key, each in trials.items()}
