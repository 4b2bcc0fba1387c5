"""The command as tests run it: what it prints, what it complains of."""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from setwise.analysis.commands.main import main
from setwise.codegen import board

ROOT = Path(__file__).parents[3]
SOUTH, UNION = "kogge-stone.attacks.sout", "sliders.union"
DUMB7, KOGGE_STONE = "dumb7.attacks.sout", "kogge-stone.attacks.sout"

Capture = pytest.CaptureFixture[str]

TWICE = """
import setwise
from setwise import Board

@setwise.routine
def twice(x: Board) -> Board:
    "Twice the number."
    return x << 1

@twice.specification
def _(x):
    return x << 1
"""


def printed(capsys: Capture, *arguments: str, status: int = 0) -> str:
    """What the command prints on its output, nothing standing on the other."""
    assert main(arguments) == status
    done = capsys.readouterr()
    assert done.err == ""
    return done.out


def complaint(capsys: Capture, *arguments: str, status: int = 2) -> str:
    """The one line that the command complains with, whatever was printed before."""
    capsys.readouterr()
    try:
        ended: object = main(arguments)
    except SystemExit as end:
        ended = end.code
    done = capsys.readouterr()
    assert ended == status
    assert done.out == ""
    assert re.fullmatch(r"setwise[^\n]+\n", done.err), done.err
    return done.err


def setwise(arguments: Sequence[str], code: str) -> str:
    """What this program prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout


def numbers(out: str) -> list[int]:
    """The numbers under the boards."""
    return [int(text, 16) for text in re.findall(r"0x[0-9a-f_]+", out)]


def drawings(out: str) -> dict[str, int]:
    """The boards as they are drawn, by their titles: squares, whatever their numbers."""
    found = {}
    for block in re.findall(r"\n\n(.+(?:\n[1. ]+){8})", out):
        titles, *rows = block.splitlines()
        cells = [row.split() for row in rows]
        for at, title in enumerate(re.split(" {2,}", titles.strip())):
            found[title] = board.parse_board("\n".join(" ".join(row[8 * at : 8 * at + 8]) for row in cells))
    return found


def export(directory: Path, *arguments: str) -> dict[str, Any]:
    """The metadata of what the command writes."""
    assert main(["export", *arguments, "-o", str(directory)]) == 0
    found: dict[str, Any] = json.loads((directory / "metadata.json").read_text())
    return found


def findings(capsys: Capture, directory: Path, status: int = 1) -> list[tuple[str, str]]:
    """Return the subject and the name of each check of `setwise verify` that failed."""
    capsys.readouterr()
    assert main(["verify", str(directory), "--json"]) == status
    return [(one["subject"], one["what"]) for one in json.loads(capsys.readouterr().out) if one["status"] == "failed"]
