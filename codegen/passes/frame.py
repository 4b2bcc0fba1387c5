"""The frame: saved registers, stack slots, arguments on the stack, and the way out."""

from __future__ import annotations

from dataclasses import dataclass, replace

from setwise.codegen.describe.operations import WRITES
from setwise.codegen.machine.code import Code, Instruction, Item, Memory, Operand, Register, vector
from setwise.codegen.passes.unit import Unit
from setwise.codegen.targets.operands import ARGUMENT, RSP
from setwise.codegen.targets.table import Refused

PAGE = 4096
"""How many bytes of stack a routine takes at most: Windows wants more to be probed, and a thread need not have it."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What a routine needs on the stack: registers to save, and slots of 8 bytes for spilled values."""

    saved: tuple[Register, ...]
    slots: int

    @property
    def vectors(self) -> tuple[Register, ...]:
        """The saved vector registers, their low 128 bits."""
        return tuple(vector(register.number, 128) for register in self.saved if register.file == "vector")

    @property
    def pushed(self) -> tuple[Register, ...]:
        """The saved general registers."""
        return tuple(register for register in self.saved if register.file == "general")

    @property
    def vectors_start(self) -> int:
        """Where above rsp the saved vector registers lie, behind the slots: a multiple of 16."""
        return 16 * (-(-self.slots // 2))

    @property
    def room(self) -> int:
        """Bytes below the pushed registers: the slots, then 16 for each saved vector register.

        These lie at multiples of 16, for so Windows reads them when it unwinds the stack.
        """
        if not self.vectors:
            return 8 * self.slots
        taken = self.vectors_start + 16 * len(self.vectors)
        return taken + (8 + 8 * len(self.pushed) + taken) % 16

    @property
    def size(self) -> int:
        """Bytes from the return address down."""
        return self.room + 8 * len(self.pushed)


def with_frame(items: tuple[Item, ...], frame: Frame, avx: bool, wide_result: bool) -> tuple[Item, ...]:
    """The routine from entry to ret: registers saved and restored, stack operands at their distance from rsp.

    SSE code that follows runs slowly while upper halves of registers 0 to 15 are dirty: vzeroupper cleans them, unless
    the result itself lies in one.
    """
    dirty = _writes_upper_half(items) and not wide_result

    def placed(operand: Operand) -> Operand:
        if isinstance(operand, Memory) and operand.symbol == ARGUMENT:
            return replace(operand, base=RSP, symbol=None, displacement=frame.size + operand.displacement)
        return operand

    body = [
        replace(item, operands=tuple(map(placed, item.operands)))
        if isinstance(item, Instruction) and ARGUMENT in [o.symbol for o in item.operands if isinstance(o, Memory)]
        else item
        for item in items
    ]
    store = "vmovups" if avx else "movups"
    slots = [(v, Memory(128, RSP, displacement=frame.vectors_start + 16 * i)) for i, v in enumerate(frame.vectors)]
    before = [Instruction("push", (register,)) for register in frame.pushed]
    after = [Instruction("pop", (register,)) for register in reversed(frame.pushed)]
    if frame.room:
        before.append(Instruction("sub", (RSP, frame.room)))
        after.insert(0, Instruction("add", (RSP, frame.room)))
    before += [Instruction(store, (slot, register)) for register, slot in slots]
    after[:0] = [Instruction(store, (register, slot)) for register, slot in slots]
    way_out = ["vzeroupper"] if dirty else []
    return (*before, *body, *(Instruction(name) for name in way_out), *after, Instruction("ret"))


def _writes_upper_half(items: tuple[Item, ...]) -> bool:
    written = (item.operands[0] for item in items if isinstance(item, Instruction) and item.operands)
    return any(isinstance(r, Register) and r.file == "vector" and r.bits > 128 and r.number < 16 for r in written)


def framing(unit: Unit) -> Unit:
    """The pass: the code, with the data that it reads; Refused where it needs more stack than a routine takes."""
    wide_result = any(result.lanes > 2 for result in unit.graph.results if result.op not in WRITES)
    frame = Frame(unit.allocated.saved, unit.spilled.slots)
    if frame.size > PAGE:
        raise Refused(
            f"{unit.routine.name} needs {frame.size:,} bytes of stack for what waits there, and a routine takes "
            f"{PAGE:,} at most: let fewer values be needed at once, or take fewer lanes"
        )
    items = with_frame(unit.allocated.items, frame, "avx" in unit.target.features, wide_result)
    read = {o.symbol for item in items if isinstance(item, Instruction) for o in item.operands if isinstance(o, Memory)}
    # A constant whose instructions all took it as an immediate lies nowhere.
    data = tuple(datum for datum in (*unit.data, *unit.constants) if datum.label in read)
    return replace(unit, code=Code(unit.routine.name, items, data))
