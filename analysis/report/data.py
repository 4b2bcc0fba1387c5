"""All that the reports are made from, gathered once: kernels, their bounds, what compilers make, what was measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from setwise.analysis.measure.compilers import Compiler, installed
from setwise.analysis.report import compilers
from setwise.analysis.report import measurements as measured
from setwise.analysis.report.comparison import classic_listings
from setwise.analysis.report.compilers import CompilerCounts, Compilers
from setwise.analysis.report.costs import Estimate, Estimates, estimates_of
from setwise.analysis.report.kernels import FigureKey, Figures, KernelFigures, figures_of, keys
from setwise.analysis.report.markdown import ISAS
from setwise.analysis.report.measurements import Measured
from setwise.analysis.run.workers import Workers
from setwise.codegen.catalogue import catalogue

T = TypeVar("T")
_CHUNK = 8  # kernels that a process makes in one go


@dataclass(frozen=True, slots=True)
class Data:
    """What the reports are made from; `notes` say what of it is taken as it was recorded, without being checked."""

    figures: Figures
    estimates: Estimates
    classic: str
    compilers: Compilers
    measured: Measured | None
    notes: tuple[str, ...]


def gather(folder: Path, checking: bool = False, progress: Callable[[str], None] = lambda _: None) -> Data:
    """Make, count and cost every kernel; compile the C; read from the reports' folder what was recorded there.

    For checking, only compilers of the recorded versions run; what others made is taken as it was recorded. Several
    processes do the work. Raises ValueError where what is recorded is damaged, CompilerError where a compiler fails.
    """
    before = compilers.recorded(folder)
    using = compilers.to_run(installed(), before, checking)
    wanted = keys()
    names = {isa: [name for name, routine in catalogue().items() if isa in routine.isas] for isa in ISAS}
    with Workers() as pool:
        compiling = [
            (pool.submit(_compiled, one, isa, names[isa]), f"{one.name} {isa}") for one in using for isa in ISAS
        ]
        # Those that take longest first, so that no core is left with one at the end.
        longest_first = sorted(wanted, key=_long, reverse=True)
        chunks = [longest_first[at : at + _CHUNK] for at in range(0, len(wanted), _CHUNK)]
        making = [(pool.submit(_kernels, chunk), f"{chunk[0][0]} {chunk[0][1]}") for chunk in chunks]
        made = {row.key: (row, estimates) for each in _results(making, progress) for row, estimates in each}
        compiled = [one for each in _results(compiling, progress) for one in each]
    now = Compilers({one.name: one.version for one in using}, tuple(compiled))
    joined, notes = compilers.joined(now, before)
    return Data(
        figures={key: made[key][0] for key in wanted},
        estimates={(key, name): one for key in wanted for name, one in made[key][1].items()},
        classic=classic_listings(),
        compilers=joined,
        measured=measured.recorded(folder),
        notes=tuple(notes),
    )


def _results(tasks: Sequence[tuple[Future[T], str]], progress: Callable[[str], None]) -> list[T]:
    results = []
    for task, name in tasks:
        results.append(task.result())
        progress(name)
    return results


def _long(key: FigureKey) -> int:
    """How long a kernel takes to make, as far as its name tells."""
    name = key[0]
    return 2 * name.startswith("sliders.") + name.endswith(".batch") + name.endswith((".queen", ".queen.batch"))


def _kernels(wanted: Sequence[FigureKey]) -> list[tuple[KernelFigures, dict[str, Estimate]]]:
    """In another process: the figures of some kernels, and their bounds."""
    made = []
    for key in wanted:
        row, executed = figures_of(key)
        made.append((row, estimates_of(executed, row.shape, row.boards)))
    return made


def _compiled(compiler: Compiler, isa: str, routines: Sequence[str]) -> list[CompilerCounts]:
    """In another process: what a compiler makes for an instruction set."""
    return compilers.made_by(compiler, isa, routines)
