"""`setwise best`: choose the best kernel for each objective among all instruction sets of a processor."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any

from setwise.analysis import api
from setwise.analysis.bench.choice import OBJECTIVES, figures
from setwise.analysis.bench.here import processor_named
from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.count import count
from setwise.analysis.commands.arguments import add
from setwise.analysis.commands.tables import print_columns, print_json
from setwise.analysis.cost.processors import Processor
from setwise.analysis.progress import Progress
from setwise.analysis.text import counted
from setwise.codegen.catalogue import chosen
from setwise.codegen.export.banner import command
from setwise.codegen.request import Request

EXAMPLES = ("setwise best kogge-stone.attacks.sout", "setwise best sliders.union --cpu zen4 --for latency")
_NOTE = """\
Lower bounds as by `setwise cost`; for a loop, of one iteration. Timings listed in analysis/bench/timed.json take
precedence over bounds. `setwise bench NAME --variants` times all variants on this processor."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `setwise best`."""
    add(parser, "names", nargs="+")
    add(parser, "--for", default=None, help="only this: size, latency or throughput")
    cpus = (
        "the processor: skylake-server, ice-lake, golden-cove, zen3, zen4, zen5 (default: native, with its sets only)"
    )
    add(parser, "--cpu", help=cpus)
    add(parser, "only --isa", "--abi", "--json")


def run(arguments: Namespace) -> int:
    """Choose kernels, and print them as a table with the commands that print their code, or as JSON."""
    objectives = (arguments.objective,) if arguments.objective else OBJECTIVES
    cpu = arguments.cpu or "native"
    with Progress() as progress:
        found = api.best(chosen(arguments.names), objectives, cpu, arguments.isa, arguments.abi, progress.show)
    on = processor_named(cpu)
    rows = [_row(objective, request, on) for objective, request in found]
    if arguments.json:
        print_json(rows)
    else:
        _print(rows, found, on)
    return 0


def _row(objective: str, request: Request, on: Processor) -> dict[str, Any]:
    latency, bound = figures(request.kernel, on)
    return {
        "for": objective,
        **api.key_of(request),
        "variant": request.variant,
        "cpu": on.name,
        "instructions": count(binary_of(request.kernel)).instructions,
        "latency": latency,
        "bound": bound,
    }


def _print(rows: Sequence[dict[str, Any]], found: Sequence[tuple[str, Request]], on: Processor) -> None:
    print_columns(["name", "for", "isa", "lanes", "variant", "instructions", "latency", "bound"], rows)
    print(f"\nFor {on.title}. {_NOTE}")
    by_code = {request.kernel.code: command(request.kernel, "nasm") for _, request in found}
    print(f"\n{counted(len(by_code), 'kernel')}, printed by:")
    print(*(f"  {line}" for line in by_code.values()), sep="\n")
