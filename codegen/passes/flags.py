"""Tests that repeat what the flags say already go."""

from __future__ import annotations

from dataclasses import replace

from setwise.codegen.machine.code import Instruction, Label, Operand
from setwise.codegen.passes.unit import Unit


def flags(unit: Unit) -> Unit:
    """The pass: the allocated instructions without needless tests."""
    return replace(unit, allocated=replace(unit.allocated, items=without_needless_tests(unit.allocated.items)))


def without_needless_tests(items: tuple[Instruction | Label, ...]) -> tuple[Instruction | Label, ...]:
    """`test r, r` goes where the instruction before, moves aside, has just set the flags from r."""
    kept: list[Instruction | Label] = []
    for item in items:
        if isinstance(item, Instruction) and item.mnemonic == "test" and _flags_from(kept, item.operands[0]):
            continue
        kept.append(item)
    return tuple(kept)


_SETS_ZERO_FLAG = frozenset({"and", "or", "xor", "add", "sub", "neg", "andn"})


def _flags_from(before: list[Instruction | Label], register: Operand) -> bool:
    for item in reversed(before):
        if isinstance(item, Label):
            return False
        if item.mnemonic == "mov":
            if item.operands[0] == register:
                return False
            continue
        return item.mnemonic in _SETS_ZERO_FLAG and item.operands[0] == register
    return False
