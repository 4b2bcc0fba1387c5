"""Reads of a block or of the stack at an unknown index are followed, and those outside are found."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from setwise.analysis.code.objects import ObjectFunction
from setwise.analysis.proofs import Proof, prove_same
from setwise.analysis.spec.prototype import Prototype
from tests.analysis.listings import assembled, compiled
from tests.conftest import require_module

require_module("bitwuzla")

BYTES = "uint64_t f(const uint8_t t[64], uint64_t a)"
TWO = "uint64_t f(const uint8_t t[64], uint64_t a, const uint8_t u[64])"
CHANGED = "uint64_t f(uint8_t t[8], uint64_t a)"
READS = {
    "a byte": (BYTES, "movzx eax,byte ptr [rdi+rsi]", "t[{k}]"),
    "eight bytes": (BYTES, "mov rax,[rdi+rsi]", ""),
    "a byte before": (BYTES, "movzx eax,byte ptr [rdi+rsi-8]", ""),
    "a byte of each of two": (TWO, "movzx eax,byte ptr [rdi+rsi]; add al,[rdx+rsi]", "t[{k}] + u[{k}] & 255"),
}
"""The prototype, the code, and what it gives at index k, if it stays inside for all of 64."""


def judged(folder: Path, prototype: str, code: str, text: str) -> Proof:
    file = folder / "spec.py"
    taken = "t, a, u" if prototype == TWO else "t, a"
    file.write_text(f"def f({taken}):\n    return {text}\n")
    made = assembled(folder, f".intel_syntax noprefix\n.globl f\n.type f,@function\nf: {code}\nret\n.size f,.-f\n")
    return prove_same(ObjectFunction(str(made), "f"), f"{file}:f", Prototype(prototype))


def by_index(texts: Iterable[str]) -> str:
    """The text for the lowest bits of `a`, of which there are as many as tell the texts apart."""
    given = list(texts)
    return " | ".join(f"(({text}) & (0 - ((a & {len(given) - 1}) == {k})))" for k, text in enumerate(given))


@pytest.mark.parametrize("kind", [kind for kind, (*_, given) in READS.items() if given])
def test_reads_inside_are_proved(tmp_path: Path, kind: str) -> None:
    prototype, code, given = READS[kind]
    text = by_index(given.format(k=k) for k in range(64))
    assert judged(tmp_path, prototype, f"and esi,63; {code}", text).status == "proved"


@pytest.mark.parametrize("kind", READS)
@pytest.mark.parametrize("mask", [127, 255])
def test_reads_outside_are_refuted(tmp_path: Path, kind: str, mask: int) -> None:
    """Even if bytes of another block may be there."""
    prototype, code, _ = READS[kind]
    proof = judged(tmp_path, prototype, f"and esi,{mask}; {code}", "0")
    assert proof.status == "refuted"
    assert "outside" in proof.why


def test_a_read_that_is_not_used_must_be_inside(tmp_path: Path) -> None:
    code = "and esi,64; mov al,[rdi+rsi]; xor eax,eax"
    assert judged(tmp_path, BYTES, code, "0").status == "refuted"
    assert judged(tmp_path, BYTES, code.replace("64", "32"), "0").status == "proved"


def test_a_read_sees_what_was_written(tmp_path: Path) -> None:
    code = "mov byte ptr [rdi+3],9; and esi,7; movzx eax,byte ptr [rdi+rsi]"
    chosen = by_index("9" if k == 3 else f"t[{k}]" for k in range(8))
    after = "[*t[:3], 9, *t[4:]]"
    assert judged(tmp_path, CHANGED, code, f"({chosen}, {after})").status == "proved"
    wrong = chosen.replace("9", "t[3]")
    assert judged(tmp_path, CHANGED, code, f"({wrong}, {after})").status == "refuted"


def test_a_table_on_the_stack(tmp_path: Path) -> None:
    code = "mov [rsp-16],rsi; mov [rsp-8],rsi; and esi,{mask}; movzx eax,byte ptr [rsp+rsi-16]"
    chosen = by_index(f"a >> {8 * (k % 8)} & 255" for k in range(16))
    assert judged(tmp_path, BYTES, code.format(mask=15), chosen).status == "proved"
    assert judged(tmp_path, BYTES, code.format(mask=63), chosen).status != "proved"


def test_a_negative_index_is_outside(tmp_path: Path) -> None:
    text = "unsigned long f(const unsigned char *t, unsigned long a) { return t[(signed char)(a & 191)]; }"
    function = ObjectFunction(str(compiled(tmp_path, text)), "f")
    assert prove_same(function, function, Prototype(BYTES)).status != "proved"
