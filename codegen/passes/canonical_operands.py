"""Canonical operands: the order of commutative operands that all assemblers encode alike."""

from dataclasses import replace

from setwise.codegen.machine.code import Instruction, Item, Register
from setwise.codegen.passes.state import State

COMMUTATIVE = frozenset({"vpand", "vpor", "vpxor", "vpaddq", "vpaddb"})


def canonical_operands_pass(state: State) -> State:
    """Put commutative sources in their canonical order."""
    return replace(state, allocated=replace(state.allocated, items=in_canonical_order(state.allocated.items)))


def in_canonical_order(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """Put a source register from 8 upwards first if that saves a byte of VEX prefix.

    Only the last source needs a bit of the longer prefix. GNU as and LLVM swap such sources by themselves, others do
    not. In this order every assembler makes the same bytes.

    >>> from setwise.codegen.machine.code import vector
    >>> low, high = vector(0, 128), vector(8, 128)
    >>> in_canonical_order((Instruction("vpor", (low, low, high)),))[0].operands
    (xmm0, xmm8, xmm0)
    """
    return tuple(_turned(item) if isinstance(item, Instruction) else item for item in items)


def _turned(instruction: Instruction) -> Instruction:
    if instruction.mnemonic not in COMMUTATIVE:
        return instruction
    result, first, last = instruction.operands
    if not isinstance(first, Register) or not isinstance(last, Register) or not isinstance(result, Register):
        return instruction
    wanted = first.number < 8 <= last.number < 16 and result.number < 16 and result.bits <= 256
    return replace(instruction, operands=(result, last, first)) if wanted else instruction
