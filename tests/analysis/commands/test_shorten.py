"""`setwise shorten`: what it prints of what it found, what it keeps, what it refuses."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from setwise.analysis.code.decode import Binary
from setwise.analysis.commands import shorten
from setwise.analysis.commands.main import main
from setwise.analysis.search.search import Outcome, Tally
from setwise.analysis.search.subject import Subject
from setwise.codegen.catalogue import find
from setwise.codegen.export.names import symbol
from setwise.codegen.export.objects.elf import elf
from setwise.codegen.export.objects.relocatable import object_file
from setwise.codegen.lower import lower
from setwise.codegen.machine.code import Instruction, general
from tests.analysis.commands.running import ROOT, Capture, complaint
from tests.conftest import require_module

require_module("bitwuzla")

NAME = "push.attacks.sout"
ONE = ("shorten", NAME, "--isa", "x86-64", "--level", "a")


def test_nothing_is_found_in_a_kernel(capsys: Capture) -> None:
    assert main(ONE) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{NAME} x86-64 1 sysv: 16 instructions, nothing shorter found\n")
    assert re.search(r"\na +14/14 +171 +0 +0 +0 +0 ", out)


def test_a_search_is_kept_and_goes_on(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "search.json"
    assert main([*ONE, "--save", str(path), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["levels"]["a"]["places"] == row["levels"]["a"]["all_places"] == 14
    (kept,) = json.loads(path.read_text())["hunts"]
    assert kept["looked"] == {"a": list(range(14))}
    kept["looked"]["a"].remove(3)
    path.write_text(json.dumps({"edition": 1, "hunts": [kept]}))
    assert main([*ONE, "--save", str(path), "--json"]) == 0
    (again,) = json.loads(capsys.readouterr().out)
    assert again["levels"]["a"]["places"] == 15  # the one that was missing once more
    assert [*tmp_path.iterdir()] == [path]


def test_parts_of_a_search_share_its_budget(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    budgets = []

    def look(subject: Subject, binary: Binary, level: str, at: Sequence[int], budget: float) -> Outcome:
        budgets.append(budget)
        return Outcome(Tally(len(at), 14, seconds=2.5))

    monkeypatch.setattr(shorten, "search", look)
    assert main([*ONE, "--budget", "10"]) == 0
    assert budgets == [10 - 2.5 * part for part in range(7)]


ENDED = """
import signal, sys
from setwise.analysis.commands import shorten
from setwise.analysis.commands.main import main

number, *arguments = sys.argv[1:]
look, asked = shorten.search, []

def search(*place):
    asked.append(place)
    if len(asked) == 3:
        signal.raise_signal(int(number))
    return look(*place)

signal.signal(signal.SIGINT, signal.default_int_handler)
shorten.search = search
sys.exit(main(arguments))
"""
"""The command, which a signal ends when it asks for the third search."""


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_what_ends_a_search_leaves_what_was_tried(number: signal.Signals, status: int, tmp_path: Path) -> None:
    path = tmp_path / "search.json"
    asked = ("shorten", NAME, "push.attacks.nort", "--lanes", "1", "--level", "a")
    command = [sys.executable, "-c", ENDED, str(int(number)), *asked, "--save", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (status, "")
    assert "shorter code found for 0, proved" in done.stdout
    levels = [row["tallies"] for row in json.loads(path.read_text())["hunts"]]
    assert sum(level["a"]["places"] == level["a"]["all_places"] for level in levels if level) == 2


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "not what a search keeps"),
        (b"{}", "not what a search keeps"),
        (b'{"edition": 2, "hunts": []}', "another version"),
        (b"[" * 100_000, "not what a search keeps"),
        (b"\xff", "not what a search keeps"),
    ],
)
def test_a_damaged_file_is_refused(capsys: Capture, tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "search.json"
    path.write_bytes(content)
    assert why in complaint(capsys, *ONE, "--save", str(path))
    assert path.read_bytes() == content


@pytest.mark.parametrize("text", ["c3", "90", "", "4889f8c3"])
def test_what_a_file_calls_shorter_is_proved_again(capsys: Capture, tmp_path: Path, text: str) -> None:
    path = tmp_path / "search.json"
    assert main([*ONE, "--save", str(path)]) == 0
    kept = json.loads(path.read_text())
    code = {"text": text, "data": "", "data_offset": 0}
    kept["hunts"][0]["findings"] = [{"level": "a", "said": "", "before": 16, "after": 1, "code": code}]
    path.write_text(json.dumps(kept))
    capsys.readouterr()
    assert "give another file" in complaint(capsys, *ONE, "--save", str(path))


def test_bad_usage_is_one_line(capsys: Capture, tmp_path: Path) -> None:
    assert "name routines" in complaint(capsys, "shorten")
    assert "above 0" in complaint(capsys, *ONE, "--budget", "0")
    assert "directory" in complaint(capsys, *ONE, "--save", str(tmp_path))
    assert "--lanes" in complaint(capsys, *ONE, "--lanes", "3")
    assert "unknown instruction set" in complaint(capsys, "shorten", NAME, "--isa", "arm")


def test_somebody_s_function(capsys: Capture, tmp_path: Path) -> None:
    kernel = lower(find(NAME))
    rax = general("rax")
    idle = (Instruction("mov", (general("rcx"), rax)), Instruction("and", (rax, general("rcx"))))
    longer = replace(kernel, code=replace(kernel.code, items=(*kernel.code.items[:-1], *idle, kernel.code.items[-1])))
    made = tmp_path / "made.o"
    made.write_bytes(elf(object_file(longer)))
    asked = ("shorten", "--object", str(made), "--symbol", symbol(longer), "--spec", NAME, "--level", "a")
    assert main(asked) == 1
    out = capsys.readouterr().out
    assert out.startswith("18 to 16, level a: 'and rax,rcx' at offset 0x3")
    assert f"{symbol(longer)} as {NAME}, x86-64, sysv: proved" in out
