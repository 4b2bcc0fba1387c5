"""The prologue: what a routine pushes, allocates and saves before its work, and how Windows is told to undo it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from setwise.codegen.machine.code import Assembled, Code, Instruction, Memory, Register

Kind = Literal["push", "allocate", "save"]


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction of the prologue: `item` is its place in the code's items, `end` the offset of the byte behind it.

    push      pushes `register`
    allocate  lowers rsp by `amount` bytes
    save      stores vector `register` at rsp + `amount`
    """

    kind: Kind
    item: int
    end: int
    register: Register | None = None
    amount: int = 0


def prologue(code: Code, made: Assembled) -> tuple[Step, ...]:
    """The steps before the routine's first other instruction.

    >>> from setwise.codegen.assemble import assemble
    >>> from setwise.codegen.machine.code import general
    >>> code = Code("saves", (Instruction("push", (general("rbx"),)), Instruction("ret")))
    >>> prologue(code, assemble(code))
    (Step(kind='push', item=0, end=1, register=rbx, amount=0),)
    """
    steps: list[Step] = []
    for at, item in enumerate(code.items):
        if not isinstance(item, Instruction):
            break
        if item.mnemonic == "endbr64":
            continue
        end = made.starts[at + 1]
        match item.mnemonic, item.operands:
            case "push", (Register() as register,):
                steps.append(Step("push", at, end, register))
            case "sub", (Register(number=4), int(amount)):
                steps.append(Step("allocate", at, end, amount=amount))
            case (("movups" | "vmovups"), (Memory() as memory, Register() as register)):
                steps.append(Step("save", at, end, register, memory.displacement))
            case _:
                break
    return tuple(steps)


def stack_bytes(steps: tuple[Step, ...]) -> int:
    """How far below the return address the routine uses the stack."""
    return sum(8 if step.kind == "push" else step.amount for step in steps if step.kind != "save")


_PUSH, _ALLOCATE_LARGE, _ALLOCATE_SMALL, _SAVE_VECTOR = 0, 1, 2, 8


def unwind_info(steps: tuple[Step, ...]) -> bytes:
    """The UNWIND_INFO of these steps (Microsoft x64 exception handling, version 1); empty for a leaf without steps.

    Windows walks the stack by it. ValueError for a vector that is not saved at a multiple of 16 bytes.
    """
    if not steps:
        return b""
    codes = b"".join(_codes(step) for step in reversed(steps))
    slots = len(codes) // 2
    return bytes((1, steps[-1].end, slots, 0)) + codes + bytes(2 * (slots % 2))


def _codes(step: Step) -> bytes:
    """One step's slots of two bytes."""
    if step.kind == "push":
        return _slot(step, _PUSH, step.register.number if step.register else 0)
    units, rest = divmod(step.amount, 16 if step.kind == "save" else 8)
    if rest:
        raise ValueError(f"{step.kind} at {step.amount}: no multiple of {16 if step.kind == 'save' else 8} bytes")
    if step.kind == "save":
        return _slot(step, _SAVE_VECTOR, step.register.number if step.register else 0) + units.to_bytes(2, "little")
    if step.amount <= 128:
        return _slot(step, _ALLOCATE_SMALL, units - 1)
    return _slot(step, _ALLOCATE_LARGE, 0) + units.to_bytes(2, "little")


def _slot(step: Step, operation: int, detail: int) -> bytes:
    return bytes((step.end, detail << 4 | operation))
