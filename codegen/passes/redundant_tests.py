"""Remove redundant tests: those that repeat the state of the flags."""

from dataclasses import replace

from setwise.codegen.machine.code import Item, Label, Operand, Register
from setwise.codegen.passes.state import State


def redundant_tests_pass(state: State) -> State:
    """Remove `test r, r` if the instruction before, moves aside, has set the flags from r."""
    kept: list[Item] = []
    for item in state.allocated.items:
        if isinstance(item, Label) or item.mnemonic != "test" or not _flags_from(kept, item.operands[0]):
            kept.append(item)
    return replace(state, allocated=replace(state.allocated, items=tuple(kept)))


_SETS_FLAGS = frozenset({"and", "or", "xor", "add", "sub", "neg", "andn"})


def _flags_from(before: list[Item], register: Operand) -> bool:
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
