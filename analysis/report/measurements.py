"""measurements.md: cycles measured on one machine, as `setwise report --measure` recorded them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from setwise.analysis.measure.trials import OURS
from setwise.analysis.report.files import as_json, from_json
from setwise.analysis.report.kernels import FigureKey
from setwise.analysis.report.markdown import code, page, table, with_lanes
from setwise.analysis.text import counted
from setwise.codegen.run.timer import MODES

COMMAND = "setwise report --measure"
PATH = "data/measurements.json"


@dataclass(frozen=True, slots=True)
class Timed:
    """A routine's figure in core cycles a unit (a call, or a board of an array), or why there is none.

    `maker` made the bytes: setwise, or a compiler with its flags, whose code is `right` as it was proved, or passed the
    check's cases; of ours `fingerprint` is that of its row. `mode` is chained, independent or mixed. `bound` is the
    model's least, `model` its forecast, both on the processor that measured, for the same stream of instructions, the
    call and all. `again` is the median of a second run, of ours alone.
    """

    name: str
    isa: str
    lanes: int
    maker: str
    mode: str
    unit: str
    median: float | None
    p10: float | None
    acceptance: float
    reason: str = ""
    bound: float | None = None
    model: float | None = None
    right: str = ""
    fingerprint: str = ""
    again: float | None = None

    @property
    def key(self) -> FigureKey:
        """Name, instruction set, lanes."""
        return self.name, self.isa, self.lanes

    def error(self, figure: float | None) -> float | None:
        """How far the measured median lies above a figure of the model, as a part of the median; below 0, under it."""
        return None if self.median is None or figure is None else (self.median - figure) / self.median


@dataclass(frozen=True, slots=True)
class Measured:
    """A recorded measurement: the machine, the day, how, and the figures.

    `processor` is the model's name for the machine's cores, "" where it has none for them; `empty` is what a call of a
    routine that does nothing takes; `wrong` says of compilers' functions that were not timed what is wrong with them.
    """

    machine: str
    processor: str
    date: str
    method: str
    empty: float | None
    timed: tuple[Timed, ...]
    wrong: tuple[str, ...] = ()

    def timings(self, key: FigureKey, mode: str) -> dict[str, float]:
        """The medians of a kernel and what stands beside it, by maker."""
        of_kernel = (one for one in self.timed if one.key == key and one.mode == mode)
        return {one.maker: one.median for one in of_kernel if one.median is not None}

    def ours(self, key: FigureKey, mode: str) -> float | None:
        """The median of our kernel, where there is one."""
        return self.timings(key, mode).get(OURS)

    def of(self, fingerprints: Mapping[FigureKey, str]) -> Measured:
        """The same without what was measured of other kernels than these, ours and what stood beside them."""
        held = {one.key: one.fingerprint for one in self.timed if one.maker == OURS}
        fresh = tuple(one for one in self.timed if held.get(one.key) == fingerprints.get(one.key))
        return replace(self, timed=fresh)

    @property
    def agreement(self) -> str | None:
        """How near the model comes to our kernels' figures, in words; None where nothing is known of that."""
        ours = [one for one in self.timed if one.maker == OURS]
        bounds = [error for one in ours if (error := one.error(one.bound)) is not None]
        models = [error for one in ours if (error := one.error(one.model)) is not None]
        if not bounds:
            return None
        kernels = len({one.key for one in ours if one.error(one.bound) is not None})
        words = f"over {counted(len(bounds), 'figure')} of {counted(kernels, 'kernel')} the bound {_off(bounds)}"
        return words + (f"; the forecast {_off(models)}" if models else "")

    def as_json(self) -> str:
        """The file that holds it."""
        head = {key: value for key, value in asdict(self).items() if key != "timed"}
        return as_json([_row(one) for one in self.timed], COMMAND, **head)


def recorded(folder: Path) -> Measured | None:
    """The measurement recorded in that reports' folder; None if there is none. ValueError where it is damaged."""
    return from_json(folder / PATH, _measured, f"make it anew by {COMMAND}")


def _measured(held: dict[str, Any]) -> Measured:
    head = {key: held[key] for key in ("machine", "processor", "date", "method", "empty")}
    return Measured(**head, timed=tuple(Timed(**row) for row in held["rows"]), wrong=tuple(held["wrong"]))


def measurements(measured: Measured, processors: Mapping[str, str], stale: int = 0) -> str:
    """The page; `processors` are the titles of those that the model knows, `stale` the figures of earlier code."""
    ours = [one for one in measured.timed if one.maker == OURS]
    calls = [one for one in ours if one.unit == "call"]
    arrays = [one for one in ours if one.unit == "board"]
    return page(
        "Cycles, measured",
        f"Measured on **{measured.machine}** ({processors.get(measured.processor, 'a processor without a model')}), "
        f"{measured.date}. Core cycles, not ticks of the time stamp counter; figures of another machine differ.",
        measured.method,
        _empty(measured),
        f"{counted(stale, 'figure')} of kernels whose code has changed since are left out." if stale else "",
        "## Calls",
        "*Chained*: the result of each call is the first argument of the next, so that the latency counts. "
        "*Independent*: calls that wait for nothing, so that the throughput counts. *Mixed*: with arguments that "
        "change from call to call, for code that branches on them. In brackets the 10th percentile.",
        _table(calls, MODES),
        "## Arrays" if arrays else "",
        "Cycles a board." if arrays else "",
        _table(arrays, ("independent",)) if arrays else "",
        *_twice(ours),
        *_model(measured),
        *_refused(measured.timed),
        made=f"Made by `{COMMAND}`, which records the figures in [{PATH}]({PATH}); `setwise report` writes this page "
        "from them.",
    )


def _empty(measured: Measured) -> str:
    if measured.empty is None:
        return ""
    return (
        f"A call of a routine that does nothing takes {measured.empty:.2f} cycles: no figure of a call is below that."
    )


def _table(timed: Sequence[Timed], modes: Sequence[str]) -> str:
    held = {(one.key, one.mode): one for one in timed}
    used = [mode for mode in modes if any(one.mode == mode for one in timed)]
    lines = [
        (code(name), with_lanes(isa, lanes), *(_cell(held.get(((name, isa, lanes), mode))) for mode in used))
        for name, isa, lanes in dict.fromkeys(one.key for one in timed)
    ]
    return table(("Routine", "", *used), lines, left=2)


def _cell(one: Timed | None) -> str:
    if one is None:
        return "-"
    return "no figure" if one.median is None else f"{one.median:.2f} ({one.p10:.2f})"


def _off(errors: Sequence[float]) -> str:
    """How far figures of the model are from what was measured, in words."""
    above = max(-error for error in errors)
    where = f"at most {above:.1%} above the measured median" if above > 0 else "nowhere above the measured median"
    return f"lies {where}, and is {fmean(map(abs, errors)):.1%} off on average"


_OFF = {
    "zen4": (
        "Where the forecast is off: it is too low where 512-bit logic and rotates mix, for the core spreads logic that "
        "still waits over all ports, those that rotates need among them, and the model does not; too low for a few "
        "short calls in general registers, and for loops over arrays in them, where the cause was not found; too high "
        "for long independent chains, which the core gives better ports than the model. The bound knows no queues."
    )
}
"""What was found of a processor where the forecast is off."""


def _model(measured: Measured) -> list[str]:
    """The model beside what was measured, and how far apart they are."""
    held = [(one, error) for one in measured.timed if one.maker == OURS and (error := one.error(one.bound)) is not None]
    if not held:
        return []
    lines = []
    for one, error in sorted(held, key=lambda pair: -abs(pair[1])):
        forecast = one.error(one.model)
        told = ("-", "-") if one.model is None or forecast is None else (f"{one.model:.2f}", f"{forecast:+.1%}")
        cells = f"{one.bound:.2f}", f"{error:+.1%}", *told
        lines.append((code(one.name), with_lanes(one.isa, one.lanes), one.mode, f"{one.median:.2f}", *cells))
    return [
        "## The model beside the measurement",
        "Both figures of the model are for the very instructions that the timing loop executes, calls and all. The "
        "*bound* is what nothing can beat (`setwise cost`); the *forecast* lets operations queue at the ports that "
        f"they are given, as Zen 4 does, and is no bound: {measured.agreement}. Bounds that are the farthest off come "
        "first; + says that the measured figure is the larger one.",
        _OFF.get(measured.processor, ""),
        table(("Routine", "", "mode", "measured", "bound", "difference", "forecast", "difference"), lines, left=3),
    ]


def _twice(ours: Sequence[Timed]) -> Iterator[str]:
    """How near two runs come to each other."""
    apart = {one: abs(one.again - one.median) / one.median for one in ours if one.again and one.median}
    if apart:
        most = max(apart, key=lambda one: apart[one])
        yield "## Two runs"
        yield (
            f"All kernels were timed again, in processes of their own, when all else had been. The medians of the two "
            f"runs lie {fmean(apart.values()):.1%} apart on average over {counted(len(apart), 'figure')}, at most "
            f"{apart[most]:.1%} ({code(most.name)}, {with_lanes(most.isa, most.lanes)}, {most.mode}); "
            f"{sum(each <= 0.03 for each in apart.values())} of them within 3%."
        )


def _refused(timed: Sequence[Timed]) -> list[str]:
    refused = [one for one in timed if one.median is None]
    if not refused:
        return []
    lines = [(code(one.name), with_lanes(one.isa, one.lanes), one.maker, one.mode, one.reason) for one in refused]
    return [
        "## Without a figure",
        "Too few trials were undisturbed, or the processes did not agree; nothing is reported then.",
        table(("Routine", "", "maker", "mode", "reason"), lines, left=5),
    ]


def _row(one: Timed) -> dict[str, Any]:
    """The row without what is not there."""
    return {key: value for key, value in asdict(one).items() if value not in (None, "")} | {
        "median": one.median,
        "p10": one.p10,
    }
