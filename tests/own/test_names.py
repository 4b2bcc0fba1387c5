"""Wherever a name is taken, `file.py:function`, `file.py` and `package.module:function` are."""

from __future__ import annotations

from pathlib import Path

import pytest

from setwise.analysis.commands.main import main
from tests.own.conftest import KNIGHTS


@pytest.mark.parametrize("isa", ["x86-64", "bmi2", "sse2", "avx2", "avx512"])
def test_a_routine_of_a_file_is_proved(mine: Path, isa: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "mine.py:knight_attacks", "--isa", isa]) == 0
    assert " 0 refuted, 0 not proved" in capsys.readouterr().out


def test_a_broken_one_is_refuted(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine.write_text(KNIGHTS.replace("(WEST, SOUT)]", "(WEST, WEST)]"))
    assert main(["prove", "mine.py:knight_attacks", "--isa", "x86-64", "--abi", "sysv"]) == 1
    assert "refuted: knight_attacks is wrong; confirmed by running it" in capsys.readouterr().out
