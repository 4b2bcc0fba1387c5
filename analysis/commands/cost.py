"""`setwise cost`: lower bounds on each processor, the critical path marked in the listing."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from setwise.analysis.code.compare import disassembly
from setwise.analysis.code.decode import Decoded, Reg, decode
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.commands.errors import NotInstalled
from setwise.analysis.commands.names import chosen
from setwise.analysis.commands.tables import print_json, print_table
from setwise.analysis.cost.bounds import Cost, cost, loops, round_cost
from setwise.analysis.cost.mca import installed, opinion
from setwise.analysis.cost.processors import PROCESSORS, Processor, UnknownCost, processor
from setwise.codegen.describe.routine import Routine
from setwise.codegen.lower import Kernel, Refused, lower

_NOTE = """\
Lower bounds in core cycles: latency from the arguments to the result, bound for calls that wait for nothing. Loads hit
the nearest cache, branches are predicted; the call itself and the final ret are left out."""
_PATTERN = "*?["


@dataclass(frozen=True, slots=True)
class Subject:
    """Code to cost: what it is called, its instructions, and what of it they are."""

    head: dict[str, Any]
    stream: tuple[Decoded, ...]
    part: str


def cost_command(arguments: Namespace) -> int:
    """Bounds of kernels, or of a function of an ELF file."""
    if arguments.mca and installed() is None:
        raise NotInstalled("llvm-mca is not installed; on Debian: apt install llvm-19")
    processors = [processor(arguments.cpu)] if arguments.cpu else [*PROCESSORS]
    subjects = [_of_object(arguments)] if arguments.object else _of_names(arguments)
    rows: list[dict[str, Any]] = []
    costs: list[tuple[Processor, Cost]] = []
    for subject in subjects:
        for one in processors:
            try:
                found = bounds(subject.stream, subject.part, one)
            except UnknownCost:
                if arguments.cpu:
                    raise
                if one.lacks and any(
                    feature.startswith(one.lacks) for each in subject.stream for feature in each.features
                ):
                    continue
                raise
            costs.append((one, found))
            rows.append({**subject.head, "part": subject.part, "cpu": one.name, **found.as_dict()})
            if arguments.mca:
                said = opinion(subject.stream, one, found, subject.part != "call")
                rows[-1] |= {"mca": said.cycles, "mca_latency": said.latency, "why": said.why}
    if arguments.json:
        print_json(rows)
        return 0
    keys = ["name", "isa", "lanes", "part", "cpu", "latency", "bound", "limit", "pressure", "ports", "issue", "depth"]
    keys += ["bytes", "registers"] + (["mca", "mca_latency"] if arguments.mca else [])
    single = len(subjects) == 1
    hidden = {"name", "isa", "lanes", "part"} if single else set()
    shown = [
        key for key in keys if key not in hidden and not (key == "lanes" and all((row[key] or 1) == 1 for row in rows))
    ]
    if single:
        print(_title(subjects[0]) + "\n")
    print_table([key.replace("_", " ") for key in shown], [[row[key] for key in shown] for row in rows])
    if arguments.mca:
        for why in dict.fromkeys(f"{row['cpu']}: llvm-mca {row['why']}" for row in rows if row["why"]):
            print(why)
    if single and subjects[0].part == "call":
        print("\n" + marked(subjects[0].stream, costs))
    print("\n" + _NOTE)
    return 0


def bounds(stream: Sequence[Decoded], part: str, on: Processor) -> Cost:
    """The cost of a call, or of a round of a loop."""
    return cost(stream, on) if part == "call" else round_cost(stream, on)


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


def _of_names(arguments: Namespace) -> list[Subject]:
    if not arguments.names or arguments.symbol:
        raise ValueError("name routines, or --object FILE --symbol SYM")
    refused: Exception | None = None
    found = []
    for routine in chosen(arguments.names):
        try:
            found.append(_of_kernel(_kernel(routine, arguments)))
        except (Refused, ValueError) as error:
            if not any(sign in name for name in arguments.names for sign in _PATTERN):
                raise
            refused = error  # a pattern means those that there are
    if refused and not found:
        raise refused
    return found


def _kernel(routine: Routine, arguments: Namespace) -> Kernel:
    return lower(routine, arguments.isa, arguments.abi, arguments.lanes)


def _of_kernel(kernel: Kernel) -> Subject:
    head = {
        "name": kernel.name,
        "isa": kernel.target.name,
        "lanes": kernel.layout.lanes,
        "abi": kernel.convention.name,
    }
    try:
        stream, part = part_of(decode(binary_of(kernel).text))
    except ValueError as error:
        raise ValueError(f"{kernel.name}: {error}") from None
    return Subject(head, stream, part)


def _of_object(arguments: Namespace) -> Subject:
    from setwise.analysis.code.objects import load

    if arguments.names or not arguments.symbol:
        raise ValueError("--object FILE and --symbol SYM go together, and without names")
    stream, part = part_of(decode(load(arguments.object, arguments.symbol).text))
    return Subject({"name": arguments.symbol, "isa": None, "lanes": None, "abi": None}, stream, part)


def _title(subject: Subject) -> str:
    head = subject.head
    if head["isa"] is None:
        named = [head["name"]]
    else:
        named = [head["name"], head["isa"], *([f"{head['lanes']} lanes"] if head["lanes"] > 1 else []), head["abi"]]
    if subject.part == "round":
        named.append("one round of its loop")
    return ", ".join(named)
