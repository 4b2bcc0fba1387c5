"""A fill that goes back begins with what the fill against it has, and computes what it did."""

from random import Random

import pytest

from setwise.analysis.spec.evaluator import evaluate
from setwise.codegen.ir.control import repeat
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.values import Value, parameter
from setwise.codegen.passes.share_opposite_fill import share_opposite_fill

BOARD, THERE, HERE = (parameter(at) for at in range(3))
LEFT, RIGHT = BOARD | THERE & BOARD << 9, HERE & BOARD >> 9


def graph(*results: Value) -> Graph:
    return Graph((BOARD, THERE, HERE), results)


@pytest.mark.parametrize("right", [BOARD | RIGHT, RIGHT | BOARD, (BOARD >> 9 & HERE) | BOARD])
@pytest.mark.parametrize("first", [True, False])
def test_it_begins_with_what_the_other_has(right: Value, first: bool) -> None:
    before = graph(*(LEFT << 18, right)[:: 1 if first else -1])
    after = share_opposite_fill(before)
    (back,) = (value for value in after.order if value.op == "shr")
    assert back.args[0] is after.results[0 if first else 1].args[0]
    chance = Random(1)
    for _ in range(100):
        words = [chance.getrandbits(64) for _ in range(3)]
        assert evaluate(after, words) == evaluate(before, words)


@pytest.mark.parametrize(
    "results",
    [
        (BACK := BOARD | RIGHT, BOARD | BACK & BOARD << 9),  # what the other has is made of this one
        (LEFT, BOARD | RIGHT, RIGHT << 1),  # somebody else looks at it
        (LEFT, THERE | RIGHT),
        (LEFT, BOARD | HERE & BOARD >> 8),
    ],
)
def test_it_stays_where_it_would_be_wrong_or_spare_nothing(results: tuple[Value, ...]) -> None:
    before = graph(*results)
    assert share_opposite_fill(before) == before


def test_what_a_body_makes_stays_inside_it() -> None:
    (there,) = repeat(3, lambda path: (BOARD | path & BOARD << 9,), THERE)
    before = graph(there, BOARD | RIGHT)
    assert share_opposite_fill(before) == before
