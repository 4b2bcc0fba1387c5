"""`setwise cost`: print lower bounds on cycles by processor, and the critical path of single code without a loop."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any

from setwise.analysis import api
from setwise.analysis.commands.arguments import add
from setwise.analysis.commands.kernels import call_given, codes
from setwise.analysis.commands.tables import print_columns, print_json
from setwise.analysis.cost.part import CostedPart, marked
from setwise.analysis.cost.processors import PROCESSORS
from setwise.analysis.text import counted
from setwise.codegen.export.names import GATHERS, SLOW_PEXT

EXAMPLES = (
    "setwise cost kogge-stone.attacks.sout",
    "setwise cost 'push.attacks.*' --isa avx2 --cpu zen4",
    "setwise cost exploding.rook --executed e4 0",
    "setwise cost --object fills.o --symbol soutAttacks",
)
_NOTE = """\
Lower bounds in core cycles: latency from the arguments to the result, bound for independent calls. Loads hit the
first-level cache, branches are predicted; the call itself and the final ret are not included."""

_LONGEST = """\
Branching code is costed along its longest path, the one with the most instructions, which arguments need not take;
--executed ARG... takes the path of a call."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `setwise cost`."""
    add(parser, "names")
    add(
        parser, "--cpu", help=f"only this processor: {', '.join(on.name for on in PROCESSORS)} or native (default: all)"
    )
    add(parser, "--executed", "executed --fen")
    add(parser, "--side", "--object", "--symbol", "--isa", "--lanes", "--abi", "--for", "--variant", "--json")


def run(arguments: Namespace) -> int:
    """Bound the cycles of kernels, or of a function of an ELF file, and print them."""
    words = call_given(arguments)
    if words and arguments.object:
        raise ValueError("--executed and --fen go with a NAME, not with --object")
    if arguments.side is not None and arguments.fen is None:
        raise ValueError("--side goes with --fen")
    _print(api.costs(codes(arguments), arguments.cpu, words), arguments.json)
    return 0


def _print(codes: Sequence[api.CostedCode], as_json: bool) -> None:
    """Print JSON, or a table: for a single code with a title and, unless it is a loop, the marked listing."""
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
    if single and single.part.kind != "round":
        print("\n" + marked(single.part.stream, single.costs))
    print("\n" + _NOTE)
    if any(code.part.kind == "longest" for code in codes):
        print(_LONGEST)
    if any(instruction.mnemonic in GATHERS for code in codes for instruction in code.part.stream):
        print(f"Slow on {SLOW_PEXT}.")


def _title(key: dict[str, Any], part: CostedPart) -> str:
    name, isa, lanes, abi = key.values()
    words = [name] if isa is None else [name, isa, *([f"{lanes} lanes"] if lanes > 1 else []), abi]
    number = counted(len(part.stream) - (part.stream[-1].flow == "return"), "instruction")
    suffixes = {
        "call": (),
        "round": ("one iteration of its loop",),
        "longest": (f"its longest path of {number}",),
        "executed": (f"the {number} that the call executes",),
    }
    return ", ".join([*words, *suffixes[part.kind]])
