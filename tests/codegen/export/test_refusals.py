"""An instruction and an operation that are new: every format, count and cost says them, or refuses in one line."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest

from setwise.analysis.code.decode import decode, features
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.exports.facts import facts_of
from setwise.analysis.run.steps import Machine
from setwise.codegen.describe.layout import Layout
from setwise.codegen.describe.operations import OPERATIONS
from setwise.codegen.describe.routine import Contract, Parameter, Routine
from setwise.codegen.describe.values import Value, constant
from setwise.codegen.export.formats import FORMATS
from setwise.codegen.export.order import Order
from setwise.codegen.kernel import Kernel, plan
from setwise.codegen.lower import PIPELINE, lower
from setwise.codegen.targets import TARGETS
from setwise.codegen.targets.table import Refused, Row
from setwise.codegen.targets.vector import AVX512, GFNI
from setwise.codegen.variants import best, size
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
    boards=True,
)


@cache
def kernel() -> Kernel:
    """A kernel of an operation that stands in no table, by a row that is in no table either."""
    row = Row("inverse", "vgf2p8affineinvqb", "d a B 0", file="vector")
    asked = plan(ROUTINE, AVX512, "sysv", None)
    return best(PIPELINE, replace(asked, target=replace(AVX512, rows=(*AVX512.rows, row))), size)


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


_MIRROR = 0x8040_2010_0804_0201


def _mapped(order: int) -> Kernel:
    """Each byte's bits mirrored by a constant matrix; or a constant's bytes by the boards as matrices."""

    def describe(_: Layout, board: Value) -> tuple[Value, ...]:
        args = (board, constant(_MIRROR, board.lanes))
        return (Value("affine", args[::order], (0,) * board.lanes, board.lanes),)

    contract = Contract((Parameter("board", "board"),), "", "")
    return lower(replace(ROUTINE, contract=contract, descriptions=(describe,), isas=(GFNI.name,)), GFNI.name, lanes=2)


@pytest.mark.parametrize("order", [1, -1], ids=["a constant matrix", "data as the matrix"])
def test_bytes_are_mapped_with_the_operands_in_both_orders(order: int) -> None:
    code, numbers = binary_of(_mapped(order)), (0x0123_4567_89AB_CDEF, 0x8000_0000_0000_0001)
    result = Machine(code, {"zmm0": (*numbers, *(0,) * 6)}).run().vectors["zmm0"][:2]
    assert result == tuple(OPERATIONS["affine"].of(*(number, _MIRROR)[::order], 0) for number in numbers)
    if order == 1:
        mirrored = [[int(f"{byte:08b}"[::-1], 2) for byte in number.to_bytes(8)] for number in numbers]
        assert [list(lane.to_bytes(8)) for lane in result] == mirrored


def test_a_set_without_the_row_refuses_it_by_name() -> None:
    with pytest.raises(Refused, match=r"avx512 has no instruction for 'inverse': no instruction set has one"):
        best(PIPELINE, plan(ROUTINE, AVX512, "sysv", None), size)


def test_where_other_sets_have_a_row_they_are_named() -> None:
    def rotated(_: Layout, board: Value, matrix: Value) -> tuple[Value, ...]:
        return (Value("gather", (board, matrix)),)

    routine = replace(ROUTINE, descriptions=(rotated,), isas=tuple(TARGETS), boards=False)
    with pytest.raises(Refused, match=r"^x86-64 has no instruction for 'gather': use bmi2, avx2, avx512 or gfni$"):
        lower(routine, "x86-64")
