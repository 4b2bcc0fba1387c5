"""An instruction and an operation that are new: every format, count and cost says them, or refuses in one line."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from setwise.analysis.code.decode import decode, features
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.cost.bounds import cost
from setwise.analysis.cost.processors import PROCESSORS, UnknownCost
from setwise.analysis.exports.facts import facts_of
from setwise.codegen.describe.layout import Layout
from setwise.codegen.describe.routine import Contract, Parameter, Routine
from setwise.codegen.describe.values import Value
from setwise.codegen.export.formats import FORMATS
from setwise.codegen.export.order import Order
from setwise.codegen.kernel import Kernel, plan
from setwise.codegen.lower import PIPELINE, lower
from setwise.codegen.targets import TARGETS
from setwise.codegen.targets.table import Refused, Row
from setwise.codegen.targets.vector import AVX512
from setwise.codegen.variants import best, size

SOURCES = ("c", "rust", "zig")


def _affine(_: Layout, board: Value, matrix: Value) -> tuple[Value, ...]:
    return (Value("affine", (board, matrix), lanes=board.lanes),)


ROUTINE = Routine(
    "test",
    "affine",
    "",
    Contract((Parameter("board", "board"), Parameter("matrix", "board")), "", ""),
    (_affine,),
    "",
    "an affine map of each byte",
    (AVX512.name,),
    boards=True,
)


@cache
def kernel() -> Kernel:
    """A kernel of an operation that stands in no table, by a row that is in no table either."""
    row = Row("affine", "vgf2p8affineqb", "d a B 0", file="vector")
    asked = plan(ROUTINE, AVX512, "sysv", None)
    return best(PIPELINE, replace(asked, target=replace(AVX512, rows=(*AVX512.rows, row))), size)


def test_the_bytes_are_there_and_the_decoder_names_their_feature() -> None:
    assert "gfni" in features(decode(binary_of(kernel()).text))


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_says_it_or_refuses_with_operation_set_and_remedy(name: str) -> None:
    order = Order((kernel(),), facts_of, "a test")
    if name not in (*SOURCES, "go"):
        assert all(FORMATS[name].files(order).values())
        return
    with pytest.raises(ValueError, match=r"test\.affine for avx512.*use ") as refused:
        FORMATS[name].files(order)
    assert "\n" not in str(refused.value)
    assert name == "go" or "'affine'" in str(refused.value)


def test_a_set_without_the_row_refuses_it_by_name() -> None:
    with pytest.raises(Refused, match=r"avx512 has no instruction for 'affine': no instruction set has one"):
        best(PIPELINE, plan(ROUTINE, AVX512, "sysv", None), size)


def test_each_processor_knows_its_cost_or_says_what_it_lacks() -> None:
    said = {}
    for on in PROCESSORS:
        try:
            said[on.name] = f"{cost(decode(binary_of(kernel()).text)[:-1], on).latency:g} cycles"
        except UnknownCost as error:
            said[on.name] = str(error)
    assert said["zen3"].startswith("AMD Zen 3 has no avx512f, which 'vgf2p8affineqb ")
    assert said["skylake-server"].startswith("Skylake-SP, Cascade Lake has no gfni, which 'vgf2p8affineqb ")
    for name in ("ice-lake", "zen4"):
        assert said[name].endswith(" cycles") or ": no row for 'vgf2p8affineqb' of form z" in said[name]


def test_where_other_sets_have_a_row_they_are_named() -> None:
    def rotated(_: Layout, board: Value, matrix: Value) -> tuple[Value, ...]:
        return (Value("gather", (board, matrix)),)

    routine = replace(ROUTINE, descriptions=(rotated,), isas=tuple(TARGETS), boards=False)
    with pytest.raises(Refused, match=r"^x86-64 has no instruction for 'gather': use bmi2, avx2 or avx512$"):
        lower(routine, "x86-64")
