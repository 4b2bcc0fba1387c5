"""Squares counted, by the instruction or by sums side by side: in each lane, and in all lanes together."""

import pytest

import setwise
from setwise import Board, Number
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.values import constant, parameter, reshaped, total
from setwise.codegen.passes.lower_popcount import lower_popcount
from setwise.codegen.targets import TARGETS
from tests.conftest import few


@setwise.routine
def popcount(squares: Board) -> Number:
    """How many squares there are."""
    return squares.popcount()


popcount.specification(lambda squares: setwise.spec.population(squares))


@pytest.mark.parametrize("isa", few(["bmi2", "x86-64", "sse2"], 1))
def test_a_routine_of_ones_own_that_counts(isa: str) -> None:
    assert popcount.prove(isa, abi="sysv").fine
    assert popcount.check(isa, "sysv", quick=True).fine


def test_an_operation_for_each_lane_where_the_target_counts_no_lanes() -> None:
    boards = reshaped("broadcast", parameter(0), 4)
    one = lower_popcount(Graph((), (total(boards.popcount()),)), TARGETS["avx2"])
    assert sum(value.op == "popcount" for value in one.order) == 4
    assert not {"total", "popcount"} & lower_popcount(Graph((), (boards.popcount(),)), TARGETS["avx2"]).operations


def test_constants_are_counted_when_code_is_made() -> None:
    counts = constant((0xFF, 1, 0, 3)).popcount()
    assert (counts.constant, total(counts).number) == ((8, 1, 0, 2), 11)
