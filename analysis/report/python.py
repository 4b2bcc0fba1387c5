"""python.md: what calls from Python take on one machine, as `setwise report --measure python` recorded it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from setwise.analysis.measure.calls import CHESS, COPY, FILL, FOREIGN, LOOP, NUMBA, OURS, OUT, Call
from setwise.analysis.pictures import svg
from setwise.analysis.pictures.lines import Line, by_length
from setwise.analysis.report.markdown import code, page, table, table_if_any, versions_of
from setwise.analysis.report.records import Record, once_of
from setwise.analysis.text import counted

PICTURE = "pictures/python.svg"
_AT_ONCE = 512
_LONG = 10_000_000


@dataclass(frozen=True, slots=True)
class FromPython:
    """A recorded measurement: the machine, the day, how, the calls; `isa` is the set that arrays were worked on in."""

    machine: str
    cores: int
    date: str
    isa: str
    versions: dict[str, str]
    method: str
    not_run: tuple[str, ...]
    calls: tuple[Call, ...]

    def nanoseconds(self, by: str, boards: int, threads: int = 1) -> float | None:
        """Of a call on arrays of that length."""
        found = (call.fastest for call in self.calls if (call.by, call.boards, call.threads) == (by, boards, threads))
        return next(found, None)


RECORD = Record("data/python.json", FromPython, "setwise report --measure python", "calls")


def python(measured: FromPython, columns: str | None = None) -> str:
    """The page; `columns` is its section on engines that have columns of positions."""
    lengths = sorted({call.boards for call in measured.calls if call.boards})
    return page(
        "python.md",
        **once_of(measured),
        makers=versions_of(measured.versions),
        noise=f"{median(call.median / call.fastest - 1 for call in measured.calls):.0%}",
        left_out="; ".join(measured.not_run) or None,
        integers=_of_integers([call for call in measured.calls if not call.boards and call.by != LOOP]),
        lengths=_by_length(measured, lengths),
        threads=_by_threads(measured, lengths),
        columns=columns,
        **_of_few(measured),
        **_of_many(measured, lengths),
    )


def picture(measured: FromPython) -> str:
    """Nanoseconds a board by the length of the arrays, as a picture."""
    colours = {OURS: svg.BLUE, NUMBA: svg.TEAL, FILL: svg.OCHRE, CHESS: svg.BRICK}
    lines = []
    for by, colour in colours.items():
        calls = sorted((call.boards, call.fastest) for call in measured.calls if (call.by, call.threads) == (by, 1))
        figures = [(boards, nanoseconds / boards) for boards, nanoseconds in calls if boards]
        lines += [Line(by, colour, figures)] if figures else []
    below = f"sliders.union on arrays, one thread, {measured.machine}, {measured.date}."
    return by_length(lines, "From Python: nanoseconds a board", below, "boards an array", "nanoseconds a board")


def _of_integers(calls: Sequence[Call]) -> str:
    ours, foreign = ({call.routine: call.fastest for call in calls if call.by == by} for by in (OURS, FOREIGN))
    rows = [
        (code(name), f"{ours[name]:.0f}", f"{foreign[name]:.0f}", f"{ours[name] / foreign[name]:.2f}") for name in ours
    ]
    return table(("Routine", "setwise", "by ctypes", "ratio"), rows)


def _by_length(measured: FromPython, lengths: Sequence[int]) -> str:
    columns = (OURS, OUT, NUMBA, FILL, CHESS)
    rows = [
        (f"{boards:,}", *(_a_board(measured.nanoseconds(by, boards), boards) for by in columns)) for boards in lengths
    ]
    return table(("boards", *columns), rows, left=0)


def _by_threads(measured: FromPython, lengths: Sequence[int]) -> str:
    columns = sorted({call.threads for call in measured.calls if call.by == OUT})
    rows = [
        (f"{boards:,}", *(_a_board(measured.nanoseconds(OUT, boards, threads), boards) for threads in columns))
        for boards in lengths
    ]
    return table(("boards", *(counted(threads, "thread") for threads in columns)), rows, left=0)


def _a_board(nanoseconds: float | None, boards: int) -> str:
    """Nanoseconds of a board in three digits."""
    if nanoseconds is None:
        return "-"
    each = nanoseconds / boards
    return f"{each:,.0f}" if each >= 100 else f"{each:.3g}"


def _work(measured: FromPython) -> float | None:
    """Nanoseconds of the machine code on 512 boards without the foreign call that runs it."""
    whole, empty = measured.nanoseconds(LOOP, _AT_ONCE), measured.nanoseconds(LOOP, 0)
    return None if whole is None or empty is None else whole - empty


def _of_few(measured: FromPython) -> dict[str, str]:
    """What a call on 512 boards takes beyond its work."""
    work = _work(measured)
    calls = [measured.nanoseconds(by, _AT_ONCE) for by in (OURS, OUT)]
    if work is None or None in calls:
        return {}
    beyond = [f"{(call - work) / 1000:.1f}" for call in calls if call is not None]
    return {"work": f"{work / _AT_ONCE:.2f}", "beyond": beyond[0], "beyond_out": beyond[1]}


def _of_many(measured: FromPython, lengths: Sequence[int]) -> dict[str, str | None]:
    """What part of the lower of memory's rate and the kernel's own calls on long arrays reach."""
    work = _work(measured)
    rows = []
    for boards in lengths:
        copy = measured.nanoseconds(COPY, boards)
        if work is None or copy is None or boards < _LONG:
            continue
        for by, threads in sorted({(call.by, call.threads) for call in measured.calls if call.by in (OURS, OUT)}):
            if call := measured.nanoseconds(by, boards, threads):
                share = f"{max(work / _AT_ONCE, copy / boards) * boards / call:.0%}"
                rows.append((by, f"{boards:,}", threads, _a_board(call, boards), _a_board(copy, boards), share))
    return {"shares": table_if_any(("", "boards", "threads", "ns a board", "a copy's", "of the lower rate"), rows)}
