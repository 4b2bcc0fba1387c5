"""Routines of the user's own: what one writes, and what every command makes of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import setwise
from setwise import Board
from setwise.analysis.commands.main import main

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


@pytest.mark.parametrize("isa", ["x86-64", "bmi2", "sse2", "avx2", "avx512"])
def test_a_routine_of_a_file_is_proved(mine: Path, isa: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "mine.py:knight_attacks", "--isa", isa]) == 0
    assert " 0 refuted, 0 not proved" in capsys.readouterr().out


def test_a_broken_one_is_refuted(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine.write_text(KNIGHTS.replace("(WEST, SOUT)]", "(WEST, WEST)]"))
    assert main(["prove", "mine.py:knight_attacks", "--isa", "x86-64", "--abi", "sysv"]) == 1
    assert "refuted: knight_attacks is wrong; confirmed by running it" in capsys.readouterr().out


def test_it_is_called_from_python() -> None:
    @setwise.routine
    def two_up(pieces: Board) -> Board:
        """Squares two steps north."""
        return pieces.step(setwise.NORT, setwise.NORT)

    assert two_up(1) == 1 << 16


def test_the_face_is_what_it_says() -> None:
    code = "import setwise; assert all(hasattr(setwise, name) for name in setwise.__all__)"
    subprocess.run([sys.executable, "-c", code], check=True)
