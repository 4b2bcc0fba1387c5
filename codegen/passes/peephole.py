"""Peephole rewriting of allocated code: redundant tests, and the order of commuting operands."""

from dataclasses import replace

from setwise.codegen.machine.code import Instruction, Item, Label, Operand, Register
from setwise.codegen.passes.state import State

COMMUTATIVE = frozenset({"vpand", "vpor", "vpxor", "vpaddq", "vpaddb"})

_SETS_FLAGS = frozenset({"and", "or", "xor", "add", "sub", "sbb", "neg", "andn"})


def peephole_pass(state: State) -> State:
    """Remove `test r, r` if the flags are set from r already, and put commuting operands in canonical order."""
    kept: list[Item] = []
    for item in state.allocated.items:
        if isinstance(item, Label):
            kept.append(item)
        elif item.mnemonic != "test" or not _flags_from(kept, item.operands[0]):
            kept.append(in_canonical_order(item))
    return replace(state, allocated=replace(state.allocated, items=tuple(kept)))


def _flags_from(before: list[Item], register: Operand) -> bool:
    """Return whether the last instruction since a label, `mov` aside, set the flags by the register's present value."""
    for item in reversed(before):
        if isinstance(item, Label):
            return False
        if item.mnemonic == "mov":
            written = item.operands[0]
            if isinstance(written, Register) and written.at(64) == register:
                return False
            continue
        return item.mnemonic in _SETS_FLAGS and item.operands[0] == register
    return False


def in_canonical_order(instruction: Instruction) -> Instruction:
    """Put the source register with a number from 8 to 15 first if that saves a byte of VEX prefix.

    Only as the last source does it need the longer prefix. GNU as and LLVM swap such sources by themselves, others do
    not. In this order every assembler makes the same bytes.

    >>> from setwise.codegen.machine.code import vector
    >>> low, high = vector(0, 128), vector(8, 128)
    >>> in_canonical_order(Instruction("vpor", (low, low, high))).operands
    (xmm0, xmm8, xmm0)
    """
    if instruction.mnemonic not in COMMUTATIVE:
        return instruction
    result, first, last = instruction.operands
    if not isinstance(first, Register) or not isinstance(last, Register) or not isinstance(result, Register):
        return instruction
    wanted = first.number < 8 <= last.number < 16 and result.number < 16 and result.bits <= 256
    return replace(instruction, operands=(result, last, first)) if wanted else instruction
