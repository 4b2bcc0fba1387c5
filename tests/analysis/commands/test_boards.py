"""Boards on the screen."""

from __future__ import annotations

import re

from setwise.analysis.commands.boards import boards


def test_boards_come_in_rows_of_four() -> None:
    lines = boards([(f"board {n}", n) for n in range(6)]).splitlines()
    assert len(lines) == 2 * 10 + 1
    assert re.findall(r"board \d", lines[0]) == [f"board {n}" for n in range(4)]
    assert re.findall(r"board \d", lines[11]) == ["board 4", "board 5"]
