"""measurements.md: cycles measured on one machine, as `setwise report --measure` recorded them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from setwise.analysis.measure.trials import OURS
from setwise.analysis.report.bounds import TITLES
from setwise.analysis.report.findings import Finding, about
from setwise.analysis.report.kernels import FigureKey
from setwise.analysis.report.markdown import code, page, table, table_if_any, with_lanes
from setwise.analysis.report.records import Record, once_of
from setwise.analysis.text import counted
from setwise.codegen.run.timer import MODES


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
        of_kernel = (figure for figure in self.timed if figure.key == key and figure.mode == mode)
        return {figure.maker: figure.median for figure in of_kernel if figure.median is not None}

    def ours(self, key: FigureKey, mode: str) -> float | None:
        """The median of our kernel, where there is one."""
        return self.timings(key, mode).get(OURS)

    def of(self, fingerprints: Mapping[FigureKey, str]) -> Measured:
        """The same without what was measured of other kernels than these, ours and what stood beside them."""
        held = {figure.key: figure.fingerprint for figure in self.timed if figure.maker == OURS}
        fresh = tuple(figure for figure in self.timed if held.get(figure.key) == fingerprints.get(figure.key))
        return replace(self, timed=fresh)


RECORD = Record("data/measurements.json", Measured, "setwise report --measure", "timed")


def measurements(measured: Measured, stale: int = 0, findings: Sequence[Finding] = ()) -> str:
    """The page; `stale` is the number of figures of earlier code, `findings` say where the forecast is off."""
    near = agreement(measured)
    off = about(findings, measured.processor, "measurements.md") if near else []
    ours = [figure for figure in measured.timed if figure.maker == OURS]
    arrays = [figure for figure in ours if figure.unit == "board"]
    model = ("Routine", "", "mode", "measured", "bound", "difference", "forecast", "difference")
    refused = [
        (*_titled(figure), figure.maker, figure.mode, figure.reason)
        for figure in measured.timed
        if figure.median is None
    ]
    return page(
        "measurements.md",
        **once_of(measured),
        title=TITLES.get(measured.processor),
        stale=counted(stale, "figure") if stale else None,
        calls=_table([figure for figure in ours if figure.unit == "call"], MODES),
        arrays=_table(arrays, ("independent",)) if arrays else None,
        **_apart(ours),
        agreement=near,
        off="\n\n".join(f"{finding.words} ({finding.date})" for finding in off) or None,
        model=table_if_any(model, _model(ours), left=3),
        refused=table_if_any(("Routine", "", "maker", "mode", "reason"), refused, left=5),
    )


def agreement(measured: Measured) -> str | None:
    """How near the model's figures come to our kernels', a line a kind; None where nothing is known of that."""
    ours = [figure for figure in measured.timed if figure.maker == OURS]
    lines = []
    for title, name in (("bound", "bound"), ("forecast", "model")):
        errors = {figure: error for figure in ours if (error := figure.error(getattr(figure, name))) is not None}
        if errors:
            kernels = len({figure.key for figure in errors})
            least, most = (f"{error:+.1%}" for error in (min(errors.values()), max(errors.values())))
            lines.append((title, len(errors), kernels, least, most, f"{fmean(map(abs, errors.values())):.1%}"))
    head = ("", "figures", "kernels", "least difference", "greatest", "off on average")
    return table_if_any(head, lines)


def _titled(figure: Timed) -> tuple[str, str]:
    """The first two cells of a line."""
    return code(figure.name), with_lanes(figure.isa, figure.lanes)


def _table(timed: Sequence[Timed], modes: Sequence[str]) -> str:
    cells = {(figure.key, figure.mode): _cell(figure) for figure in timed}
    used = [mode for mode in modes if any(figure.mode == mode for figure in timed)]
    titles = {figure.key: _titled(figure) for figure in timed}
    lines = [(*title, *(cells.get((key, mode), "-") for mode in used)) for key, title in titles.items()]
    return table(("Routine", "", *used), lines, left=2)


def _cell(figure: Timed) -> str:
    return "no figure" if figure.median is None else f"{figure.median:.2f} ({figure.p10:.2f})"


def _model(ours: Sequence[Timed]) -> list[tuple[str, ...]]:
    """Lines with the model's figures beside what was measured, and how far apart they are."""
    errors = {figure: error for figure in ours if (error := figure.error(figure.bound)) is not None}
    return [
        (
            *_titled(figure),
            figure.mode,
            f"{figure.median:.2f}",
            f"{figure.bound:.2f}",
            f"{error:+.1%}",
            *(("-", "-") if figure.model is None else (f"{figure.model:.2f}", f"{figure.error(figure.model):+.1%}")),
        )
        for figure, error in sorted(errors.items(), key=lambda pair: -abs(pair[1]))
    ]


def _apart(ours: Sequence[Timed]) -> dict[str, object]:
    """How near two runs come to each other; nothing where there was one."""
    apart = {
        figure: abs(figure.again - figure.median) / figure.median for figure in ours if figure.again and figure.median
    }
    if not apart:
        return {}
    most = max(apart, key=apart.__getitem__)
    return {
        "apart": f"{fmean(apart.values()):.1%}",
        "apart_of": counted(len(apart), "figure"),
        "most_apart": f"{apart[most]:.1%} ({', '.join((*_titled(most), most.mode))})",
        "near": sum(part <= 0.03 for part in apart.values()),
    }
