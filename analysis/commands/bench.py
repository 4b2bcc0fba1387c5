"""`setwise bench`: time kernels, with --beside also compilers' code for the same in C, on this processor."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from itertools import chain
from typing import Any

from setwise.analysis import api
from setwise.analysis.bench.bench import machine
from setwise.analysis.bench.trials import EMPTY, METHOD, NoisyMeasurement, Timing
from setwise.analysis.commands.arguments import add
from setwise.analysis.commands.kernels import requested
from setwise.analysis.commands.tables import print_json, print_table
from setwise.analysis.parallel import unrefused
from setwise.analysis.progress import Progress
from setwise.codegen.catalogue import chosen
from setwise.codegen.ir.routine import Routine
from setwise.codegen.request import Request
from setwise.codegen.run.timer import MODES

EXAMPLES = (
    "setwise bench sliders.union --isa avx2 --beside gcc,clang",
    "setwise bench sliders.union --isa avx2 --variants",
    "setwise bench 'kogge-stone.attacks.*' --isa x86-64 --mode chained --json",
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `setwise bench`."""
    add(parser, "names", nargs="+")
    add(parser, "only --isa", "--lanes", "--for", "--variant", "--cpu", "--abi")
    parser.add_argument(
        "--mode",
        metavar="M,...",
        help="the kinds of calls: chained (each result is the next argument), independent, mixed (new arguments each "
        "time, if they matter); default: all",
    )
    parser.add_argument("--beside", metavar="C,...", help="also time the same in C by these compilers: gcc,clang")
    parser.add_argument("--variants", action="store_true", help="time all variants, not only the best")
    parser.add_argument("--boards", type=int, default=512, metavar="N", help="the length of arrays (default: 512)")
    shown = "seconds to wait for an idle processor, up to five times (default: 30)"
    add(parser, "--patience", default=30.0, help=shown)
    add(parser, "--json")


def run(arguments: Namespace) -> int:
    """Time kernels, and print JSON or a table of any results. Return 1 if a measurement was too noisy for a result."""
    if arguments.variants and (arguments.beside or arguments.variant or arguments.objective):
        raise ValueError("--variants times all variants: omit --variant, --for and --beside")
    pairs = api.with_sets(chosen(arguments.names), arguments.isa, arguments.lanes)
    requests = list(chain.from_iterable(unrefused(lambda pair: _requests(arguments, *pair), pairs)))
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


def _requests(arguments: Namespace, routine: Routine, isa: str) -> list[Request]:
    if arguments.variants:
        return Request(routine, isa, arguments.abi, arguments.lanes).variants()
    return [requested(arguments, routine, isa)]


def _print(rows: Sequence[dict[str, Any]]) -> None:
    empty = [row["median"] for row in rows if row["maker"] == EMPTY and row["unit"] == "call" and "median" in row]
    rows = [row for row in rows if row["maker"] != EMPTY]
    several = {key for key in ("lanes", "maker", "speed") if len({row.get(key) for row in rows}) > 1}
    keys = ["name", "isa", *(key for key in ("lanes", "maker") if key in several), "mode", "unit"]
    keys += ["median", "p10", *(["speed"] if "speed" in several else []), "acceptance"]
    heads = {"mode": "calls", "unit": "cycles a", "p10": "10th", "acceptance": "clean"}
    shown = [[_shown(key, row.get(key)) for key in keys] for row in rows]
    print_table(shown, [heads.get(key, key) for key in keys])
    boards = {row["boards"] for row in rows} - {0}
    print(f"\n{machine()['processor']}")
    print(METHOD)
    if empty:
        print(f"An empty routine, called in the same ways: {min(empty):.2f} to {max(empty):.2f}.")
    if boards:
        print(f"Arrays of {max(boards)} boards, aligned to cache lines; all calls use the same arrays.")


def _shown(key: str, value: Any) -> str:
    if value is None:
        return "-"
    if key == "acceptance":
        return f"{value:.0%}"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _complain(timings: Sequence[Timing | NoisyMeasurement]) -> int:
    """Print one line on standard error if measurements were too noisy for a result. Return 1 then, else 0."""
    refused = [timing for timing in timings if isinstance(timing, NoisyMeasurement)]
    if refused:
        first = f"{refused[0].measurand.title}: {refused[0].reason}"
        some = f"no result for {len(refused)} of {len(timings)}, first {first}"
        remedy = "stop other programs, or wait longer with --patience SECONDS"
        print(f"setwise bench: {some}: {remedy}", file=sys.stderr)
    return int(bool(refused))
