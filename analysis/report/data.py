"""All that the reports are made from, gathered once: kernels, their bounds, what compilers make."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from setwise.analysis.measure.compilers import installed
from setwise.analysis.report import compilers
from setwise.analysis.report.comparison import classic_listings
from setwise.analysis.report.compilers import Compilers
from setwise.analysis.report.kernels import FigureKey, Figures, KernelFigures, figures_of, keys
from setwise.analysis.report.markdown import ISAS
from setwise.analysis.run.workers import Workers
from setwise.codegen.catalogue import catalogue
from setwise.codegen.targets import TARGETS

T = TypeVar("T")
_CHUNK = 8  # kernels that a process makes in one go


@dataclass(frozen=True, slots=True)
class Data:
    """What the reports are made from; `notes` say what of it is taken as it was recorded, without being checked."""

    figures: Figures
    classic: str
    compilers: Compilers
    notes: tuple[str, ...] = ()


def gather(folder: Path, checking: bool = False, progress: Callable[[str], None] = lambda _: None) -> Data:
    """Make, count and cost every kernel; compile the C; read from the reports' folder what was recorded there.

    For checking, only compilers of the recorded versions run; what others made is taken as it was recorded. Several
    processes do the work. Raises ValueError where what is recorded is damaged, CompilerError where a compiler fails.
    """
    before = compilers.RECORD.read(folder)
    using = compilers.to_run(installed(), before, checking)
    wanted = keys()
    # Of a set that extends another one compilers make what they make of that one.
    isas = [isa for isa in ISAS if TARGETS[isa].extends is None]
    names = {isa: [name for name, routine in catalogue().items() if isa in routine.isas] for isa in isas}
    with Workers() as pool:
        compiling = [
            (pool.submit(compilers.made_by, compiler, isa, names[isa]), f"{compiler.name} {isa}")
            for compiler in using
            for isa in isas
        ]
        # Those that take longest first, so that no core is left with one at the end.
        longest_first = sorted(wanted, key=_long, reverse=True)
        chunks = [longest_first[at : at + _CHUNK] for at in range(0, len(wanted), _CHUNK)]
        making = [(pool.submit(_kernels, chunk), f"{chunk[0][0]} {chunk[0][1]}") for chunk in chunks]
        kernels = {kernel.key: kernel for kernel in _results(making, progress)}
        counts = tuple(_results(compiling, progress))
        figures = Figures((key, kernels[key]) for key in wanted).differing
    now = Compilers({compiler.name: compiler.version for compiler in using}, counts)
    joined, notes = compilers.joined(now, before)
    return Data(figures, classic_listings(), joined, tuple(notes))


def _results(tasks: Sequence[tuple[Future[list[T]], str]], progress: Callable[[str], None]) -> Iterator[T]:
    """The results of all tasks, one after the other."""
    for task, name in tasks:
        yield from task.result()
        progress(name)


def _long(key: FigureKey) -> int:
    """How long a kernel takes to make, as far as its name tells."""
    name = key[0]
    return (
        2 * name.startswith(("sliders.", "side.")) + name.endswith(".batch") + name.endswith((".queen", ".queen.batch"))
    )


def _kernels(wanted: Sequence[FigureKey]) -> list[KernelFigures]:
    """In another process: the figures of some kernels."""
    return list(map(figures_of, wanted))
