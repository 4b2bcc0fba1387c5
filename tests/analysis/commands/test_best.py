"""`setwise best`: the kernels that it names, and that every variant that it might name is right."""

import json

import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.proof.prover import Prover
from setwise.analysis.run.check import check
from setwise.analysis.run.inputs import make_cases
from setwise.analysis.spec.contracts import task_of
from setwise.codegen.catalogue import find
from setwise.codegen.run.call import runner
from setwise.codegen.run.executable import NotRunnable
from setwise.codegen.variants import enumerate_variants
from tests.analysis.commands.running import printed

OF_EACH_FAMILY = [
    ("sliders.union", "avx2"),
    ("leapers.kings", "avx2"),
    ("kogge-stone.attacks.queen", "sse2"),
    ("push.attacks.vertical", "bmi2"),
    ("dumb7.attacks.sout", "avx2"),
    ("shift.one.noEa", "bmi2"),
    ("subtraction.attacks.east", "bmi2"),
    ("exploding.rook", "bmi2"),
    ("bytewise.add", "bmi2"),
    ("kogge-stone.attacks.nort.batch", "avx2"),
    pytest.param("sliders.union.batch", "avx512", marks=pytest.mark.long),
    ("side.union.white", "avx2"),
]


def test_it_names_the_kernel_for_an_objective(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("best", "leapers.knights", "--cpu", "ice-lake", "--for", "latency", "--isa", "avx2")
    (row,) = json.loads(printed(capsys, *asked, "--json"))
    assert (row["for"], row["isa"], row["cpu"]) == ("latency", "avx2", "ice-lake")
    assert row["latency"] >= row["bound"] > 1
    capsys.readouterr()
    out = printed(capsys, "best", "leapers.knights", "--cpu", "ice-lake")
    assert "For Ice Lake." in out
    assert [line.split()[1] for line in out.splitlines()[2:5]] == ["size", "latency", "throughput"]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "isa"), OF_EACH_FAMILY)
def test_every_variant_is_proved_and_checked(name: str, isa: str) -> None:
    prover = Prover()
    routine = find(name)
    cases = make_cases(routine.contract, quick=True)
    for kernel in enumerate_variants(routine, isa):
        binary = binary_of(kernel)
        assert prover.prove(binary, task_of(kernel)).status == "proved", kernel.variant
        try:
            running = runner(kernel, binary.image, len(binary.data))
        except NotRunnable:
            continue
        with running:
            outcome = check(running.run, cases)
        assert outcome.status == "passed", kernel.variant
