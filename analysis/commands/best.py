"""`setwise best`: which kernel to use, by objective, among all instruction sets that a processor has."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from setwise.analysis.code.count import count
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.commands.arguments import add_json, add_names, add_only_isa
from setwise.analysis.commands.code import key_of
from setwise.analysis.commands.errors import CannotRunHere
from setwise.analysis.commands.kernels import OBJECTIVES, add_cpu, had_by, maker, processor_named
from setwise.analysis.commands.progress import Progress
from setwise.analysis.commands.tables import print_columns, print_json
from setwise.analysis.cost.processors import Processor
from setwise.analysis.measure.bench import bench
from setwise.analysis.measure.objective import WAYS, forecast, is_tuned, kernel_of
from setwise.analysis.measure.subjects import subject
from setwise.analysis.measure.trials import Timing
from setwise.analysis.text import counted
from setwise.codegen.catalogue import chosen
from setwise.codegen.describe.routine import Routine
from setwise.codegen.export.banner import command
from setwise.codegen.kernel import Kernel, unrefused
from setwise.codegen.lower import lower
from setwise.codegen.targets import target_named

EXAMPLES = (
    "setwise best kogge-stone.attacks.sout",
    "setwise best sliders.union --cpu zen4 --for latency",
)
_MEASURED = {way: f"measured_{objective}" for objective, way in WAYS.items()}
_NOTE = """\
Cycles a call, or a board of an array, the call and all: latency where each call waits for the one before by that
argument by which it takes longest, throughput where none waits."""


def add_arguments(parser: ArgumentParser) -> None:
    """NAME...; which processor, objective and instruction set; how long to measure, and --json."""
    add_names(parser, needed=True)
    parser.add_argument("--for", dest="objective", metavar="O", help="only this: size, latency or throughput")
    add_cpu(parser)
    add_only_isa(parser)
    parser.add_argument("--abi", default="sysv", metavar="A", help="sysv, win64 or wiki (default: sysv)")
    parser.add_argument(
        "--patience",
        type=float,
        default=5.0,
        metavar="S",
        help="on this processor: seconds to wait for a quiet moment to measure in, five times (5; 0: do not measure)",
    )
    add_json(parser)


def run(arguments: Namespace) -> int:
    """Choose, measure where this is the processor, and print a table."""
    routines = chosen(arguments.names)
    if arguments.isa:
        target_named(arguments.isa)
    objectives = (arguments.objective,) if arguments.objective else OBJECTIVES
    for objective in objectives:
        maker(Namespace(objective=objective, variant=None, cpu=arguments.cpu))  # tells what does not go
    on = processor_named(arguments.cpu)
    measured = arguments.cpu in (None, "native") and arguments.patience > 0
    with Progress() as progress:
        found = list(_found(routines, arguments, objectives, on, progress))
        rows = [row_of(objective, kernel, on) for objective, kernel in found]
        if measured:
            progress.show("measuring")
            for row, figures in zip(rows, _measured([kernel for _, kernel in found], arguments.patience), strict=True):
                row |= figures
    if arguments.json:
        print_json(rows)
    else:
        _print(rows, found, on, measured)
    return 0


def _found(
    routines: Sequence[Routine], arguments: Namespace, objectives: Sequence[str], on: Processor, progress: Progress
) -> Iterator[tuple[str, Kernel]]:
    """The best kernel of each routine for each objective; Refused where there is none of any."""

    def of(routine: Routine) -> list[tuple[str, Kernel]]:
        progress.show(routine.name)
        isas = (arguments.isa,) if arguments.isa else had_by(routine, on, native=arguments.cpu in (None, "native"))
        return best_of(routine, objectives, on, isas, arguments.abi)

    for pairs in unrefused(of, routines):
        yield from pairs


def best_of(
    routine: Routine, objectives: Sequence[str], on: Processor, isas: Sequence[str], abi: str = "sysv"
) -> list[tuple[str, Kernel]]:
    """The best kernel for each objective among all that these instruction sets offer; Refused where there is none."""
    found = []
    for objective in objectives:
        if objective == "size":
            usual = unrefused(lambda isa: lower(routine, isa, abi), isas)
            kernel = min(usual, key=lambda kernel: len(kernel.code.instructions))
        else:
            kernel = kernel_of(objective, on, routine, isas, abi)
        found.append((objective, kernel))
    return found


def row_of(objective: str, kernel: Kernel, on: Processor) -> dict[str, Any]:
    """A line of the table, without what was measured."""
    figures = forecast(kernel, on)
    return {
        "for": objective,
        **key_of(kernel),
        "variant": kernel.variant,
        "cpu": on.name,
        "tuned": is_tuned(kernel, objective, on),
        "instructions": count(binary_of(kernel)).instructions,
        "latency": figures.latency,
        "throughput": figures.throughput,
    }


def _measured(kernels: Sequence[Kernel], patience: float) -> list[dict[str, float | None]]:
    """What each takes here, in the ways that are forecast; None where there is no figure."""
    subjects = [subject(kernel) for kernel in kernels]
    try:
        timings = iter(bench(subjects, tuple(_MEASURED), patience))
    except BrokenProcessPool:
        raise CannotRunHere("a routine ended the process that timed it: try them one by one") from None
    rows: list[dict[str, float | None]] = []
    for one in subjects:
        row: dict[str, float | None] = dict.fromkeys(_MEASURED.values())
        for mode in one.modes:
            if mode in _MEASURED:
                timing = next(timings)
                row[_MEASURED[mode]] = timing.median if isinstance(timing, Timing) else None
        rows.append(row)
    return rows


def _print(rows: Sequence[dict[str, Any]], found: Sequence[tuple[str, Kernel]], on: Processor, measured: bool) -> None:
    keys = ["name", "for", "isa", "lanes", "variant", "instructions", "latency", "throughput"]
    if len({row["name"] for row in rows}) == 1:
        keys.remove("name")
    if all(row["lanes"] == 1 for row in rows):
        keys.remove("lanes")
    if measured:
        keys += ["measured_latency", "measured_throughput"]
    print_columns(keys, [{key: _shown(row[key]) for key in keys} for row in rows])
    print(f"\nForecast for {on.title}{'; measured here' if measured else ''}. {_NOTE}")
    if by_timing := dict.fromkeys(row["for"] for row in rows if row["tuned"]):
        print(f"What is named for {' and '.join(by_timing)} was found by timing, not by forecast.")
    if any(row.get(f"measured_{way}", 0) is None and row[way] is not None for row in rows for way in OBJECTIVES[1:]):
        print(
            "- where no moment was quiet enough to measure: end other programs, or wait longer with --patience SECONDS."
        )
    by_code = {kernel.code: command(kernel, "nasm") for _, kernel in found}
    print(f"\n{counted(len(by_code), 'kernel')}, printed by:")
    print(*(f"  {line}" for line in by_code.values()), sep="\n")


def _shown(value: Any) -> Any:
    if value in (None, ""):
        return "-"
    return f"{value:.1f}" if isinstance(value, float) else value
