"""`setwise count` of kernels' code; of what a call executes: tests/analysis/run/test_executed.py."""

import json
import os
from pathlib import Path

import pytest

from tests.analysis.commands.running import DUMB7, KOGGE_STONE, Capture, complaint, printed


def test_count_as_json(capsys: Capture) -> None:
    rows = json.loads(printed(capsys, "count", DUMB7, KOGGE_STONE, "--abi", "wiki", "--json"))
    sums = {"name", "isa", "lanes", "abi", "instructions", "memory_operands", "bytes"}
    for row in rows:
        classes = ("moves", "operations", "constants", "transfers", "loads", "stores", "branches", "stack", "other")
        assert {*sums, *classes} <= row.keys()
        assert sum(row[key] for key in classes) == row["instructions"]
    assert [(row["name"], row["moves"], row["operations"], row["instructions"]) for row in rows] == [
        (DUMB7, 1, 19, 20),
        (KOGGE_STONE, 5, 14, 19),
    ]
    assert {(row["isa"], row["abi"], row["lanes"]) for row in rows} == {("x86-64", "wiki", 1)}


def test_count_as_a_table(capsys: Capture) -> None:
    head, rule, *rows = printed(capsys, "count", "dumb7.attacks.*t", "--abi", "win64").splitlines()
    assert head.split()[:5] == ["name", "isa", "abi", "instructions", "moves"]
    assert set(rule) == {"-", " "}
    assert [row.split()[:3] for row in rows] == [
        [f"dumb7.attacks.{name}", "x86-64", "win64"] for name in ("east", "sout", "west", "nort")
    ]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
@pytest.mark.parametrize("kind", ["fifo", "endless", "directory", "circle", "sparse"])
def test_positions_are_read_from_regular_files_alone(kind: str, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "positions"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "endless":
        path.symlink_to("/dev/zero")
    elif kind == "circle":
        path.symlink_to("positions")
    elif kind == "directory":
        path.mkdir()
    else:
        with path.open("wb") as file:
            file.truncate(1 << 40)
    said = complaint(capsys, "count", "sliders.union", "--over", str(path))
    assert said.endswith(": give a file of FENs of up to 16 MiB\n")


def test_one_position_is_called_so(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "one.fen").write_text("8/8/8/3R4/8/8/8/k1K5 w\n")
    out = printed(capsys, "count", DUMB7, "--over", str(tmp_path / "one.fen"))
    assert out.endswith("\n1 position\n")


def test_a_routine_of_very_many_operations_is_refused(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "many.py"
    body = "    for _ in range(50_000):\n        x = (x << 1) ^ (x >> 3)\n    return x\n"
    file.write_text(f"import setwise\n\n@setwise.routine\ndef many(x: setwise.Board) -> setwise.Board:\n{body}")
    assert "has more than 4,096 operations" in complaint(capsys, "count", str(file), "--isa", "x86-64")
