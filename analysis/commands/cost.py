"""`setwise cost`: lower bounds on each processor, the critical path marked in the listing."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from setwise.analysis.code.decode import decode
from setwise.analysis.commands.arguments import add_json, add_names, add_object, add_target
from setwise.analysis.commands.code import NamedCode, of_code
from setwise.analysis.commands.errors import NotInstalled
from setwise.analysis.commands.tables import print_columns, print_json
from setwise.analysis.cost.bounds import Cost
from setwise.analysis.cost.mca import installed, opinion
from setwise.analysis.cost.part import Part, marked, part_of
from setwise.analysis.cost.processors import PROCESSORS, Processor, processor
from setwise.codegen.targets.table import Refused

EXAMPLES = (
    "setwise cost kogge-stone.attacks.sout",
    "setwise cost 'push.attacks.*' --isa avx2 --cpu zen4",
    "setwise cost --object fills.o --symbol soutAttacks",
)
_NOTE = """\
Lower bounds in core cycles: latency from the arguments to the result, bound for calls that wait for nothing. Loads hit
the nearest cache, branches are predicted; the call itself and the final ret are left out."""


@dataclass(frozen=True, slots=True)
class CostedCode:
    """What some code is called, what of it is costed, what that costs on each processor, and the rows of its table."""

    key: dict[str, Any]
    part: Part
    costs: Sequence[tuple[Processor, Cost]]
    rows: Sequence[dict[str, Any]]


def add_arguments(parser: ArgumentParser) -> None:
    """NAME... and their target, or an object; which processors, and --json."""
    add_names(parser)
    parser.add_argument("--cpu", metavar="C", help="only this: skylake-server, ice-lake, zen3 or zen4 (default: all)")
    parser.add_argument("--mca", action="store_true", help="llvm-mca's figures beside, and why they differ")
    add_object(parser)
    add_target(parser)
    add_json(parser)


def run(arguments: Namespace) -> int:
    """Bounds of kernels, or of a function of an ELF file."""
    if arguments.mca and installed() is None:
        raise NotInstalled("llvm-mca is not installed; on Debian: apt install llvm-19")
    _print(of_code(arguments, partial(costed, cpu=arguments.cpu, with_mca=arguments.mca)), arguments.json)
    return 0


def costed(code: NamedCode, cpu: str | None, with_mca: bool = False) -> CostedCode:
    """What some code costs on the processor of that name, or on all that have its instructions."""
    try:
        part = part_of(decode(code.binary.text))
    except ValueError as error:
        if code.kernel is None:
            raise
        raise Refused(f"{code.kernel.name}: {error}") from None
    processors = [processor(cpu)] if cpu else [on for on in PROCESSORS if not on.lacking(part.stream)]
    costs = [(on, part.cost(on)) for on in processors]
    return CostedCode(code.key, part, costs, [_row(code.key, part, *cost, with_mca) for cost in costs])


def _row(key: dict[str, Any], part: Part, on: Processor, bounds: Cost, with_mca: bool) -> dict[str, Any]:
    row = {**key, "part": "round" if part.is_round else "call", "cpu": on.name, **bounds.as_dict()}
    if with_mca:
        estimate = opinion(part.stream, on, bounds, part.is_round)
        row |= {"mca": estimate.cycles, "mca_latency": estimate.latency, "why": estimate.why}
    return row


def _print(codes: Sequence[CostedCode], as_json: bool) -> None:
    """The table; of one code alone its title above, and below its listing with the critical path."""
    rows = [row for code in codes for row in code.rows]
    if as_json:
        print_json(rows)
        return
    keys = ["name", "isa", "lanes", "part", "cpu", "latency", "bound", "limit", "pressure", "ports", "issue", "depth"]
    keys += ["bytes", "registers", "mca", "mca_latency"]
    single = codes[0] if len(codes) == 1 else None
    hidden = {"name", "isa", "lanes", "part"} if single else set()
    if all((row["lanes"] or 1) == 1 for row in rows):
        hidden.add("lanes")
    if single:
        print(_title(single.key, single.part) + "\n")
    print_columns([key for key in keys if key not in hidden and any(key in row for row in rows)], rows)
    for why in dict.fromkeys(f"{row['cpu']}: llvm-mca {row['why']}" for row in rows if row.get("why")):
        print(why)
    if single and not single.part.is_round:
        print("\n" + marked(single.part.stream, single.costs))
    print("\n" + _NOTE)


def _title(key: dict[str, Any], part: Part) -> str:
    name, isa, lanes, abi = key.values()
    words = [name] if isa is None else [name, isa, *([f"{lanes} lanes"] if lanes > 1 else []), abi]
    return ", ".join([*words, *(["one round of its loop"] if part.is_round else [])])
