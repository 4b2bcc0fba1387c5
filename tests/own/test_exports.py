"""Exports of own routines: what they record, what verify says of them, and that nothing in them ends a comment."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import setwise
from setwise import Board, Occupied
from setwise.analysis.commands.main import main
from setwise.codegen.export.formats import FORMATS
from tests.analysis.commands.running import Capture, complaint
from tests.conftest import require_tool


def rows(capsys: Capture, *more: str) -> list[tuple[str, ...]]:
    """What verify says of `out`."""
    capsys.readouterr()
    main(["verify", "out", "--json", *more])
    return [tuple(row.values()) for row in json.loads(capsys.readouterr().out)]


def test_a_source_that_was_not_recorded_is_told(mine: Path, capsys: Capture) -> None:
    main(["export", "mine.py", "--format", "nasm", "-o", "out"])
    path = mine.parent / "out" / "metadata.json"
    record = json.loads(path.read_text())
    assert list(record["sources"]) == ["mine.py"]
    del record["sources"]
    path.write_text(json.dumps(record, indent=1) + "\n")
    assert ("mine.py", "as described", "not run", "the export has no digest of this file") in rows(capsys)
    record["sources"] = {"mine.py\u202e": "0" * 64}
    path.write_text(json.dumps(record, indent=1) + "\n")
    assert main(["verify", "out"]) == 2


def test_a_name_that_files_could_not_hold_is_refused(mine: Path, capsys: Capture) -> None:
    shutil.copy(mine, mine.parent / "it's.py")
    assert "path of letters, digits" in complaint(capsys, "export", "it's.py", "--format", "c", "-o", "out")
    assert main(["listing", "it's.py:knight_attacks"]) == 0


@setwise.routine
def hostile(pieces: Board, occupied: Occupied) -> Board:
    """Ends */ comments /* everywhere \\ \u202e ``` %include "x" */"""
    return pieces & occupied


hostile.specification(lambda pieces, occupied: pieces & occupied)


@hostile.requires
def _(pieces: setwise.Word, occupied: setwise.Word) -> object:
    """nothing */ int x; /* \\"""
    return pieces | 1


@pytest.mark.parametrize("format", FORMATS)
def test_no_comment_ends_early(format: str, tmp_path: Path) -> None:
    hostile.export(str(tmp_path / "out"), format, "x86-64", unproved=True, abi="win64" if format == "masm" else None)
    for file in (tmp_path / "out").iterdir():
        if file.suffix not in (".o", ".obj", ".lib", ".a", ".json"):
            text = file.read_text()
            assert "\u202e" not in text
            assert "comments /*" not in text
            assert "everywhere \\" not in text
            assert not [line for line in text.splitlines() if "int x;" in line and line.endswith("\\")]


@pytest.mark.parametrize("format", ["c", "elf", "nasm", "zig"])
def test_two_routines_of_one_name_are_refused(format: str, mine: Path, capsys: Capture) -> None:
    shutil.copy(mine, mine.parent / "other.py")
    said = "mine.py:knight_attacks and other.py:knight_attacks have the same symbol setwise_knight_attacks_x86_64"
    assert said in complaint(capsys, "export", "mine.py", "other.py", "--format", format, "-o", "out")
    assert not (mine.parent / "out").exists()


def test_a_parameter_called_as_a_routine_is_renamed_for_zig(mine: Path) -> None:
    mine.write_text(mine.read_text() + "\n@setwise.routine\ndef knights(x: Board) -> Board:\n    return x << 8\n")
    for form, name in (("zig", "knights_"), ("rust", "knights")):
        assert main(["export", "mine.py", "-o", form, "--unproved", "--format", form]) == 0
        text = next((mine.parent / form).glob("setwise.*")).read_text()
        assert f"pub {'const ' if form == 'rust' else ''}fn knight_attacks({name}: u64)" in text


def test_a_compiler_reads_the_source(tmp_path: Path) -> None:
    hostile.export(str(tmp_path / "out"), "c", "x86-64", unproved=True)
    gcc = require_tool("gcc")
    subprocess.run([gcc, "-Wall", "-Werror", "-fsyntax-only", *(tmp_path / "out").glob("*.h")], check=True)


def test_a_starter_runs_and_is_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "zone"]) == 0
    assert main(["prove", "zone.py", "--isa", "avx2"]) == 0
    assert main(["run", "zone.py:zone", "e4"]) == 0
    written = (tmp_path / "zone.py").read_text()
    assert "zone.py exists already" in complaint(capsys, "new", "zone.py")
    assert (tmp_path / "zone.py").read_text() == written
    names = ("a b", "union", "5", "../x y", "", "knights;", "\u00e9t\u00e9", "none/zone", "x" * 300, "class", "Board")
    for name in names:
        complaint(capsys, "new", name)
    assert {path.name for path in tmp_path.iterdir()} == {"zone.py"}
