"""Sums whose parts are proved one by one; a sum that lacks a part, or has one twice, is refuted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.proof.prover import Prover
from setwise.analysis.spec.contracts import task_of
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from tests.conftest import require_module

require_module("bitwuzla")


def test_counts_are_proved_and_broken_ones_refuted() -> None:
    kernel, prover = lower(find("sliders.counts"), "avx2"), Prover()
    binary, task = binary_of(kernel), task_of(kernel)
    certificate = prover.prove(binary, task)
    assert certificate.status == "proved"
    adds = [each for each in certificate.instructions if each.mnemonic == "add"]
    for broken in adds[0], adds[-1]:
        text = bytearray(binary.text)
        text[broken.offset : broken.offset + broken.length] = b"\x90" * broken.length
        refuted = prover.prove(replace(binary, text=bytes(text)), task)
        assert (refuted.status, refuted.reason) == ("refuted", "moves is wrong")
        assert refuted.counterexample is not None
        assert refuted.counterexample.expected != refuted.counterexample.got


@pytest.mark.slow
@pytest.mark.parametrize("isa", ["bmi2", "avx512"])
def test_each_sum_of_several_is_proved(isa: str) -> None:
    kernel = lower(find("sliders.mobility"), isa)
    assert Prover().prove(binary_of(kernel), task_of(kernel)).status == "proved"
