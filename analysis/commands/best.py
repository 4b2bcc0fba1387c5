"""`setwise best`: which kernel to use, by objective, among all instruction sets that a processor has."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from typing import Any

from setwise.analysis.code.count import count
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.commands.arguments import add_json, add_names, add_only_isa
from setwise.analysis.commands.code import key_of
from setwise.analysis.commands.kernels import add_cpu, check_objective, had_by, processor_named
from setwise.analysis.commands.tables import print_columns, print_json
from setwise.analysis.cost.processors import Processor
from setwise.analysis.measure.choice import OBJECTIVES, figures, kernel_for
from setwise.analysis.text import counted
from setwise.codegen.catalogue import chosen
from setwise.codegen.describe.routine import Routine
from setwise.codegen.export.banner import command
from setwise.codegen.kernel import Kernel, unrefused
from setwise.codegen.targets import target_named

EXAMPLES = (
    "setwise best kogge-stone.attacks.sout",
    "setwise best sliders.union --cpu zen4 --for latency",
)
_NOTE = """\
Lower bounds as `setwise cost` has them, of a round where code has a loop. Variants that are listed with a time in
analysis/measure/choice.py are taken before any bound. `setwise bench NAME --variants` times all of them here."""


def add_arguments(parser: ArgumentParser) -> None:
    """NAME...; which processor, objective and instruction set; and --json."""
    add_names(parser, needed=True)
    parser.add_argument("--for", dest="objective", metavar="O", help="only this: size, latency or throughput")
    add_cpu(parser)
    add_only_isa(parser)
    parser.add_argument("--abi", default="sysv", metavar="A", help="sysv, win64 or wiki (default: sysv)")
    add_json(parser)


def run(arguments: Namespace) -> int:
    """Choose, and print a table."""
    routines = chosen(arguments.names)
    if arguments.isa:
        target_named(arguments.isa)
    objectives = (arguments.objective,) if arguments.objective else OBJECTIVES
    for objective in objectives:
        check_objective(objective)
    on = processor_named(arguments.cpu or "native")
    found = list(_found(routines, arguments, objectives, on))
    rows = [_row(objective, kernel, on) for objective, kernel in found]
    if arguments.json:
        print_json(rows)
    else:
        _print(rows, found, on)
    return 0


def _found(
    routines: Sequence[Routine], arguments: Namespace, objectives: Sequence[str], on: Processor
) -> Iterator[tuple[str, Kernel]]:
    """The best kernel for each objective; what is refused is passed over, and if that is all, raised."""

    def of(routine: Routine) -> list[tuple[str, Kernel]]:
        native = arguments.cpu in (None, "native")
        isas = (arguments.isa,) if arguments.isa else had_by(routine, on, native=native)
        return [(each, kernel_for(each, on, routine, isas, arguments.abi, None)) for each in objectives]

    for pairs in unrefused(of, routines):
        yield from pairs


def _row(objective: str, kernel: Kernel, on: Processor) -> dict[str, Any]:
    latency, bound = figures(kernel, on)
    return {
        "for": objective,
        **key_of(kernel),
        "variant": kernel.variant,
        "cpu": on.name,
        "instructions": count(binary_of(kernel)).instructions,
        "latency": latency,
        "bound": bound,
    }


def _print(rows: Sequence[dict[str, Any]], found: Sequence[tuple[str, Kernel]], on: Processor) -> None:
    keys = ["name", "for", "isa", "lanes", "variant", "instructions", "latency", "bound"]
    if len({row["name"] for row in rows}) == 1:
        keys.remove("name")
    if all(row["lanes"] == 1 for row in rows):
        keys.remove("lanes")
    print_columns(keys, [{key: "-" if row[key] == "" else row[key] for key in keys} for row in rows])
    print(f"\nFor {on.title}. {_NOTE}")
    by_code = {kernel.code: command(kernel, "nasm") for _, kernel in found}
    print(f"\n{counted(len(by_code), 'kernel')}, printed by:")
    print(*(f"  {line}" for line in by_code.values()), sep="\n")
