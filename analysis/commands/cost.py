"""`setwise cost`: lower bounds on each processor, the critical path marked in the listing."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from setwise.analysis.code.compare import disassembly
from setwise.analysis.code.decode import Decoded, Reg, decode
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.code.objects import load
from setwise.analysis.commands.arguments import add_json, add_names, add_object, add_target, object_given
from setwise.analysis.commands.errors import NotInstalled
from setwise.analysis.commands.names import key_of, of_kernels
from setwise.analysis.commands.tables import print_columns, print_json
from setwise.analysis.cost.bounds import Cost, cost, loops, round_cost
from setwise.analysis.cost.mca import installed, opinion
from setwise.analysis.cost.processors import PROCESSORS, Processor, processor
from setwise.codegen.kernel import Kernel
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
class CostInput:
    """Code to cost: what it is called, its instructions, and what of it they are."""

    key: dict[str, Any]
    stream: tuple[Decoded, ...]
    part: str

    def on(self, processor: Processor) -> Cost:
        """The cost of a call, or of a round of a loop."""
        return cost(self.stream, processor) if self.part == "call" else round_cost(self.stream, processor)


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
    processors = [processor(arguments.cpu)] if arguments.cpu else [*PROCESSORS]
    if object_given(arguments):
        inputs = [_of_object(arguments.object, arguments.symbol)]
    elif arguments.names:
        inputs = of_kernels(arguments.names, arguments.isa, arguments.abi, arguments.lanes, _of_kernel)
    else:
        raise ValueError("name routines, or --object FILE --symbol SYM")
    asked = ((code, on) for code in inputs for on in processors if arguments.cpu or not on.lacking(code.stream))
    costs = [(code, on, code.on(on)) for code, on in asked]
    rows = [_row(code, on, bounds, arguments.mca) for code, on, bounds in costs]
    if arguments.json:
        print_json(rows)
    else:
        _print(inputs, rows, [(on, bounds) for _, on, bounds in costs])
    return 0


def _of_kernel(kernel: Kernel) -> CostInput:
    try:
        return CostInput(key_of(kernel), *part_of(decode(binary_of(kernel).text)))
    except ValueError as error:
        raise Refused(f"{kernel.name}: {error}") from None


def _of_object(path: str, symbol: str) -> CostInput:
    key = {"name": symbol, "isa": None, "lanes": None, "abi": None}
    return CostInput(key, *part_of(decode(load(path, symbol).text)))


def _row(code: CostInput, on: Processor, bounds: Cost, with_mca: bool) -> dict[str, Any]:
    row = {**code.key, "part": code.part, "cpu": on.name, **bounds.as_dict()}
    if with_mca:
        estimate = opinion(code.stream, on, bounds, code.part != "call")
        row |= {"mca": estimate.cycles, "mca_latency": estimate.latency, "why": estimate.why}
    return row


def _print(
    inputs: Sequence[CostInput], rows: Sequence[dict[str, Any]], costs: Sequence[tuple[Processor, Cost]]
) -> None:
    """The table; of one code alone its title above, and below its listing with the critical path."""
    keys = ["name", "isa", "lanes", "part", "cpu", "latency", "bound", "limit", "pressure", "ports", "issue", "depth"]
    keys += ["bytes", "registers", "mca", "mca_latency"]
    single = len(inputs) == 1
    hidden = {"name", "isa", "lanes", "part"} if single else set()
    if all((row["lanes"] or 1) == 1 for row in rows):
        hidden.add("lanes")
    if single:
        print(_title(inputs[0]) + "\n")
    print_columns([key for key in keys if key not in hidden and any(key in row for row in rows)], rows)
    for why in dict.fromkeys(f"{row['cpu']}: llvm-mca {row['why']}" for row in rows if row.get("why")):
        print(why)
    if single and inputs[0].part == "call":
        print("\n" + marked(inputs[0].stream, costs))
    print("\n" + _NOTE)


def marked(stream: Sequence[Decoded], costs: Sequence[tuple[Processor, Cost]]) -> str:
    """Before each instruction the cycle at which its result is ready, * where it is on the critical path."""
    lines = [line for line in disassembly(stream) if not line.startswith(".")]
    widths = [max(len(on.name), 5) for on, _ in costs]
    head = "  ".join(on.name.rjust(width) for (on, _), width in zip(costs, widths, strict=True))
    text = [f"{head}  result ready in cycle, * on the critical path"]
    for at, line in enumerate(lines):
        cells = []
        for (_, found), width in zip(costs, widths, strict=True):
            known = at < len(found.steps)
            star = "*" if at in found.critical else " "
            cells.append((f"{found.steps[at].ready:g}{star}" if known else "").rjust(width))
        text.append("  ".join(cells) + "  " + line)
    return "\n".join(text)


def part_of(decoded: Sequence[Decoded]) -> tuple[tuple[Decoded, ...], str]:
    """What of some code is costed: all of it, or a round of a loop, the longest of those with the widest registers.

    ValueError for code that jumps without a loop: which instructions are executed, the arguments say.
    """
    found = loops(decoded)
    if found:
        return max(found, key=lambda body: (_width(body), len(body))), "round"
    if any(one.flow in ("branch", "indirect", "jump") for one in decoded):
        raise ValueError("it jumps by its arguments: only straight code, and loops by the round, have a bound")
    return tuple(decoded), "call"


def _width(stream: Sequence[Decoded]) -> int:
    return max((operand.bits for one in stream for operand in one.operands if isinstance(operand, Reg)), default=0)


def _title(code: CostInput) -> str:
    name, isa, lanes, abi = code.key.values()
    words = [name] if isa is None else [name, isa, *([f"{lanes} lanes"] if lanes > 1 else []), abi]
    return ", ".join([*words, *(["one round of its loop"] if code.part == "round" else [])])
