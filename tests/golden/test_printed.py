"""What commands print does not change unseen."""

import pytest

from tests.conftest import require_module
from tests.golden.printed import ANSWERS, HEAD, HELP, KERNELS, PYTHON, answers, helps

LONG = (
    "bytewise.carry-loop-64 --isa x86-64",
    "exploding.direction --isa x86-64",
    "sliders.counts --isa avx512",
    "sliders.union.batch --isa avx2",
)
"""The kernels whose proofs take seconds."""


@pytest.mark.parametrize(
    "kernel", [pytest.param(kernel, marks=pytest.mark.slow if kernel in LONG else ()) for kernel in KERNELS]
)
def test_figures_are_as_recorded(kernel: str) -> None:
    require_module("bitwuzla")
    lines = ANSWERS.read_text(encoding="ascii").splitlines()
    assert list(answers([kernel])) == [line for line in lines if line.partition(" ")[2].startswith(f"{kernel} {{")]


def test_help_is_as_recorded() -> None:
    head, python, _, *lines = HELP.read_text(encoding="ascii").splitlines()
    assert head == HEAD
    if python != PYTHON:
        pytest.skip(f"not run: recorded with {python.partition(':')[0].removeprefix('# ')}")
    assert lines == helps().splitlines()
