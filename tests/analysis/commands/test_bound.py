"""`setwise bound`: what it prints, records and refuses."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from setwise.analysis.bounds.certificate import check
from tests.analysis.commands.running import Capture, complaint, printed
from tests.conftest import require_module

PROGRAM = "a = sliders << 1; b = ternary 0xf8 (sliders, empty, a); c = b << 1"


def test_steps(capsys: Capture) -> None:
    assert "reach 1, west, fewest operations: x86-64 2, bmi2 2, sse2 2, " in printed(capsys, "bound", "1")


@pytest.mark.slow
def test_answers_are_printed_recorded_and_kept_with_certificates(capsys: Capture, tmp_path: Path) -> None:
    require_module("pysat")
    where = ("--certificates", str(tmp_path / "proofs"), "--record", str(tmp_path / "reports"))
    *steps, row = json.loads(printed(capsys, "bound", "1", "2", "--inputs", "3", "--json", *where))
    assert [step["operations"]["gfni"] for step in steps] == [2, 1, 2, 1, 2, 1, 2, 1]
    assert (row["reach"], row["inputs"], row["at_least"], row["program"]) == (2, 3, 3, PROGRAM)
    assert [none["operations"] for none in row["none"]] == [1, 2]
    assert json.loads((tmp_path / "reports/data/bounds.json").read_text())["rows"] == [row]
    for none in row["none"]:
        name = f"reach2-inputs3-operations{none['operations']}"
        head, *lines = (tmp_path / "proofs" / f"{name}.cnf").read_text().splitlines()
        assert head == f"p cnf {none['variables']} {none['clauses']}"
        formula = [[int(literal) for literal in line.split()[:-1]] for line in lines]
        assert check(formula, (tmp_path / "proofs" / f"{name}.drup").read_text().splitlines()) == none["derived"]
    lines = printed(capsys, "bound", "2", "--most", "2", *where).splitlines()
    assert len(lines) == 4
    assert all(": none (ring of 3, 0 inputs, " in line for line in lines)
    rows = json.loads((tmp_path / "reports/data/bounds.json").read_text())["rows"]
    assert [(row["reach"], row["inputs"], row["program"]) for row in rows] == [(2, 2, ""), (2, 3, "")]


@pytest.mark.slow
def test_what_is_not_decided_in_time_is_told_and_recorded(capsys: Capture, tmp_path: Path) -> None:
    require_module("pysat")
    out = printed(capsys, "bound", "7", "--inputs", "2", "--budget", "0.001", "--record", str(tmp_path))
    assert out == "reach 7, functions of 2 values, 1 operation: not decided in 0.001 s of processor time\n"
    (row,) = json.loads((tmp_path / "data/bounds.json").read_text())["rows"]
    assert (row["at_least"], row["none"], row["tried"][0]["operations"]) == (1, [], 1)


@pytest.mark.slow
def test_whole_words_are_printed_recorded_and_kept_with_certificates(capsys: Capture, tmp_path: Path) -> None:
    require_module("pysat")
    where = ("--certificates", str(tmp_path / "proofs"), "--record", str(tmp_path / "reports"))
    lines = printed(capsys, "bound", "--words", "byte-sums", "--most", "1", *where).splitlines()
    assert lines[0].startswith("byte-sums, general registers, 1 operation: none (6 kinds of programs, 2 cases; ")
    assert lines[1:] == ["byte-sums, vector registers, 1 operation: not ruled out"]
    rows = json.loads((tmp_path / "reports/data/words.json").read_text())["rows"]
    assert [(row["registers"], row["at_least"]) for row in rows] == [("general", 2)]
    assert len([*(tmp_path / "proofs").glob("byte-sums-general-*.drup")]) == 6


@pytest.mark.parametrize(
    ("arguments", "remark"),
    [
        (("0",), "a reach is 1 to 7"),
        (("3", "8"), "a reach is 1 to 7"),
        (("3", "--most", "0"), "--most is 1 to 24"),
        (("3", "--budget", "0"), "--budget takes seconds above 0"),
        (("3", "--budget", "1e300"), "--budget takes seconds above 0, at most 10000000"),
        (("3", "--words", "east"), "--words has no REACH"),
        (("--words", "east", "--most", "5"), "--most is 1 to 4 with --words"),
        (("--words", "east", "--budget", "5"), "--budget is for attacks along a line"),
        (("three",), "invalid int value: 'three'"),
        (("--inputs", "4"), "invalid choice"),
    ],
)
def test_refusals(capsys: Capture, arguments: tuple[str, ...], remark: str) -> None:
    assert remark in complaint(capsys, "bound", *arguments)


def test_without_the_solver_it_says_what_to_install(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pysat.solvers", None)
    assert complaint(capsys, "bound", "2").endswith(": pip install python-sat\n")
