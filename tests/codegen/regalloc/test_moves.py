"""Moves that happen at once come one by one: every register ends with what it was to get."""

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from setwise.codegen.machine.code import Instruction, Memory, Register
from setwise.codegen.machine.convention import SYSV
from setwise.codegen.regalloc.candidates import FIRST, number_of
from setwise.codegen.regalloc.machine import Machine
from setwise.codegen.targets import target_named

SIX = tuple(FIRST["vector"] + number for number in range(6))
MOVES = st.dictionaries(st.sampled_from(SIX), st.sampled_from(SIX))


def done(code: Sequence[Instruction], held: Mapping[int, int]) -> dict[int, int]:
    """What registers hold after moves and exclusive ors, where they held these numbers."""
    now = dict(held)
    for instruction in code:
        to, *others = [number_of(operand) for operand in instruction.operands if isinstance(operand, Register)]
        if instruction.mnemonic == "vmovdqa":
            now[to] = now[others[0]]
        else:
            assert instruction.mnemonic == "vpxor"
            now[to] = now[others[0]] ^ now[others[1]]
    return now


@given(moves=MOVES)
def test_every_register_gets_what_it_was_to_get(moves: dict[int, int]) -> None:
    machine = Machine(target_named("avx2"), SYSV, lambda *_: Memory(64))
    code = machine.in_order({to: (source, 4) for to, source in moves.items() if to != source})
    held = {FIRST["vector"] + number: 1 << number for number in range(16)}
    assert done(code, held) == held | {to: held[source] for to, source in moves.items()}
