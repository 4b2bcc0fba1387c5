"""A state: every part of it takes part in copying and comparing, and a loop forgets no change of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import pytest

from setwise.analysis.code.decode import Binary
from setwise.analysis.proof.claims import Case, EntryUnknowns, entry_state
from setwise.analysis.proof.image import MemoryImage
from setwise.analysis.proof.memory import STACK, Arrays, Space
from setwise.analysis.proof.path_state import (
    APART,
    Byte,
    Cells,
    Key,
    Variable,
    changed,
    drop,
    fork,
    get,
    leaves,
    put,
    variables,
)
from setwise.analysis.proof.pointers import Addresses
from setwise.analysis.proof.prover import Prover
from setwise.analysis.semantics.state import MachineState
from setwise.analysis.spec.contracts import task_of
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from tests.analysis.listings import assemble
from tests.conftest import few, require_module

require_module("bitwuzla")

BATCH = "kogge-stone.attacks.nort.batch"


def entry(name: str = BATCH) -> MachineState:
    """The state at the entry of a routine."""
    domain, task = Addresses(), task_of(lower(find(name), "x86-64", "sysv"))
    case = Case(task, (), domain.variable("n", 64), apart=False)
    state = entry_state(EntryUnknowns(domain), MemoryImage(Binary(b"\xc3")), case)
    state.flags["zf"] = lambda: 1
    return state


def space(state: MachineState) -> Space:
    assert isinstance(state.memory, Space)
    return state.memory


def arrays(state: MachineState) -> Arrays:
    found = space(state).arrays
    assert found is not None
    return found


def test_a_copy_is_the_same_and_apart() -> None:
    state = entry()
    copy = fork(state)
    assert not changed(state, copy)
    assert not changed(copy, state)
    before = dict(leaves(state))
    copy.registers["rax"] = 5
    copy.vectors["zmm1"] = (0,) * 8
    copy.flags.clear()
    space(copy).cells.clear()
    arrays(copy).written[0, 0] = 1, 1
    arrays(copy).frontier = 8
    space(copy).must.append((0, "nothing"))
    space(copy).facts[state.registers["rax"]] = 1
    assert dict(leaves(state)) == before
    assert not space(state).facts


@pytest.mark.parametrize("kind", [MachineState, Space, Cells, Arrays])
def test_every_field_is_compared(kind: type) -> None:
    """A field is compared, or declared to be apart from the machine."""
    state = entry()
    state.targets = {0: 1}
    arrays(state).touched[0] = 1
    arrays(state).written[0, 0] = 1, 1
    for each in fields(kind):
        after = fork(state)
        place = {MachineState: after, Space: space(after), Arrays: arrays(after)}.get(kind, space(after).cells[STACK])
        before = getattr(place, each.name)
        setattr(place, each.name, {} if isinstance(before, Mapping) else "another")
        assert bool(changed(state, after)) != (each.metadata == APART), each.name


def test_a_new_field_takes_part() -> None:
    @dataclass(slots=True)
    class More:
        known: dict[str, int] = field(default_factory=dict)
        apart: dict[str, int] = field(default_factory=dict, metadata=APART)

    one = More({"a": 1}, {"a": 1})
    other = fork(one)
    other.known["a"] = 2
    other.apart["a"] = 2
    assert changed(one, other) == {("known", "a"): True}
    del other.known["a"]
    assert changed(one, other) == {("known", "a"): False}
    assert not changed(other, one)  # what is missing before is unknown
    assert one.known == {"a": 1}


def test_variables_are_read_and_written() -> None:
    state = entry()
    stack = STACK
    cells: Cells = space(state).cells[stack]
    word = space(state).domain.variable("word", 64)
    cells.write(-24, 64, word)
    cells.write(-32, 32, 7)
    keys: list[Key] = [("memory", "cells", stack, "content", at) for at in (*range(-24, -16), -31)]
    found = variables([*keys, ("registers", "rax"), ("vectors", "zmm1", 3), ("flags", "zf")], state)
    assert [(each.name, each.width) for each in found] == [
        ("rax", 64),
        ("stack-24", 64),
        ("stack-31", 8),
        ("zf", 1),
        ("zmm1.3", 64),
    ]
    for number, variable in enumerate(found):
        put(state, variable, number % 2)
        assert get(state, variable) == number % 2
    assert cells.content[-31] == Byte(0, 8, 0)
    assert cells.read(space(state).domain, -32, 32) == 7
    drop(state, keys[0])
    first = get(state, Variable(keys[0], 8))
    assert first is get(state, Variable(keys[0], 8))  # unknown, and the same again


# Each carries something from one round to the next that makes boards from the second on wrong, or that a caller sees.
# The sixth round alone looks: so few rounds tell nothing, and the comparison at the loop's head must.
ROUND = (
    "mov rax,[rdi+8*r10]; mov r8,[rsi+8*r10]; {look}"
    "mov r9,rax; shl r9,8; and r9,r8; or rax,r9; mov r9,r8; shl r9,8; and r8,r9; mov r9,rax; shl r9,16; and r9,r8;"
    "or rax,r9; mov r9,r8; shl r9,16; and r8,r9; mov r9,rax; shl r9,32; and r9,r8; or rax,r9; shl rax,8;"
    "mov [rdx+8*r10],rax;"
)
CARRIED: dict[str, tuple[str, str, str]] = {
    "a register": ("xor r11d,r11d;", "or rax,r11;", "mov r11d,1;"),
    "a mask register": ("kxorq k1,k1,k1;", "kmovq r11,k1; or rax,r11;", "mov r11d,1; kmovq k1,r11;"),
    "a vector": ("vpxor xmm1,xmm1,xmm1;", "vmovq r11,xmm1; or rax,r11;", "mov r11d,1; vmovq xmm1,r11;"),
    "a high lane": (
        "vpxor xmm1,xmm1,xmm1;",
        "vextracti128 xmm2,ymm1,1; vmovq r11,xmm2; or rax,r11;",
        "mov r11d,1; vmovq xmm2,r11; vinserti128 ymm1,ymm1,xmm2,1;",
    ),
    "the red zone": ("mov qword ptr [rsp-16],0;", "or rax,[rsp-16];", "mov qword ptr [rsp-16],1;"),
    "a byte of the red zone": ("mov qword ptr [rsp-16],0;", "or rax,[rsp-16];", "mov byte ptr [rsp-13],1;"),
    "a byte by another pointer": (
        "mov qword ptr [rsp-16],0;",
        "or rax,[rsp-16];",
        "lea r11,[rsp-14]; mov byte ptr [r11],1;",
    ),
    "bytes that a push overwrites": ("mov qword ptr [rsp-8],0;", "or rax,[rsp-8];", "push rdi; pop r11;"),
    "bytes that are lost": (
        "sub rsp,256; mov qword ptr [rsp],0;",
        "or rax,[rsp];",
        "add rsp,256; sub rsp,256;",
    ),
    "a saved register": ("", "", "mov rbx,r10;"),
    "a saved register in the red zone": (
        "mov [rsp-16],rbx;",
        "",
        "mov rbx,[rsp-16]; mov qword ptr [rsp-16],r10;",
    ),
    "the return address": ("", "", "mov [rsp],r10;"),
}


def looped(before: str, look: str, after: str) -> str:
    end = "add rsp,256;" if "sub rsp,256; mov" in before else ""
    body = f"{ROUND.format(look=look)} {after} inc r10;"
    return f"{before} xor r10d,r10d; 1: cmp r10,rcx; jae 2f; {body} jmp 1b; 2: {end} ret"


@pytest.mark.parametrize("what", CARRIED)
def test_what_a_round_carries_is_not_forgotten(what: str) -> None:
    task = task_of(lower(find(BATCH), "x86-64", "sysv"))
    before, look, after = CARRIED[what]
    made = Prover().prove(Binary(assemble(looped(before, look, after))), task)
    assert made.status == "refuted"
    assert made.confirmation is not None
    assert made.confirmation.status == "confirmed"
    if look:  # without the look the same is harmless, unless it changes what the caller sees
        assert Prover().prove(Binary(assemble(looped(before, "", after))), task).status == "proved"


@pytest.mark.parametrize("what", few([what for what, (_, look, _) in CARRIED.items() if look], 2))
def test_what_only_a_late_round_carries_is_not_proved(what: str) -> None:
    """The change comes in the round behind 99 boards: no short array shows it."""
    task = task_of(lower(find(BATCH), "x86-64", "sysv"))
    before, look, after = CARRIED[what]
    late = f"cmp r10,99; jne 6f; {after} 6:"
    assert Prover().prove(Binary(assemble(looped(before, look, late))), task).status == "not proved"
