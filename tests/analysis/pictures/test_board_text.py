"""Boards on the screen."""

from __future__ import annotations

import re

from setwise.analysis.commands.check import drawn
from setwise.analysis.pictures.board_text import boards
from setwise.analysis.run.check import Mismatch
from setwise.codegen.catalogue import find
from tests.analysis.commands.running import drawings


def test_boards_come_in_rows_of_four() -> None:
    lines = boards([(f"board {n}", n) for n in range(6)]).splitlines()
    assert len(lines) == 2 * 10 + 1
    assert re.findall(r"board \d", lines[0]) == [f"board {n}" for n in range(4)]
    assert re.findall(r"board \d", lines[11]) == ["board 4", "board 5"]


def test_a_case_that_went_wrong_is_drawn_on_the_routines_board() -> None:
    """h1 = 0: square 28 is d4, and 32 h5."""
    contract = find("exploding.direction.big-endian").contract
    words = (("square", 28), ("direction", 5), ("white", 1 << 32), ("black", 0))
    shown = drawn(contract, Mismatch(7, words, (1 << 29,), (1 << 27,)))
    assert shown.startswith("case 7\nsquare: d4 (28)\ndirection: west (5)\n\n")
    squares = {"white": 1 << 39, "black": 0, "attacks, expected": 1 << 26, "attacks, got": 1 << 28}
    assert drawings(shown) == squares
