"""The frame: saved registers, stack slots, arguments on the stack, and the way out.

rsp is a multiple of 8 or 16, and a vector that lies across a line of memory takes twice as long. So where vectors wait
in a loop, the slots begin at a multiple of the largest one's size, and a register that is left over says where. The
frame around them stays where those look for it who unwind the stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeGuard

from setwise.codegen.describe.operations import WRITES
from setwise.codegen.machine.code import Code, Instruction, Item, Label, Memory, Operand, Register, vector
from setwise.codegen.machine.convention import Convention
from setwise.codegen.passes.state import State
from setwise.codegen.targets.operands import ARGUMENT, RSP
from setwise.codegen.targets.table import Refused

PAGE = 4096
"""How many bytes of stack a routine takes at most: Windows wants more to be probed, and a thread need not have it."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What a routine needs on the stack: registers to save, and slots of 8 bytes for spilled values.

    The slots begin at a multiple of `alignment` bytes, in register `start` where rsp is none.
    """

    saved: tuple[Register, ...]
    slots: int
    alignment: int = 8
    start: Register = RSP

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
        return -(-self._slot_bytes // 16) * 16

    @property
    def _slot_bytes(self) -> int:
        """Bytes for the slots, with what lies below their start."""
        return 8 * self.slots + self.alignment - 8

    @property
    def room(self) -> int:
        """Bytes below the pushed registers: the slots, then 16 for each saved vector register.

        These lie at multiples of 16, for so Windows reads them when it unwinds the stack.
        """
        if not self.vectors:
            return self._slot_bytes
        taken = self.vectors_start + 16 * len(self.vectors)
        return taken + (8 + 8 * len(self.pushed) + taken) % 16

    @property
    def size(self) -> int:
        """Bytes from the return address down."""
        return self.room + 8 * len(self.pushed)


def add_frame(items: tuple[Item, ...], frame: Frame, avx: bool, wide_result: bool) -> tuple[Item, ...]:
    """The routine from entry to ret: registers saved and restored, stack operands at their distance from rsp.

    SSE code that follows runs slowly while upper halves of registers 0 to 15 are dirty: vzeroupper cleans them, unless
    the result itself lies in one.
    """
    dirty = _writes_upper_half(items) and not wide_result

    def placed(operand: Operand) -> Operand:
        if isinstance(operand, Memory) and operand.symbol == ARGUMENT:
            return replace(operand, base=RSP, symbol=None, displacement=frame.size + operand.displacement)
        return replace(operand, base=frame.start) if _is_slot(operand) else operand

    body = [
        replace(item, operands=tuple(map(placed, item.operands)))
        if isinstance(item, Instruction) and any(isinstance(o, Memory) for o in item.operands)
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
    if frame.start != RSP:
        before.append(Instruction("lea", (frame.start, Memory(64, RSP, displacement=frame.alignment - 8))))
        before.append(Instruction("and", (frame.start, -frame.alignment)))
    way_out = ["vzeroupper"] if dirty else []
    return (*before, *body, *(Instruction(name) for name in way_out), *after, Instruction("ret"))


def _is_slot(operand: Operand) -> TypeGuard[Memory]:
    """Whether it is a slot; what lies below rsp is none."""
    return isinstance(operand, Memory) and operand.base == RSP and operand.displacement >= 0


def _aligned(frame: Frame, items: tuple[Item, ...], convention: Convention) -> Frame:
    """The frame with aligned slots, where vectors wait in a loop and a register is free."""
    size = max([o.bits // 8 for item in _in_loops(items) for o in item.operands if _is_slot(o)], default=0)
    used = {register for item in items if isinstance(item, Instruction) for register in _named(item)}
    free = (register for register in (*convention.scratch, *convention.saved) if register not in used)
    start = next(free, RSP) if size > 16 else RSP
    if start == RSP:
        return frame
    saved = {*frame.saved, *({start} & {*convention.saved})}
    return Frame(tuple(sorted(saved)), frame.slots, size, start)


def _in_loops(items: tuple[Item, ...]) -> list[Instruction]:
    """The instructions from where a branch goes back to up to that branch."""
    places = {item: at for at, item in enumerate(items) if isinstance(item, Label)}
    inside: set[int] = set()
    for at, item in enumerate(items):
        for operand in item.operands if isinstance(item, Instruction) else ():
            if isinstance(operand, Label):
                inside.update(range(places[operand], at))
    return [item for at, item in enumerate(items) if at in inside and isinstance(item, Instruction)]


def _named(instruction: Instruction) -> Iterator[Register]:
    """The general registers in its operands."""
    for operand in instruction.operands:
        parts = (operand.base, operand.index) if isinstance(operand, Memory) else (operand,)
        for part in parts:
            if isinstance(part, Register) and part.file == "general":
                yield part.at(64)


def _writes_upper_half(items: tuple[Item, ...]) -> bool:
    written = (item.operands[0] for item in items if isinstance(item, Instruction) and item.operands)
    return any(isinstance(r, Register) and r.file == "vector" and r.bits > 128 and r.number < 16 for r in written)


def prologue_epilogue_pass(state: State) -> State:
    """The pass: the code, with the data that it reads; Refused where it needs more stack than a routine takes."""
    wide_result = any(result.lanes > 2 for result in state.graph.results if result.op not in WRITES)
    frame = _aligned(Frame(state.allocated.saved, state.spilled.slots), state.allocated.items, state.convention)
    if frame.size > PAGE:
        raise Refused(
            f"{state.routine.name} needs {frame.size:,} bytes of stack for what waits there, and a routine takes "
            f"{PAGE:,} at most: let fewer values be needed at once, or take fewer lanes"
        )
    items = add_frame(state.allocated.items, frame, "avx" in state.target.features, wide_result)
    read = {o.symbol for item in items if isinstance(item, Instruction) for o in item.operands if isinstance(o, Memory)}
    # A constant whose instructions all took it as an immediate lies nowhere.
    data = tuple(datum for datum in (*state.data, *state.constants) if datum.label in read)
    return replace(state, code=Code(state.routine.name, items, data))
