"""The part of code that is costed, and its listing with the cycle at which each result is ready."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from setwise.analysis.code.compare import disassembly
from setwise.analysis.code.decode import Binary, Decoded, Reg, decode
from setwise.analysis.cost.bounds import Cost, cost, loops, round_cost
from setwise.analysis.cost.processors.processor import Processor


@dataclass(frozen=True, slots=True)
class CostedPart:
    """Instructions that are executed once in this order.

    Kinds: call, all of straight-line code; round, one loop iteration; longest, the longest path of branching code,
    which arguments need not take; executed, the instructions of a given call.
    """

    stream: tuple[Decoded, ...]
    kind: Literal["call", "round", "longest", "executed"] = "call"

    def cost(self, processor: Processor) -> Cost:
        """Return the cost of the part on a processor; for a loop iteration, in the steady state."""
        return (round_cost if self.kind == "round" else cost)(self.stream, processor)


def part_of(binary: Binary) -> CostedPart:
    """Select the part to cost: straight-line code, an iteration of a loop, or the longest path of branching code.

    Among several innermost loops it selects the longest of those with the widest registers. Raises ValueError if code
    without loops has a jump to an unknown place.
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


def longest_path(binary: Binary) -> tuple[Decoded, ...]:
    """Return the instructions on the longest path through acyclic code, that with the most instructions.

    If both ways from a branch are equally long, it falls through. Raises ValueError for a jump backward or to an
    unknown place.

    >>> [instruction.mnemonic for instruction in longest_path(Binary(bytes.fromhex("85ff7403480fc8c3")))]
    ['test', 'je', 'bswap', 'ret']
    """
    code = decode(binary.text)
    places = {instruction.offset: at for at, instruction in enumerate(code)}
    lengths = [1] * len(code)
    following: list[int | None] = [None] * len(code)
    for at in reversed(range(len(code))):
        for offset in _next(binary, code, at):
            to = places.get(offset, 0)
            if to <= at:
                raise ValueError(
                    f"the longest path is unknown: {code[at].title} jumps back, or "
                    "to an unknown place: for a routine add --executed, for another function use setwise count"
                )
            if lengths[to] >= lengths[at]:
                lengths[at], following[at] = 1 + lengths[to], to
    path = []
    place: int | None = 0
    while place is not None:
        path.append(code[place])
        place = following[place]
    return tuple(path)


def _next(binary: Binary, code: Sequence[Decoded], at: int) -> Iterator[int]:
    """Yield the offsets of all possible successors of `code[at]`, the fall-through first; -1 for an unknown target."""
    instruction = code[at]
    if instruction.flow in ("next", "branch", "call"):
        yield instruction.end
    if instruction.flow in ("branch", "jump"):
        yield -1 if instruction.target is None else instruction.target
    if instruction.flow == "indirect":
        places = (each.memory.target for each in reversed(code[:at]) if each.mnemonic == "lea" and each.memory)
        tables = ([*_targets(binary, code, place)] for place in places if place is not None)
        yield from next(filter(None, tables), [-1])


def _targets(binary: Binary, code: Sequence[Decoded], table: int) -> Iterator[int]:
    """Yield the targets in a jump table at offset `table`: 32-bit distances from its start, as C compilers also emit.

    The table ends before an entry that leads to no instruction, or at data that another instruction refers to.
    """
    starts = {instruction.offset for instruction in code}
    others = {memory.target for instruction in code if (memory := instruction.memory) is not None} - {table}
    for at in range(table, len(binary.image) - 3, 4):
        target = table + int.from_bytes(binary.image[at : at + 4], "little", signed=True)
        if at in others or target not in starts:
            return
        yield target


def marked(stream: Sequence[Decoded], costs: Sequence[tuple[Processor, Cost]]) -> str:
    """Return the listing with the cycle in which each result is ready on each processor, and * on the critical path."""
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
