"""`setwise bench`: kernels timed on this processor, and beside them what compilers make of C."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from setwise.analysis import api
from setwise.analysis.bench.benchmark import machine
from setwise.analysis.bench.trials import EMPTY, METHOD, NoisyMeasurement, Timing
from setwise.analysis.commands.arguments import add_json, add_lanes, add_names, add_only_isa
from setwise.analysis.commands.kernels import add_cpu, add_objective, requested
from setwise.analysis.commands.tables import print_json, print_table
from setwise.analysis.parallel import unrefused
from setwise.analysis.progress import Progress
from setwise.codegen.catalogue import chosen, find
from setwise.codegen.ir.routine import Routine
from setwise.codegen.request import Request
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
    if arguments.variants and (arguments.beside or arguments.variant or arguments.objective != "size"):
        raise ValueError("--variants times all variants: leave --variant, --for and --beside out")
    requests = list(chain.from_iterable(unrefused(lambda asked: _requests(arguments, *asked), _asked(arguments))))
    with Progress() as progress:
        result = api.bench(
            requests,
            arguments.mode.split(",") if arguments.mode else MODES,
            beside=arguments.beside.split(",") if arguments.beside else (),
            boards=arguments.boards,
            patience=arguments.patience,
            named=arguments.variants,
            show=progress.show,
        )
    if arguments.json:
        print_json({"machine": machine(), "method": METHOD, "timings": result.rows, "not run": result.not_run})
    elif any(isinstance(timing, Timing) for timing in result.timings):
        _print(result.rows)
        print(*result.not_run, sep="\n", end="\n" if result.not_run else "")
    return _complain(result.timings)


def _requests(arguments: Namespace, routine: Routine, isa: str, lanes: int | None) -> list[Request]:
    if arguments.variants:
        return Request(routine, isa, arguments.abi, lanes).variants()
    return [requested(arguments, routine, isa, lanes)]


def _asked(arguments: Namespace) -> Iterator[tuple[Routine, str, int | None]]:
    isa, lanes = arguments.isa, arguments.lanes
    if isa is not None:
        target_named(isa)
    if not arguments.names:
        if isa or lanes:
            raise ValueError("--isa and --lanes go with names: what is usually timed has its own")
        yield from ((find(name), usual, shape) for name, usual, shape in USUAL)
        return
    for routine in chosen(arguments.names):
        if isa:
            yield routine, isa, lanes
        else:
            yield from ((routine, own, lanes) for own in routine.isas if lanes in (None, *TARGETS[own].widths))


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


def _complain(timings: Sequence[Timing | NoisyMeasurement]) -> int:
    """One line on what has no figure; the exit status."""
    refused = [timing for timing in timings if isinstance(timing, NoisyMeasurement)]
    if refused:
        first = f"{refused[0].measurand.title}: {refused[0].reason}"
        some = f"no figure for {len(refused)} of {len(timings)}, first {first}"
        remedy = "end other programs, or wait longer with --patience SECONDS"
        print(f"setwise bench: {some}: {remedy}", file=sys.stderr)
    return int(bool(refused))
