"""The part of a routine that is costed, and its listing with the cycle at which each result is ready."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from setwise.analysis.code.compare import disassembly
from setwise.analysis.code.decode import Binary, Decoded, Reg, decode
from setwise.analysis.cost.bounds import Cost, cost, loops, round_cost
from setwise.analysis.cost.path import longest_path
from setwise.analysis.cost.processors.processor import Processor


@dataclass(frozen=True, slots=True)
class CostedPart:
    """Instructions that are executed once in this order.

    Kinds: call, all of straight-line code; round, one loop iteration; longest, the longest path of branching code,
    which arguments need not take; executed, the instructions of a given call.
    """

    stream: tuple[Decoded, ...]
    kind: Literal["call", "round", "longest", "executed"] = "call"

    @property
    def is_round(self) -> bool:
        """Whether the part is a loop iteration."""
        return self.kind == "round"

    def cost(self, processor: Processor) -> Cost:
        """Return the cost of the part on a processor; for a loop iteration, in the steady state."""
        return (round_cost if self.is_round else cost)(self.stream, processor)


def part_of(binary: Binary) -> CostedPart:
    """Select the part to cost: straight-line code, an iteration of a loop, or the longest path of branching code.

    Among several loops it selects the longest of those with the widest registers. Raises ValueError for jumps with
    unknown targets.
    """
    decoded = decode(binary.text)
    if bodies := loops(decoded):
        return CostedPart(max(bodies, key=lambda body: (_width(body), len(body))), "round")
    if any(instruction.flow in ("branch", "indirect", "jump") for instruction in decoded):
        return CostedPart(longest_path(binary), "longest")
    return CostedPart(decoded)


def _width(stream: Sequence[Decoded]) -> int:
    operands = (operand for instruction in stream for operand in instruction.operands)
    return max((operand.bits for operand in operands if isinstance(operand, Reg)), default=0)


def marked(stream: Sequence[Decoded], costs: Sequence[tuple[Processor, Cost]]) -> str:
    """Return the listing with the cycle at which each result is ready, and * on the critical path."""
    lines = [line for line in disassembly(stream) if not line.startswith(".")]
    widths = [max(len(on.name), 5) for on, _ in costs]
    head = "  ".join(on.name.rjust(width) for (on, _), width in zip(costs, widths, strict=True))
    text = [f"{head}  result ready in cycle, * on the critical path"]
    for at, line in enumerate(lines):
        cells = []
        for (_, bounds), width in zip(costs, widths, strict=True):
            known = at < len(bounds.steps)
            star = "*" if at in bounds.critical else " "
            cells.append((f"{bounds.steps[at].ready:g}{star}" if known else "").rjust(width))
        text.append("  ".join(cells) + "  " + line)
    return "\n".join(text)
