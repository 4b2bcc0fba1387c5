"""The prologue of finished code, recognized by its instructions, and its unwind information for Windows."""

from dataclasses import dataclass
from typing import Literal

from setwise.codegen.machine.code import Assembled, Code, Instruction, Memory, Register

UnwindKind = Literal["push", "allocate", "save"]


@dataclass(frozen=True, slots=True)
class UnwindOperation:
    """An instruction of the prologue.

    `item` is its index in the code's items. `end` is the offset, in the code, of the byte after the instruction.

    push      pushes `register`
    allocate  lowers rsp by `amount` bytes
    save      stores vector `register` at rsp + `amount`
    """

    kind: UnwindKind
    item: int
    end: int
    register: Register | None = None
    amount: int = 0


def prologue(code: Code, assembled: Assembled) -> tuple[UnwindOperation, ...]:
    """Return the instructions of the prologue: pushes, allocations and vector saves before any other, except endbr64.

    >>> from setwise.codegen.assemble import assemble
    >>> from setwise.codegen.machine.code import general
    >>> code = Code("saves", (Instruction("push", (general("rbx"),)), Instruction("ret")))
    >>> prologue(code, assemble(code))
    (UnwindOperation(kind='push', item=0, end=1, register=rbx, amount=0),)
    """
    operations: list[UnwindOperation] = []
    for at, item in enumerate(code.items):
        if not isinstance(item, Instruction):
            break
        if item.mnemonic == "endbr64":
            continue
        end = assembled.starts[at + 1]
        match item.mnemonic, item.operands:
            case "push", (Register() as register,):
                operations.append(UnwindOperation("push", at, end, register))
            case "sub", (Register(number=4), int(amount)):
                operations.append(UnwindOperation("allocate", at, end, amount=amount))
            case (("movups" | "vmovups"), (Memory() as memory, Register() as register)):
                operations.append(UnwindOperation("save", at, end, register, memory.displacement))
            case _:
                break
    return tuple(operations)


def stack_bytes(operations: tuple[UnwindOperation, ...]) -> int:
    """Return the number of bytes below the return address that the prologue pushes and allocates."""
    return sum(8 if each.kind == "push" else each.amount for each in operations if each.kind != "save")


_PUSH, _ALLOCATE_LARGE, _ALLOCATE_SMALL, _SAVE_VECTOR = 0, 1, 2, 8


def unwind_info(operations: tuple[UnwindOperation, ...]) -> bytes:
    """Return the UNWIND_INFO of a prologue (Microsoft x64 exception handling, version 1); empty without a prologue.

    Raise ValueError for a vector that is not saved at a multiple of 16 bytes, or an allocation of no multiple of 8.
    """
    if not operations:
        return b""
    codes = b"".join(_codes(operation) for operation in reversed(operations))
    slots = len(codes) // 2
    return bytes((1, operations[-1].end, slots, 0)) + codes + bytes(2 * (slots % 2))


def _codes(operation: UnwindOperation) -> bytes:
    """Return the UNWIND_CODE slots, of two bytes each, of an operation."""
    unit = 16 if operation.kind == "save" else 8
    units, rest = divmod(operation.amount, unit)
    if rest:
        raise ValueError(f"{operation.kind} at {operation.amount}: not a multiple of {unit} bytes")
    if operation.kind == "allocate":
        small = operation.amount <= 128
        code, detail = (_ALLOCATE_SMALL, units - 1) if small else (_ALLOCATE_LARGE, 0)
    else:
        assert operation.register is not None
        code, detail = _PUSH if operation.kind == "push" else _SAVE_VECTOR, operation.register.number
    more = units.to_bytes(2, "little") if code in (_ALLOCATE_LARGE, _SAVE_VECTOR) else b""
    return bytes((operation.end, detail << 4 | code)) + more
