"""Prologue and epilogue: the frame with saved registers and stack slots, stack arguments, and the return.

rsp is aligned to 8 or 16 bytes only, and access to a vector across two cache lines takes twice as long. So if a loop
accesses slots of more than 128 bits, the first slot is aligned to the largest of these, if a register is free to point
there. The saved registers keep the places that unwinders expect.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeGuard

from setwise.codegen.ir.operations import WRITES
from setwise.codegen.machine.code import Code, Instruction, Item, Label, Memory, Operand, Register, vector
from setwise.codegen.machine.convention import Convention
from setwise.codegen.passes.state import State
from setwise.codegen.targets.operands import ARGUMENT, RSP
from setwise.codegen.targets.table import Refused

PAGE = 4096
"""The most bytes in the frame of a routine: Windows requires a larger frame to be probed."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A stack frame: the registers to save, and the number of slots of 8 bytes for spilled values.

    The first slot is aligned to `alignment` bytes, and the register `start` points to it.
    """

    saved: tuple[Register, ...]
    slots: int
    alignment: int = 8
    start: Register = RSP

    @property
    def vectors(self) -> tuple[Register, ...]:
        """The low 128 bits of the saved vector registers."""
        return tuple(vector(register.number, 128) for register in self.saved if register.file == "vector")

    @property
    def pushed(self) -> tuple[Register, ...]:
        """The saved general registers."""
        return tuple(register for register in self.saved if register.file == "general")

    @property
    def vectors_start(self) -> int:
        """The offset in bytes from rsp of the saved vector registers, above the slots: a multiple of 16."""
        return -(-self._slot_bytes // 16) * 16

    @property
    def _slot_bytes(self) -> int:
        """The bytes of the slots, and those that aligning them may take."""
        return 8 * self.slots + self.alignment - 8

    @property
    def room(self) -> int:
        """The bytes below the pushed registers: slots; if vectors are saved, 16 for each and padding of rsp to 16."""
        if not self.vectors:
            return self._slot_bytes
        taken = self.vectors_start + 16 * len(self.vectors)
        return taken + (8 + 8 * len(self.pushed) + taken) % 16

    @property
    def size(self) -> int:
        """The bytes of the frame below the return address."""
        return self.room + 8 * len(self.pushed)


def add_frame(items: tuple[Item, ...], frame: Frame, avx: bool, wide_result: bool) -> tuple[Item, ...]:
    """Return the instructions with prologue and epilogue, `ret` included, and with the final addresses on the stack.

    `avx`: save vectors by AVX. SSE code runs slowly after the routine if upper halves of vector registers 0 to 15 are
    dirty. So vzeroupper clears them if any is written, unless the result is in one (`wide_result`).
    """

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
    clear = [Instruction("vzeroupper")] if _writes_upper_half(items) and not wide_result else []
    return (*before, *body, *clear, *after, Instruction("ret"))


def _is_slot(operand: Operand) -> TypeGuard[Memory]:
    """Return whether an operand is a slot of the frame; one at an offset below 0 is not, but in the red zone."""
    return isinstance(operand, Memory) and operand.base == RSP and operand.displacement >= 0


def _aligned(frame: Frame, items: tuple[Item, ...], convention: Convention) -> Frame:
    """Return the frame, aligned if a loop accesses slots of more than 128 bits and a general register is free."""
    size = max([o.bits // 8 for item in _in_loops(items) for o in item.operands if _is_slot(o)], default=0)
    used = {register for item in items if isinstance(item, Instruction) for register in _named(item)}
    free = (register for register in (*convention.scratch, *convention.saved) if register not in used)
    start = next(free, RSP) if size > 16 else RSP
    if start == RSP:
        return frame
    saved = {*frame.saved, *({start} & {*convention.saved})}
    return Frame(tuple(sorted(saved)), frame.slots, size, start)


def _in_loops(items: tuple[Item, ...]) -> list[Instruction]:
    """Return the instructions in loops: from the target of a backward branch, up to but without the branch."""
    places = {item: at for at, item in enumerate(items) if isinstance(item, Label)}
    inside: set[int] = set()
    for at, item in enumerate(items):
        for operand in item.operands if isinstance(item, Instruction) else ():
            if isinstance(operand, Label):
                inside.update(range(places[operand], at))
    return [item for at, item in enumerate(items) if at in inside and isinstance(item, Instruction)]


def _named(instruction: Instruction) -> Iterator[Register]:
    """Yield the general registers in the operands of an instruction, at 64 bits."""
    for operand in instruction.operands:
        parts = (operand.base, operand.index) if isinstance(operand, Memory) else (operand,)
        for part in parts:
            if isinstance(part, Register) and part.file == "general":
                yield part.at(64)


def _writes_upper_half(items: tuple[Item, ...]) -> bool:
    written = (item.operands[0] for item in items if isinstance(item, Instruction) and item.operands)
    return any(isinstance(r, Register) and r.file == "vector" and r.bits > 128 and r.number < 16 for r in written)


def prologue_epilogue_pass(state: State) -> State:
    """Add the frame, and set `code`, with the data that it reads. Raise Refused for a frame of more than PAGE bytes."""
    wide_result = any(result.lanes > 2 for result in state.graph.results if result.op not in WRITES)
    frame = _aligned(Frame(state.allocated.saved, state.spilled.slots), state.allocated.items, state.convention)
    if frame.size > PAGE:
        raise Refused(
            f"{state.routine.name} needs {frame.size:,} bytes of stack, and a routine takes {PAGE:,} at most: "
            "keep fewer values at once, or take fewer lanes"
        )
    items = add_frame(state.allocated.items, frame, "avx" in state.target.features, wide_result)
    read = {o.symbol for item in items if isinstance(item, Instruction) for o in item.operands if isinstance(o, Memory)}
    # Constants that are used only as immediates need no storage.
    data = tuple(datum for datum in (*state.data, *state.constants) if datum.label in read)
    return replace(state, code=Code(state.routine.name, items, data))
