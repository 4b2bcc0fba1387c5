"""LLVM's decoder reads the bytes of all forms with semantics as iced-x86 does: lengths, mnemonics, operands, masks."""

from dataclasses import replace
from typing import Any

import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.decode import decode
from setwise.analysis.code.second_decoder import differences
from setwise.codegen.catalogue import catalogue
from setwise.codegen.lower import lower
from setwise.codegen.targets import ALL_SETS
from tests.analysis.listings import assemble
from tests.analysis.semantics.forms import forms
from tests.conftest import require_tool

require_tool("llvm-mc-19")


def test_two_decoders_agree_on_every_form() -> None:
    assert differences(decode(assemble("\n".join(forms())))) == []


def test_a_wrong_decoder_is_seen() -> None:
    (shift,) = decode(bytes.fromhex("48c1e208"))
    assert differences([shift]) == []
    wrong: list[dict[str, Any]] = [
        {"mnemonic": "shr"},
        {"raw": shift.raw + b"\x90"},
        {"operands": shift.operands[::-1]},
    ]
    for change in wrong:
        assert len(differences([replace(shift, **change)])) == 1


@pytest.mark.parametrize(
    "isa", [isa if isa == "gfni" else pytest.param(isa, marks=pytest.mark.slow) for isa in ALL_SETS]
)
def test_two_decoders_agree_on_every_kernel(isa: str) -> None:
    routines = [each for each in catalogue().values() if isa in each.isas]
    assert routines
    kernels = (lower(each, isa) for each in (routines[::40] if isa == "gfni" else routines))
    assert differences(one for kernel in kernels for one in decode(binary_of(kernel).text)) == []
