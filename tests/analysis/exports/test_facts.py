"""What exporters are told about a kernel: read off its bytes, and right."""

import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.exports.facts import facts_of
from setwise.analysis.proof.prover import Prover
from setwise.analysis.spec.contracts import task_of
from tests.codegen.export.exports import kernel
from tests.conftest import require_module


@pytest.mark.parametrize(
    ("names", "changed"),
    [
        (("dumb7.attacks.sout", "x86-64", "sysv"), ("rax", "rdi", "flags")),
        (("kogge-stone.attacks.sout", "sse2", "sysv"), ("xmm0-xmm2",)),
        (("kogge-stone.attacks.sout", "avx2", "win64"), ("ymm0-ymm2",)),
        (("sliders.pair", "avx512", "sysv"), ("zmm16-zmm20",)),
    ],
)
def test_what_is_changed(names: tuple[str, ...], changed: tuple[str, ...]) -> None:
    assert facts_of(kernel(*names)).changed == changed


def test_saved_vectors_keep_their_lower_lanes_alone() -> None:
    """vzeroupper clears the upper lanes of all of them, and Win64 lets it."""
    said = facts_of(kernel("kogge-stone.attacks.rook.batch", "avx2", "win64")).changed
    assert "upper lanes of ymm6-ymm15" in said
    assert "ymm0-ymm5" in said


def test_registers_changed_are_those_of_the_proof() -> None:
    require_module("bitwuzla")
    prover = Prover()
    for names in (("kogge-stone.attacks.noWe", "bmi2"), ("exploding.rook",), ("dumb7.occluded-until-dry.east",)):
        for abi in ("sysv", "win64"):
            one = kernel(*(*names, "x86-64")[:2], abi)
            found = {name for name in facts_of(one).changed if name.startswith("r")}
            proved = prover.prove(binary_of(one), task_of(one))
            assert found == {name for name in proved.written(kept=False) if name.startswith("r")}
