"""What of some code is costed, and its listing with the cycles of the results."""

from __future__ import annotations

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

    call: all of straight code; round: one of a loop; longest: the longest path of code that branches, which arguments
    need not go; executed: what a certain call executes.
    """

    stream: tuple[Decoded, ...]
    kind: Literal["call", "round", "longest", "executed"] = "call"

    @property
    def is_round(self) -> bool:
        """Whether it follows upon itself."""
        return self.kind == "round"

    def cost(self, processor: Processor) -> Cost:
        """The cost of the call, or of a round where round follows round."""
        return (round_cost if self.is_round else cost)(self.stream, processor)


def part_of(binary: Binary) -> CostedPart:
    """What of some code is costed: all of it, a round of a loop, or the longest path where it branches without a loop.

    Of loops it is the longest of those with the widest registers. ValueError for code that jumps nobody sees where.
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
    """Before each instruction the cycle at which its result is ready, * where it is on the critical path."""
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
