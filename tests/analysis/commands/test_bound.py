"""`setwise bound`: what it prints, records and refuses."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

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
        (part,) = none["parts"]
        name = f"reach2-inputs3-operations{none['operations']}-rest"
        head, *lines = (tmp_path / "proofs" / f"{name}.cnf").read_text().splitlines()
        assert head.endswith(f" {part['clauses']}")
        formula = [[int(literal) for literal in line.split()[:-1]] for line in lines]
        assert check(formula, (tmp_path / "proofs" / f"{name}.drup").read_text().splitlines()) == part["derived"]
    lines = printed(capsys, "bound", "2", "--most", "2", *where).splitlines()
    assert len(lines) == 4
    assert all(": none (all kinds of programs at once, 0 inputs " in line for line in lines)
    rows = json.loads((tmp_path / "reports/data/bounds.json").read_text())["rows"]
    assert [(row["reach"], row["inputs"], row["program"]) for row in rows] == [(2, 2, ""), (2, 3, PROGRAM)]


@pytest.mark.slow
def test_a_certificate_for_each_kind_of_programs(capsys: Capture, tmp_path: Path) -> None:
    require_module("pysat")
    lines = printed(capsys, "bound", "3", "--inputs", "2", "--most", "5", "--certificates", str(tmp_path)).splitlines()
    assert ": none (1 kind of programs, the others at once, 3 inputs at most; certificates checked, " in lines[-1]
    kinds = "function-shift-function-shift-function"
    names = {path.name for path in tmp_path.glob("*operations5*.drup")}
    assert names == {f"reach3-inputs2-operations5-{which}.drup" for which in ("rest", kinds)}


@pytest.mark.slow
def test_what_is_not_decided_in_time_is_told_and_recorded(capsys: Capture, tmp_path: Path) -> None:
    require_module("pysat")

    def bound(budget: str) -> tuple[str, dict[str, Any]]:
        where = ("--inputs", "2", "--most", "6", "--budget", budget, "--record", str(tmp_path))
        line = printed(capsys, "bound", "3", *where).splitlines()[-1]
        (row,) = json.loads((tmp_path / "data/bounds.json").read_text())["rows"]
        return line, row

    line, row = bound("0.001")
    kind = "(1 kind of programs, the others at once, 1 open)"
    assert line == f"reach 3, functions of 2 values, 5 operations: not decided {kind}"
    (tried,) = row["tried"]
    assert (row["at_least"], len(row["none"]), len(tried["open"]), tried["seconds"]) == (5, 4, 1, 0.001)
    line, row = bound("60")
    assert "6 operations: none (14 kinds of programs, the others at once, " in line
    assert (row["at_least"], row["tried"]) == (7, [])


@pytest.mark.slow
def test_what_was_decided_is_not_asked_again_where_others_are_open(capsys: Capture, tmp_path: Path) -> None:
    require_module("pysat")
    where = ("bound", "3", "--inputs", "2", "--most", "6", "--record", str(tmp_path))
    printed(capsys, *where)
    path = tmp_path / "data/bounds.json"
    held = json.loads(path.read_text())
    (row,) = held["rows"]
    none = row["none"].pop()
    *parts, last = none["parts"]
    tried = {"open": [last["kinds"]], "seconds": 1.0, "date": "2026-01-31", "processor": "a processor"}
    for part in parts[1:]:
        part["derived"] += 1_000_000
    left = {**row, "at_least": 6, "tried": [{**none, **tried, "parts": parts}]}
    path.write_text(json.dumps({**held, "rows": [left]}))
    printed(capsys, *where)
    (again,) = json.loads(path.read_text())["rows"]
    assert again["at_least"] == 7
    assert again["none"][-1]["parts"] == [*parts, last]


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
