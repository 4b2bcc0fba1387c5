"""`setwise cost`: its table, the marked listing, other people's objects, errors of one line, the second opinion."""

import json
from pathlib import Path

import pytest

from tests.analysis.commands.running import printed
from tests.analysis.listings import compiled


def test_the_listing_marks_the_critical_path(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "cost", "dumb7.attacks.sout", "--abi", "wiki", "--cpu", "zen4")
    assert "Lower bounds in core cycles" in out
    lines = [line.split() for line in out.splitlines() if "rdx,8" in line]
    assert [line[0] for line in lines] == ["1*", "3*", "5*", "7*", "9*", "11*"]


def test_a_loop_is_costed_by_the_round(capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = json.loads(printed(capsys, "cost", "sliders.union.batch", "--isa", "avx2", "--cpu", "zen4", "--json"))
    assert row["part"] == "round"
    assert row["bound"] > 10


def test_code_that_branches_is_costed_by_its_longest_path_or_by_a_call(capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = json.loads(printed(capsys, "cost", "exploding.bishop", "--cpu", "zen4", "--executed", "e4", "0", "--json"))
    assert row["part"] == "executed"
    said = printed(capsys, "cost", "exploding.bishop", "--cpu", "zen4")
    assert "its longest path of " in said
    assert "which arguments need not take" in said
    longest = next(line for line in said.splitlines() if line.startswith("zen4")).split()
    assert float(longest[2]) > row["bound"]


def test_a_function_of_an_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = compiled(tmp_path, "unsigned long f(unsigned long a, unsigned long b) { return (a >> 8 & b) * 3; }")
    assert "shr" in printed(capsys, "cost", "--object", str(made), "--symbol", "f", "--cpu", "zen4")
