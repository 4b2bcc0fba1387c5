"""Every form that kernels use is among those that run on this CPU and in Bochs beside their semantics."""

from collections.abc import Iterable
from functools import cache

import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.decode import Decoded, Mem, Operand, Reg, decode
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from tests.analysis.listings import assemble
from tests.analysis.semantics.forms import forms

# tests/analysis/semantics/test_machines.py tries them in programs.
FLOW = {"jmp", "ret", "ja", "jae", "jb", "jbe", "je", "jne", "js", "jns"}

Form = tuple[str, tuple[str, ...], bool, bool]


def form(instruction: Decoded) -> Form:
    """Mnemonic, kinds and widths of the operands, and how it is masked."""
    operands = tuple(kind(operand) for operand in instruction.operands)
    return instruction.mnemonic, operands, instruction.mask is not None, instruction.zeroing


def kind(operand: Operand) -> str:
    if isinstance(operand, Reg):
        return f"{operand.file} {operand.bits}"
    return f"memory {operand.bits} {operand.broadcast}" if isinstance(operand, Mem) else "immediate"


@cache
def tried() -> frozenset[Form]:
    """The forms that tests/analysis/semantics/test_machines.py tries."""
    return frozenset(form(instruction) for instruction in decode(assemble("\n".join(forms()))))


def untried(decoded: Iterable[Decoded]) -> set[Form]:
    """The forms of these instructions that no test tries; tests/codegen/fills/test_vectors.py asks of every kernel."""
    return {form(one) for one in decoded if one.mnemonic not in FLOW} - tried()


@pytest.mark.parametrize(
    ("name", "isa"),
    [
        ("kogge-stone.attacks.noEa", "x86-64"),
        ("subtraction.attacks.east", "sse2"),
        ("kogge-stone.attacks.west.batch", "avx2"),
        ("sliders.union", "gfni"),
    ],
)
def test_the_forms_that_kernels_use_are_tried(name: str, isa: str) -> None:
    assert untried(decode(binary_of(lower(find(name), isa)).text)) == set()


def test_a_form_that_nothing_tries_is_seen() -> None:
    assert untried(decode(assemble("vpmaddubsw zmm1,zmm2,zmm3; ret"))) != set()
