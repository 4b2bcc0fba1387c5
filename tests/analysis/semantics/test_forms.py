"""Every form that kernels use is among those that run on this CPU and in Bochs beside their semantics."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from setwise.analysis.code.decode import Decoded, Mem, Operand, Reg, decode
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.commands.jobs import jobs_of
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.lower import lower
from setwise.codegen.targets.table import Refused
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


def untried(names: Iterable[str]) -> dict[Form, str]:
    """The forms that these routines' kernels use and that no test tries, each with a kernel that does."""
    tried = {form(instruction) for instruction in decode(assemble("\n".join(forms())))}
    found: dict[Form, str] = {}
    for job in jobs_of([find(name) for name in names], None, "sysv"):
        try:
            kernel = lower(job.routine, job.isa, job.abi, job.lanes)
        except Refused:
            continue
        for instruction in decode(binary_of(kernel).text):
            if instruction.mnemonic not in FLOW and form(instruction) not in tried:
                found[form(instruction)] = f"{job.title}: {instruction.text()}"
    return found


def test_the_forms_that_some_kernels_use_are_tried() -> None:
    names = ["kogge-stone.attacks.noEa", "subtraction.attacks.east", "kogge-stone.attacks.west.batch", "sliders.union"]
    assert untried(names) == {}


@pytest.mark.slow
def test_all_forms_that_kernels_use_are_tried() -> None:
    assert untried(catalogue()) == {}
