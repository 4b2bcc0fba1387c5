"""Walls: what stops a ray, gathered side by side."""

from hypothesis import example, given
from hypothesis import strategies as st

from setwise.analysis.spec import raywalk
from setwise.codegen.board import ALL, FILE_A, FILE_H
from setwise.codegen.fills.blockers import west_by_gathering
from setwise.codegen.ir.values import constant

BOARDS = st.integers(0, ALL)


@given(rooks=BOARDS, others=BOARDS)
@example(rooks=FILE_A | FILE_H, others=0)
@example(rooks=ALL, others=0)
def test_rooks_attack_westward_up_to_their_wall(rooks: int, others: int) -> None:
    occupied = rooks | others
    reached = west_by_gathering(constant(rooks), constant(occupied | FILE_A | FILE_H))
    assert reached.number == raywalk.attacks("west", rooks, ~occupied & ALL)
