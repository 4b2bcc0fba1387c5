"""The games and puzzles among the examples: short, proved or checked, and drawn as games/pictures.txt shows."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from setwise.analysis.commands.main import main
from tests.conftest import require_module, runs
from tests.golden.games import FOLDER, PICTURES, SHOWN, picture

FILES = sorted(path.name for path in FOLDER.glob("*.py"))
CHECKED = ("component.py", "go_capture.py")
"""The files with a loop along chains of squares, which is too long for a proof."""
QUICK = ("breakthrough.py", "draughts.py", "forks.py", "life.py", "lights_out.py", "othello_flips.py")
"""The files that the quick tests prove."""

SLOW = pytest.mark.slow

each = pytest.mark.parametrize("file", FILES)
each_quick = pytest.mark.parametrize(
    "file", [pytest.param(file, marks=() if file in QUICK else SLOW) for file in FILES]
)


@pytest.fixture(autouse=True)
def beside_the_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run where the files are."""
    monkeypatch.chdir(FOLDER)


@each
def test_it_imports_setwise_and_is_short(file: str) -> None:
    text = Path(file).read_text("utf-8")
    nodes = list(ast.walk(ast.parse(text)))
    named = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    named |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    assert named <= {"functools", "itertools", "setwise", "typing"}
    assert len(text.splitlines()) < 30


@SLOW
def test_a_strict_type_checker_accepts_them() -> None:
    command = [sys.executable, "-m", "mypy", "--strict", *FILES]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(FOLDER.parents[2])}
    )
    assert done.returncode == 0, done.stdout


def wrong(file: str, capsys: pytest.CaptureFixture[str], *flags: str) -> list[object]:
    """Prove or check a file's kernels of one calling convention, and return the results other than `right`."""
    command, right = ("check", "passed") if file in CHECKED else ("prove", "proved")
    if command == "prove":
        require_module("bitwuzla")
    main([command, file, "--abi", "sysv", "--json", *flags])
    results = [row["status"] for row in json.loads(capsys.readouterr().out)]
    assert results
    return [result for result in results if result != right]


@each_quick
def test_it_is_right(file: str, capsys: pytest.CaptureFixture[str]) -> None:

    assert wrong(file, capsys, "--isa", "bmi2", *["--quick"] * (file in CHECKED)) == []


@SLOW
@pytest.mark.long
@each
def test_it_is_right_on_every_set(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert wrong(file, capsys) == []


def test_each_has_its_picture() -> None:
    assert [shown.split()[0] for shown in SHOWN] == FILES


@runs
@pytest.mark.parametrize("shown", SHOWN)
def test_its_picture(shown: str) -> None:
    assert f"{picture(shown)}\n" in f"{PICTURES.read_text('ascii')}\n"
