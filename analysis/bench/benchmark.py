"""Benchmarks of kernels on this processor, with compiled C for the same routines on request."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

from setwise.analysis.bench import compilers
from setwise.analysis.bench.bench import PATIENCE
from setwise.analysis.bench.bench import bench as time_subjects
from setwise.analysis.bench.subjects import BOARDS, Subject, empty_routines, subject
from setwise.analysis.bench.trials import EMPTY, OURS, NoisyMeasurement, Timing
from setwise.analysis.errors import CannotRunHere, NotInstalled
from setwise.analysis.parallel import Show, silent, unrefused
from setwise.codegen.kernel import Kernel
from setwise.codegen.request import Request
from setwise.codegen.run import cpu
from setwise.codegen.run.call import missing
from setwise.codegen.run.timer import MODES

COMPILERS = ("gcc", "clang")


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Timings, and one line on each kernel that this processor cannot run."""

    timings: Sequence[Timing | NoisyMeasurement]
    not_run: Sequence[str]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One dictionary for each timing, with a field `speed`.

        `speed` is the cycles of the fastest set-wise compiled code divided by the cycles of this row. It is None
        without such code for the same measurement, and without a figure.
        """
        rows = [timing.as_dict() for timing in self.timings]
        best: dict[tuple[object, ...], float] = {}
        for row in rows:
            if (
                not row["maker"].startswith((OURS, EMPTY))
                and compilers.FOR_SCALE not in row["maker"]
                and "median" in row
            ):
                best[_key(row)] = min(row["median"], best.get(_key(row), row["median"]))
        return [
            {**row, "speed": best[_key(row)] / row["median"] if "median" in row and _key(row) in best else None}
            for row in rows
        ]


def _key(row: dict[str, Any]) -> tuple[object, ...]:
    return tuple(row[key] for key in ("name", "isa", "lanes", "mode", "boards"))


def machine() -> dict[str, Any]:
    """Return the processor's brand string and the number of hardware threads."""
    return {"processor": cpu.brand(), "threads": os.cpu_count()}


def bench(
    requests: Sequence[Request],
    modes: Sequence[str] = MODES,
    *,
    beside: Sequence[str] = (),
    boards: int = BOARDS,
    patience: float = PATIENCE,
    named: bool = False,
    show: Show = silent,
) -> Benchmark:
    """Time kernels on this processor, in core cycles.

    `modes` are the ways in which calls follow each other. `beside` names compilers, whose code for the same routines is
    timed, too. `boards` is the length of arrays. `patience` is the time in seconds to wait for undisturbed trials. With
    `named` a timing shows the name of its variant.

    Raises CannotRunHere if this processor can run none of the kernels, and NotInstalled if a compiler is missing.
    """
    chosen = [mode for mode in MODES if mode in known(modes, MODES, "mode")]
    known(beside, COMPILERS, "compiler")
    if boards < 1:
        raise ValueError(f"arrays of {boards} boards: give 1 or more")

    def made(request: Request) -> Kernel:
        show(f"{request.routine.name} for {request.isa}")
        return request.kernel

    kernels, not_run = _that_run(list(unrefused(made, requests)))
    subjects = [subject(kernel, maker=_maker(kernel, named), boards=boards) for kernel in kernels]
    if beside:
        subjects = list(_with_compiled(kernels, subjects, beside, show))
    try:
        timings = time_subjects([*subjects, *empty_routines(subjects)], chosen, patience, report=show)
    except BrokenProcessPool:
        raise CannotRunHere("a routine crashed the process that timed it: time the routines one by one") from None
    return Benchmark(timings, not_run)


def known(given: Sequence[str], names: Sequence[str], kind: str) -> Sequence[str]:
    """Return the given names. Raises ValueError if one is not in `names`."""
    if unknown := [name for name in given if name not in names]:
        raise ValueError(f"unknown {kind} '{unknown[0]}': choose from {','.join(names)}")
    return given


def _maker(kernel: Kernel, named: bool) -> str:
    return f"{OURS} {kernel.variant}" if named and kernel.variant else OURS


def _that_run(kernels: Sequence[Kernel]) -> tuple[list[Kernel], list[str]]:
    """Return the kernels that this processor can run, and one line on each other kernel.

    Raises CannotRunHere if it can run none.
    """
    run: list[Kernel] = []
    not_run = []
    for kernel in kernels:
        lacking = ", ".join(missing(kernel.target))
        if lacking:
            not_run.append(f"{kernel.name} for {kernel.target.name} is not run: this processor lacks {lacking}")
        else:
            run.append(kernel)
    if not run:
        raise CannotRunHere(not_run[0])
    return run, not_run


def _with_compiled(
    kernels: Sequence[Kernel], subjects: Sequence[Subject], names: Sequence[str], show: Show
) -> Iterator[Subject]:
    """Yield each subject, followed by compiled C for the same routine, instruction set and lanes."""
    if any(kernel.convention.name != "sysv" for kernel in kernels):
        raise ValueError("compiled C uses the System V convention: leave out --abi or --beside")
    here = compilers.installed()
    using = [compiler for compiler in here if compiler.name.partition("-")[0] in names]
    absent = [name for name in names if not any(compiler.name.partition("-")[0] == name for compiler in using)]
    if absent:
        is_not = "is not" if len(absent) == 1 else "are not"
        raise NotInstalled(f"{' and '.join(absent)} {is_not} installed; on Debian: apt install {' '.join(absent)}")
    for kernel, ours in zip(kernels, subjects, strict=True):
        show(f"C of {kernel.name} for {kernel.target.name}")
        try:
            compiled = compilers.compile_all([kernel.name], kernel.target.name, kernel.layout.lanes, using=using)
        except compilers.CompilerError as error:
            raise CannotRunHere(str(error)) from None
        yield ours
        yield from (subject(kernel, c.binary, c.label, ours.boards or 1) for c in compiled if c.binary is not None)
