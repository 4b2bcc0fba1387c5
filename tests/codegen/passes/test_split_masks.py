"""A board within two masks is where the boards within one of them meet."""

from random import Random

import pytest

from setwise.analysis.spec.evaluator import evaluate
from setwise.codegen.board import INNER_FILES, NOT_A, NOT_H
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.values import Value, parameter
from setwise.codegen.passes.split_masks import split_masks

BOARD, OTHER = parameter(0), parameter(1)


@pytest.mark.parametrize("turned", [False, True])
def test_both_meet_whichever_comes_first(turned: bool) -> None:
    results = (BOARD & NOT_A, BOARD & NOT_H, BOARD & INNER_FILES)
    before = Graph((BOARD, OTHER), results[::-1] if turned else results)
    after = split_masks(before)
    west, east, inner = after.results[::-1] if turned else after.results
    assert {*inner.args} == {west, east}
    for word in map(Random(1).getrandbits, [64] * 100):
        assert evaluate(after, [word, 0]) == evaluate(before, [word, 0])


def test_one_that_meets_is_within_a_board_that_does() -> None:
    """A board that changes is the same one in all that is made of it."""
    inner = BOARD & NOT_A & INNER_FILES
    within = BOARD & NOT_H | inner
    results = (BOARD & NOT_A, BOARD & NOT_H, BOARD & INNER_FILES, within & NOT_A, within & NOT_H, within & INNER_FILES)
    before = Graph((BOARD, OTHER), results)
    after = split_masks(before)
    masked = [value for value in after.order if value.op == "and" and value.args[1].constant]
    assert len(masked) == len({(value.args[0], value.args[1].constant) for value in masked})
    for word in map(Random(1).getrandbits, [64] * 100):
        assert evaluate(after, [word, 0]) == evaluate(before, [word, 0])


@pytest.mark.parametrize(
    "results",
    [
        (BOARD & NOT_A, BOARD & INNER_FILES),  # not within the other
        (BOARD & NOT_A, OTHER & NOT_H, BOARD & INNER_FILES),  # of another board
        (BOARD & NOT_A, BOARD & NOT_H, BOARD & (INNER_FILES >> 8)),  # less than where they meet
    ],
)
def test_what_is_not_there_is_not_made(results: tuple[Value, ...]) -> None:
    before = Graph((BOARD, OTHER), results)
    assert split_masks(before) == before
