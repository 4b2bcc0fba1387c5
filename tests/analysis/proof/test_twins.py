"""The script that compares twins of public programs says of each pair what is so."""

from pathlib import Path

import pytest

from tests.analysis.proof import twins
from tests.analysis.proof.twins import BOARDS, WORD, Pair, Version
from tests.conftest import require_module, require_tool

require_module("bitwuzla")

UP = Version("-O2", "fills.h", "return up(b);")
ROUNDS = Version("-O2", "fills.h", "return rounds(b);")
WRONG = Version("-O2", "fills.h", "return up(b) & ~1;")
ABSENT = Version("-O2", "fills.h", "return down(;")
HEADER = """
static uint64_t up(uint64_t b) { b |= b << 8; b |= b << 16; return b | b << 32; }
static uint64_t rounds(uint64_t b) { for (int n = 0; n < 7; n++) b |= b << 8; return b; }
"""


@pytest.mark.parametrize(
    ("pair", "verdict", "reason"),
    [
        (Pair("fills", "a fill", WORD, (UP, ROUNDS), "c"), "proved", ""),
        (Pair("fills", "a fill in C++", WORD, (UP, ROUNDS)), "proved", ""),
        (Pair("fills", "a wrong fill", WORD, (UP, WRONG), "c"), "refuted", "wrong"),
        (Pair("fills", "no function", WORD, (UP, ABSENT), "c"), "not compiled", "error"),
        (Pair("fills", "no square", BOARDS, (UP, UP), "c"), "not compiled", "undeclared"),
        (Pair("absent/src", "a fill", WORD, (UP, ROUNDS), "c"), "not run", "no checkout"),
    ],
)  # fmt: skip
def test_verdicts(tmp_path: Path, pair: Pair, verdict: str, reason: str) -> None:
    require_tool("gcc")
    require_tool("g++")
    (tmp_path / "fills").mkdir()
    (tmp_path / "fills/fills.h").write_text(HEADER)
    row = twins.judge(tmp_path, pair, "gcc", 20, 3)
    assert row.verdict == verdict, row
    assert reason in row.reason
    assert row.mutants.total() == (3 if verdict == "proved" else 0)
    assert row.mutants["refuted"] >= row.mutants.total() - 1


def test_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without checkouts all pairs are listed, and counted as not run."""
    twins.main([str(tmp_path), "--compiler", "gcc"])
    *rows, total = capsys.readouterr().out.splitlines()
    assert len(rows) == len(twins.PAIRS) == len({(pair.folder, pair.name) for pair in twins.PAIRS})
    assert all("not run" in row for row in rows)
    assert total == f"pairs: {len(rows)} not run"
