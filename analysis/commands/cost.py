"""`setwise cost`: lower bounds on each processor, the critical path marked in the listing."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from setwise.analysis.code.decode import Decoded
from setwise.analysis.commands.arguments import add_call, add_json, add_names, add_object, add_side, add_target
from setwise.analysis.commands.code import NamedCode, of_code
from setwise.analysis.commands.kernels import add_objective, processor_named
from setwise.analysis.commands.tables import print_columns, print_json
from setwise.analysis.cost.bounds import Cost
from setwise.analysis.cost.part import Part, marked, part_of
from setwise.analysis.cost.processors import PROCESSORS, Processor
from setwise.analysis.run.caller import Caller
from setwise.analysis.run.positions import words_of
from setwise.analysis.spec.contracts import task_of
from setwise.analysis.text import counted
from setwise.codegen.targets.table import Refused

EXAMPLES = (
    "setwise cost kogge-stone.attacks.sout",
    "setwise cost 'push.attacks.*' --isa avx2 --cpu zen4",
    "setwise cost exploding.rook --executed e4 0",
    "setwise cost --object fills.o --symbol soutAttacks",
)
_NOTE = """\
Lower bounds in core cycles: latency from the arguments to the result, bound for calls that wait for nothing. Loads hit
the nearest cache, branches are predicted; the call itself and the final ret are left out."""

_LONGEST = """\
Code that branches is taken to go its longest path, the one of most instructions, which arguments need not go;
--executed ARG... takes that of a call."""

Call = Callable[[NamedCode], tuple[Decoded, ...]]
"""What a call executes of some code."""


@dataclass(frozen=True, slots=True)
class CostedCode:
    """What some code is called, what of it is costed, what that costs on each processor, and the rows of its table."""

    key: dict[str, Any]
    part: Part
    costs: Sequence[tuple[Processor, Cost]]
    rows: Sequence[dict[str, Any]]


def add_arguments(parser: ArgumentParser) -> None:
    """NAME... and their target, or an object; which processors, which call, and --json."""
    add_names(parser)
    parser.add_argument(
        "--cpu",
        metavar="C",
        help=f"only this: {', '.join(on.name for on in PROCESSORS)} or native (default: all, but --for asks for this "
        "one)",
    )
    add_call(parser)
    add_side(parser)
    add_object(parser)
    add_target(parser)
    add_objective(parser)
    add_json(parser)


def run(arguments: Namespace) -> int:
    """Bounds of kernels, or of a function of an ELF file."""
    _print(of_code(arguments, partial(costed, cpu=arguments.cpu, call=_call(arguments))), arguments.json)
    return 0


def costed(code: NamedCode, cpu: str | None, call: Call | None = None) -> CostedCode:
    """What some code, or a call of it, costs on the processor of that name, or on all that have its instructions."""
    part = Part(call(code), "executed") if call is not None else _part(code)
    processors = [processor_named(cpu)] if cpu else [on for on in PROCESSORS if not on.lacking(part.stream)]
    costs = [(on, part.cost(on)) for on in processors]
    return CostedCode(code.key, part, costs, [_row(code.key, part, *cost) for cost in costs])


def _call(arguments: Namespace) -> Call | None:
    """What the call that was asked for executes, as a function of the code; None where none was asked for."""
    words, fen, side = arguments.arguments, arguments.fen, arguments.side
    if words is None and fen is None:
        if side is not None:
            raise ValueError("--side goes with --fen")
        return None

    def executed(code: NamedCode) -> tuple[Decoded, ...]:
        if code.kernel is None:
            raise ValueError("--executed and --fen go with a NAME, not with --object")
        given = words_of(code.kernel.routine, words or (), fen, side)
        return Caller(code.binary, task_of(code.kernel)).trace(given).instructions

    return executed


def _part(code: NamedCode) -> Part:
    try:
        return part_of(code.binary)
    except ValueError as error:
        if code.kernel is None:
            raise
        raise Refused(f"{code.kernel.name}: {error}") from None


def _row(key: dict[str, Any], part: Part, on: Processor, bounds: Cost) -> dict[str, Any]:
    return {**key, "part": part.kind, "cpu": on.name, **bounds.as_dict()}


def _print(codes: Sequence[CostedCode], as_json: bool) -> None:
    """The table; of one code alone its title above, and below its listing with the critical path."""
    rows = [row for code in codes for row in code.rows]
    if as_json:
        print_json(rows)
        return
    keys = ["name", "isa", "lanes", "part", "cpu", "latency", "bound", "limit", "pressure", "ports", "issue", "depth"]
    keys += ["bytes", "registers"]
    single = codes[0] if len(codes) == 1 else None
    hidden = {"name", "isa", "lanes", "part"} if single else set()
    if all((row["lanes"] or 1) == 1 for row in rows):
        hidden.add("lanes")
    if single:
        print(_title(single.key, single.part) + "\n")
    print_columns([key for key in keys if key not in hidden and any(key in row for row in rows)], rows)
    if single and not single.part.is_round:
        print("\n" + marked(single.part.stream, single.costs))
    print("\n" + _NOTE)
    if any(code.part.kind == "longest" for code in codes):
        print(_LONGEST)


def _title(key: dict[str, Any], part: Part) -> str:
    name, isa, lanes, abi = key.values()
    words = [name] if isa is None else [name, isa, *([f"{lanes} lanes"] if lanes > 1 else []), abi]
    number = counted(len(part.stream) - (part.stream[-1].flow == "return"), "instruction")
    meant = {
        "call": (),
        "round": ("one round of its loop",),
        "longest": (f"its longest path of {number}",),
        "executed": (f"what that call executes, {number}",),
    }
    return ", ".join([*words, *meant[part.kind]])
