"""`setwise bench`: kernels timed on this processor, and beside them what compilers make of C."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from itertools import chain
from typing import Any

from setwise.analysis.commands.arguments import add_json, add_lanes, add_names, add_only_isa
from setwise.analysis.commands.kernels import add_cpu, add_objective, maker
from setwise.analysis.commands.tables import print_json, print_table
from setwise.analysis.errors import CannotRunHere, NotInstalled
from setwise.analysis.measure import compilers
from setwise.analysis.measure.bench import bench
from setwise.analysis.measure.subjects import Subject, empty_routines, subject
from setwise.analysis.measure.trials import EMPTY, METHOD, OURS, Refusal, Timing
from setwise.analysis.progress import Progress
from setwise.codegen.catalogue import chosen, find
from setwise.codegen.describe.routine import Routine
from setwise.codegen.kernel import Kernel, unrefused
from setwise.codegen.offers import offered
from setwise.codegen.run import cpu
from setwise.codegen.run.call import missing
from setwise.codegen.run.timer import MODES
from setwise.codegen.targets import ALL_SETS, TARGETS, VECTORS, target_named
from setwise.codegen.targets.vector import AVX2, AVX512

EXAMPLES = (
    "setwise bench",
    "setwise bench sliders.union --isa avx2 --beside gcc,clang",
    "setwise bench sliders.union --isa avx2 --variants",
    "setwise bench 'kogge-stone.attacks.*' --isa x86-64 --mode chained --json",
)
_SOUTH = ("dumb7.attacks.sout", "kogge-stone.attacks.sout", "push.attacks.sout")
USUAL: tuple[tuple[str, str, int | None], ...] = (
    *(("sliders.union", isa, None) for isa in ALL_SETS),
    ("sliders.union", AVX512.name, 4),
    *((name, isa, None) for name in _SOUTH for isa in ("x86-64", AVX2.name, AVX512.name)),
    *((f"{family}.attacks.queen", isa, None) for family in ("dumb7", "kogge-stone") for isa in ("x86-64", AVX512.name)),
    *(("sliders.union.batch", isa, None) for isa in ("x86-64", *VECTORS)),
)
"""What is timed where nothing is named: routine, instruction set, lanes."""

_COMPILERS = ("gcc", "clang")


def add_arguments(parser: ArgumentParser) -> None:
    """NAME... and their target; how they are called, what is timed beside them, and --json."""
    add_names(parser, "routines, or patterns; default: the usual comparisons")
    add_only_isa(parser)
    add_lanes(parser)
    add_objective(parser)
    add_cpu(parser)
    parser.add_argument("--abi", default="sysv", metavar="A", help="sysv, win64 or wiki (default: sysv)")
    parser.add_argument(
        "--mode",
        metavar="M,...",
        help="how calls follow: chained (a result is the next argument), independent, mixed (new arguments each time, "
        "where these matter); default: all",
    )
    parser.add_argument("--beside", metavar="C,...", help="time what these compilers make of C for the same: gcc,clang")
    parser.add_argument("--variants", action="store_true", help="time all variants that are offered, not only the best")
    parser.add_argument("--boards", type=int, default=512, metavar="N", help="the length of arrays (default: 512)")
    parser.add_argument(
        "--patience", type=float, default=30.0, metavar="S", help="seconds to wait for a quiet moment, five times (30)"
    )
    add_json(parser)


def run(arguments: Namespace) -> int:
    """Time kernels and print a table; 1 if one of them has no figure."""
    with Progress() as progress:
        subjects, not_run = _subjects(arguments, chosen(arguments.names) if arguments.names else None, progress)
        timings = _timings(arguments, subjects, progress)
    rows = rows_of(timings)
    if arguments.json:
        print_json({"machine": machine(), "method": METHOD, "timings": rows, "not run": not_run})
    elif any(isinstance(timing, Timing) for timing in timings):
        _print(rows)
        print(*not_run, sep="\n", end="\n" if not_run else "")
    return _complain(timings)


def timed(arguments: Namespace, routines: Sequence[Routine] | None) -> tuple[list[Timing | Refusal], list[str]]:
    """The timings of these routines, or of what is usually timed, and a line on each kernel that does not run here."""
    with Progress() as progress:
        subjects, not_run = _subjects(arguments, routines, progress)
        return _timings(arguments, subjects, progress), not_run


def _subjects(
    arguments: Namespace, routines: Sequence[Routine] | None, progress: Progress
) -> tuple[list[Subject], list[str]]:
    """What is timed, and a line on each kernel that does not run here."""
    _modes(arguments)
    if arguments.variants and (arguments.beside or arguments.variant or arguments.objective != "size"):
        raise ValueError("--variants times all variants: leave --variant, --for and --beside out")
    if arguments.boards < 1:
        raise ValueError(f"arrays of {arguments.boards} boards: give 1 or more")
    kernels, not_run = _that_run(list(_kernels(arguments, routines, progress)))
    subjects = [subject(kernel, maker=_maker(kernel, arguments), boards=arguments.boards) for kernel in kernels]
    if arguments.beside:
        subjects = _with_compiled(kernels, subjects, arguments.beside.split(","), progress)
    return subjects, not_run


def _maker(kernel: Kernel, arguments: Namespace) -> str:
    """Who made it: we did, and where all variants are timed, which of them it is."""
    return f"{OURS} {kernel.variant}" if arguments.variants and kernel.variant else OURS


def _timings(arguments: Namespace, subjects: Sequence[Subject], progress: Progress) -> list[Timing | Refusal]:
    every = [*subjects, *empty_routines(subjects)]
    try:
        return bench(every, _modes(arguments), arguments.patience, report=progress.show)
    except BrokenProcessPool:
        raise CannotRunHere("a routine ended the process that timed it: try them one by one") from None


def _modes(arguments: Namespace) -> Sequence[Any]:
    return _some_of(MODES, arguments.mode.split(","), "no calls are") if arguments.mode else MODES


def machine() -> dict[str, Any]:
    """What was measured on: the processor's name for itself, and how many of its threads the system has."""
    return {"processor": cpu.brand(), "threads": os.cpu_count()}


def rows_of(timings: Sequence[Timing | Refusal]) -> list[dict[str, Any]]:
    """A row a timing, `speed` among its figures: the cycles of the fastest code of compilers over its own.

    It is None where no compiler made the same, and where there is no figure.
    """
    rows = [timing.as_dict() for timing in timings]
    best: dict[tuple[object, ...], float] = {}
    for row in rows:
        if not row["maker"].startswith((OURS, EMPTY)) and compilers.FOR_SCALE not in row["maker"] and "median" in row:
            best[_key(row)] = min(row["median"], best.get(_key(row), row["median"]))
    return [
        {**row, "speed": best[_key(row)] / row["median"] if "median" in row and _key(row) in best else None}
        for row in rows
    ]


def _key(row: dict[str, Any]) -> tuple[object, ...]:
    return tuple(row[key] for key in ("name", "isa", "lanes", "mode", "boards"))


def _some_of(known: Sequence[str], names: Sequence[str], none_is: str) -> Sequence[str]:
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"{none_is} called '{unknown[0]}': give some of {','.join(known)}")
    return names


def _kernels(arguments: Namespace, routines: Sequence[Routine] | None, progress: Progress) -> Iterator[Kernel]:
    """The kernels that were asked for; Refused if there is none of them."""

    make = maker(arguments)

    def kernels(routine: Routine, isa: str, lanes: int | None) -> list[Kernel]:
        progress.show(f"{routine.name} for {isa}")
        if arguments.variants:
            return [*offered(routine, isa, arguments.abi, lanes)]
        return [make(routine, isa, arguments.abi, lanes)]

    return chain.from_iterable(unrefused(lambda request: kernels(*request), _asked(arguments, routines)))


def _asked(arguments: Namespace, routines: Sequence[Routine] | None) -> Iterator[tuple[Routine, str, int | None]]:
    isa, lanes = arguments.isa, arguments.lanes
    if isa is not None:
        target_named(isa)
    if routines is None:
        if isa or lanes:
            raise ValueError("--isa and --lanes go with names: what is usually timed has its own")
        yield from ((find(name), usual, shape) for name, usual, shape in USUAL)
        return
    for routine in routines:
        if isa:
            yield routine, isa, lanes
        else:
            yield from ((routine, own, lanes) for own in routine.isas if lanes in (None, *TARGETS[own].widths))


def _that_run(kernels: Sequence[Kernel]) -> tuple[list[Kernel], list[str]]:
    """The kernels that this processor runs, and a line on each that it does not."""
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
    kernels: Sequence[Kernel], subjects: Sequence[Subject], names: Sequence[str], progress: Progress
) -> list[Subject]:
    """The subjects, each followed by what compilers make of C for the same routine, instruction set and lanes."""
    if any(kernel.convention.name != "sysv" for kernel in kernels):
        raise ValueError("compilers' code is called as System V says: leave --abi out, or --beside")
    _some_of(_COMPILERS, names, "no compiler is")
    here = compilers.installed()
    using = [compiler for compiler in here if compiler.name.partition("-")[0] in names]
    absent = [name for name in names if not any(compiler.name.partition("-")[0] == name for compiler in using)]
    if absent:
        is_not = "is not" if len(absent) == 1 else "are not"
        raise NotInstalled(f"{' and '.join(absent)} {is_not} installed; on Debian: apt install {' '.join(absent)}")
    beside = []
    for kernel, ours in zip(kernels, subjects, strict=True):
        progress.show(f"C of {kernel.name} for {kernel.target.name}")
        try:
            compiled = compilers.compile_all([kernel.name], kernel.target.name, kernel.layout.lanes, using=using)
        except compilers.CompilerError as error:
            raise CannotRunHere(str(error)) from None
        beside.append(ours)
        beside += [subject(kernel, c.binary, c.label, ours.boards or 1) for c in compiled if c.binary is not None]
    return beside


def _print(rows: Sequence[dict[str, Any]]) -> None:
    empty = [row["median"] for row in rows if row["maker"] == EMPTY and row["unit"] == "call" and "median" in row]
    rows = [row for row in rows if row["maker"] != EMPTY]
    several = {key for key in ("lanes", "maker", "speed") if len({row.get(key) for row in rows}) > 1}
    keys = ["name", "isa", *(key for key in ("lanes", "maker") if key in several), "mode", "unit"]
    keys += ["median", "p10", *(["speed"] if "speed" in several else []), "acceptance"]
    heads = {"mode": "calls", "unit": "cycles a", "p10": "10th", "acceptance": "clean"}
    shown = [[_shown(key, row.get(key)) for key in keys] for row in rows]
    align = "".join("r" if key in ("lanes", "median", "p10", "speed", "acceptance") else "l" for key in keys)
    head = [heads.get(key, key) for key in keys]
    print_table(head, shown, align)
    boards = {row["boards"] for row in rows} - {0}
    print(f"\n{machine()['processor']}")
    print(METHOD)
    if empty:
        print(f"An empty routine, called the same ways: {min(empty):.2f} to {max(empty):.2f}.")
    if boards:
        print(f"Arrays of {max(boards)} boards, each at a line of the cache, all calls on the same ones.")


def _shown(key: str, value: Any) -> str:
    if value is None:
        return "-"
    if key == "acceptance":
        return f"{value:.0%}"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _complain(timings: Sequence[Timing | Refusal]) -> int:
    """One line on what has no figure; the exit status."""
    refused = [timing for timing in timings if isinstance(timing, Refusal)]
    if refused:
        first = f"{refused[0].measurand.title}: {refused[0].reason}"
        some = f"no figure for {len(refused)} of {len(timings)}, first {first}"
        remedy = "end other programs, or wait longer with --patience SECONDS"
        print(f"setwise bench: {some}: {remedy}", file=sys.stderr)
    return int(bool(refused))
