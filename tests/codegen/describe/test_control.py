"""Loops that are gone round once at least, and bodies whose values come in the order that is told."""

from __future__ import annotations

import pytest

from setwise.codegen.describe.control import below, once_and_while, sequence
from setwise.codegen.describe.layout import Layout
from setwise.codegen.describe.routine import Contract, Parameter, Routine
from setwise.codegen.describe.values import Value, constant
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower


def routine(name: str, first: int) -> Routine:
    """Shifts a board by 9 and by 13, the one of that number first, joins them, and goes on while they are small."""

    def describe(_: Layout, board: Value) -> tuple[Value, ...]:
        def body(board: Value) -> tuple[Value, ...]:
            parts = board << 9, board << 13
            return (parts[0] | parts[1], sequence(parts[first], parts[1 - first]))

        return once_and_while(lambda board: below(board, 1 << 20), body, board)

    contract = Contract((Parameter("board", "board"),), "", "")
    return Routine("told", name, "", contract, (describe,), "", "a board", ("x86-64",))


def shifts(kernel: Kernel) -> list[int]:
    """By how much the code shifts to the left, in its order."""
    return [int(str(i.operands[1])) for i in kernel.code.instructions if i.mnemonic == "shl"]


@pytest.mark.parametrize("first", [0, 1])
def test_values_come_in_the_order_told(first: int) -> None:
    assert shifts(lower(routine(f"first-{first}", first))) == [[9, 13], [13, 9]][first]


def test_a_loop_is_gone_round_once_at_least() -> None:
    (board,) = once_and_while(lambda board: below(board, 1), lambda board: (board + 1,), constant(7))
    assert board.region is not None
