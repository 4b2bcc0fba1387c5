"""A user's file, in the directory where commands run."""

from pathlib import Path

import pytest

KNIGHTS = '''\
import setwise
from setwise import EAST, NORT, SOUT, WEST, Board

JUMPS = [(NORT, EAST), (NORT, WEST), (SOUT, EAST), (SOUT, WEST), (EAST, NORT), (EAST, SOUT), (WEST, NORT), (WEST, SOUT)]


@setwise.routine
def knight_attacks(knights: Board) -> Board:
    """Squares that knights attack."""
    return setwise.union(knights.step(a, a, b) for a, b in JUMPS)


@knight_attacks.specification
def _(knights):
    found = 0
    for square in range(64):
        for file, rank in ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)):
            file, rank = square % 8 + file, square // 8 + rank
            if 0 <= file < 8 and 0 <= rank < 8:
                found = found | ((knights >> square & 1) << (8 * rank + file))
    return found
'''


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a routine, in the directory where commands run."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.py"
    path.write_text(KNIGHTS)
    return path
