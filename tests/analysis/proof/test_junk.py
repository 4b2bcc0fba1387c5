"""Instructions without an effect before right code, and before wrong: it is proved, and refuted, all the same.

They take addresses, distances and boards apart in all ways, and touch memory of their own, under masks too.
"""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from setwise.analysis.code.objects import load
from setwise.analysis.proof.concrete_execution import confirm_by_stepping
from setwise.analysis.proof.prover import Prover
from setwise.analysis.spec.contracts import task_of
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from tests.conftest import require_module, require_tool

require_module("bitwuzla")

# {a} and {b} are written, {c} and the stack pointer are read as well; d stands before their lowest 32 bits.
JUNK = """
add {a},{c}|sub {a},{c}|or {a},{c}|xor {a},{c}|mov {a},{c}|add {a},-8|sub {a},255|and {a},-64|and {a},7|neg {a}|not {a}
lea {a},[{c}+8*{b}-16]|lea {da},[{c}+{b}]|mov {da},{dc}|movsxd {a},{dc}|shl {a},0|shl {a},32|shr {a},3|sar {a},1
shlx {a},{b},{c}|shl {a},cl|ror {a},8|rol {a},cl|shld {a},{b},cl|shrd {a},{b},4|imul {a},{c}|imul {a},{b},8|bswap {a}
cmp {a},{c}; cmovb {a},{b}|test {a},{a}; cmovs {a},{b}|cmp {a},{c}; sbb {b},{b}|bt {a},{b}; setb {la}|xchg {a},{b}
popcnt {a},{c}|tzcnt {a},{c}|bsf {da},{dc}|pext {a},{c},{b}|andn {a},{c},{b}|cmp {a},{b}; jb 1f; 1:
mov [rsp-8],{a}|mov {a},[rsp-8]|mov [rsp-12],{da}|mov {a},[rsp-20]|push {c}; pop {a}|push [rsp-16]; pop {a}
vmovq xmm0,{c}; vpaddq xmm0,xmm0,xmm0; vmovq {a},xmm0
knotq k2,k1; kandq k2,k2,k1; vmovdqu64 ymm0{{k2}}{{z}},[rsp+16]
knotq k2,k1; kandq k2,k2,k1; vpaddq zmm0{{k2}},zmm0,[rsp]
knotq k2,k1; kandq k2,k2,k1; vmovdqu64 [rip+9f]{{k2}},xmm0|mov {da},1; kmovb k1,{da}; vmovdqu64 ymm0{{k1}}{{z}},[rsp-8]
and {da},3; kmovb k1,{da}; vmovdqu64 ymm0{{k1}}{{z}},[rip+9f]|and {da},3; lea {b},[rip+9f]; mov {b},[{b}+8*{a}]
lea {a},[rip+9f]; lea {b},[rsp-16]; sub {a},{b}; mov {a},[{a}+{b}]
"""
NAMES = {"rax": "eax", "rcx": "ecx", "rdx": "edx", "rsi": "esi", "rdi": "edi", "r10": "r10d", "rsp": "esp"}


def junk(chance: random.Random) -> str:
    lines = []
    for _ in range(chance.randint(1, 8)):
        a, b = chance.sample([*NAMES][:-1], 2)
        c = chance.choice([*NAMES])
        form = chance.choice(JUNK.replace("\n", "|").strip("|").split("|"))
        low = a + "b" if a[1:].isdigit() else NAMES[a][1] + "l" if a[2] == "x" else NAMES[a][1:] + "l"
        lines.append(form.format(a=a, b=b, c=c, da=NAMES[a], dc=NAMES[c], la=low))
    return "\n".join(lines)


@pytest.mark.parametrize("number", [20, pytest.param(80, marks=pytest.mark.slow)])
def test_what_has_no_effect_changes_no_verdict(number: int, tmp_path: Path) -> None:
    chance, text = random.Random(number), ".intel_syntax noprefix\n"
    for place in range(number):
        before = junk(chance)
        for name, count in ((f"right{place}", 8), (f"wrong{place}", 7)):
            text += f'.section .text.{name},"ax",@progbits\n.globl {name}\n.type {name},@function\n{name}: mov r9,rdi\n'
            text += f"{before}\nmov rax,r9\nshl rax,{count}\nret\n9: .quad 1,2,3,4\n.size {name},.-{name}\n"
    made = tmp_path / "junk.o"
    subprocess.run([require_tool("as"), "--64", "-o", str(made), "-"], input=text, text=True, check=True)
    prover, task = Prover(), task_of(lower(find("shift.one.nort"), "x86-64", "sysv"))
    for place in range(number):
        right, wrong = (prover.prove(load(made, f"{kind}{place}"), task) for kind in ("right", "wrong"))
        assert (right.status, right.reason) == ("proved", ""), [i.text() for i in right.instructions]
        assert (wrong.status, wrong.reason) == ("refuted", "squares is wrong")
        assert confirm_by_stepping(wrong).status == "confirmed", [i.text() for i in wrong.instructions]
