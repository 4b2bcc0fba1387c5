"""An instruction and an operation that are new: every format, count and cost says them, or refuses in one line."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.decode import decode, features
from setwise.analysis.exports.facts import facts_of
from setwise.codegen.export.formats import FORMATS
from setwise.codegen.export.order import Order
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.routine import Contract, Parameter, Routine
from setwise.codegen.ir.values import Value
from setwise.codegen.kernel import Kernel, plan
from setwise.codegen.pipeline import select_best
from setwise.codegen.targets.table import Refused, Row
from setwise.codegen.targets.vector import AVX512
from tests.codegen.export.sources.exported import sample

SOURCES = ("c", "rust", "zig")
WITHOUT_VECTORS = ("go", "javascript")


def _inverse(_: Layout, board: Value, matrix: Value) -> tuple[Value, ...]:
    return (Value("inverse", (board, matrix), lanes=board.lanes),)


ROUTINE = Routine(
    "test",
    "inverse",
    "",
    Contract((Parameter("board", "board"), Parameter("matrix", "board")), "", ""),
    (_inverse,),
    "",
    "an affine map of each byte's inverse",
    (AVX512.name,),
    batched=True,
)


@cache
def kernel() -> Kernel:
    """A kernel of an operation that stands in no table, by a row that is in no table either."""
    row = Row("inverse", "vgf2p8affineinvqb", "d a B 0", file="vector")
    asked = plan(ROUTINE, AVX512, "sysv", None)
    return select_best(replace(asked, target=replace(AVX512, rows=(*AVX512.rows, row))))


def test_the_bytes_are_there_and_the_decoder_names_their_feature() -> None:
    assert "gfni" in features(decode(binary_of(kernel()).text))


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_says_it_or_refuses_with_operation_set_and_remedy(name: str) -> None:
    order = Order((kernel(),), facts_of, "a test")
    if name not in (*SOURCES, *WITHOUT_VECTORS):
        assert all(FORMATS[name].files(order).values())
        return
    with pytest.raises(ValueError, match=r"test\.inverse for avx512.*use ") as refused:
        FORMATS[name].files(order)
    assert "\n" not in str(refused.value)
    assert name in WITHOUT_VECTORS or "'inverse'" in str(refused.value)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_says_all_operations_or_refuses_in_a_line_what_it_cannot(name: str) -> None:
    """The sample's kernels have every operation of every set; where they come out others compile and prove them."""
    refused = []
    for one in sample().values():
        try:
            assert all(FORMATS[name].files(Order((one,), facts_of, "a test")).values())
        except ValueError as error:
            refused.append((one.name, str(error)))
    assert [said for of, said in refused if not re.fullmatch(rf".*\b{of}\b.*(use|leave) .*", said)] == []
    assert not refused or name in (*SOURCES, *WITHOUT_VECTORS)


def test_a_set_without_the_row_refuses_it_by_name() -> None:
    with pytest.raises(Refused, match=r"avx512 has no instruction for 'inverse': no instruction set has one"):
        select_best(plan(ROUTINE, AVX512, "sysv", None))
