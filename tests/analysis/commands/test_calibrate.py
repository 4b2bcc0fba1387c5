"""`setwise calibrate`: what it prints and writes, and `--cpu` with what it wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from setwise.analysis.commands import calibrate as command
from setwise.analysis.commands.main import main
from setwise.analysis.cost.processors import Processor, processor
from setwise.analysis.cost.processors.measured import read
from setwise.analysis.measure import calibration, fields
from setwise.analysis.measure.forms import forms
from setwise.analysis.measure.subjects import Subject
from setwise.analysis.measure.trials import Timing
from setwise.codegen.machine.processors import FEATURES
from setwise.codegen.run.executable import NotRunnable
from tests.analysis.commands.running import ROOT, Capture, complaint
from tests.analysis.measure.known_core import measured_on
from tests.analysis.measure.test_fastest import as_long_as_code

ZEN3 = processor("zen3")
KNIGHTS = ROOT / "tests" / "examples" / "knights.py"


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few forms are all that there are."""
    names = {"xor =e,e", "shl r,i", "vmovq r,x", "vpand y,y,y"}
    chosen = tuple(form for form in forms() if form.title in names)
    monkeypatch.setattr(calibration, "forms", lambda: chosen)
    monkeypatch.setattr(command, "processor_here", lambda: ZEN3)
    monkeypatch.setattr(command, "machine", lambda: "A core")


@pytest.mark.usefixtures("few")
def test_the_table_is_printed_or_written_and_taken(capsys: Capture, tmp_path: Path) -> None:
    with measured_on(ZEN3, FEATURES["zen3"]):
        assert main(["calibrate"]) == 0
        printed = capsys.readouterr().out
        assert main(["calibrate", "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)["rows"]
        file = tmp_path / "mine.json"
        assert main(["calibrate", "-o", str(file)]) == 0
        assert f"setwise cost NAME --cpu {file}" in capsys.readouterr().out
    assert ["shl", "ri", "r1.00", "0.50", "1", "I12"] in [line.split() for line in printed.splitlines()]
    assert {(row["mnemonics"][0], row["form"]) for row in rows} == {
        ("xor", "r="),
        ("shl", "ri"),
        ("vmovq", "rx"),
        ("vpand", "y"),
    }
    assert list(tmp_path.iterdir()) == [file]
    assert main(["cost", "kogge-stone.attacks.sout", "--cpu", str(file), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["latency"] == 10


@pytest.mark.usefixtures("few")
def test_what_is_tuned_is_taken(monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path) -> None:
    def longest_code_is_fastest(*asked: Any, **more: Any) -> list[Timing]:
        return [replace(each, median=1000 / each.median) for each in as_long_as_code(*asked, **more)]

    monkeypatch.setattr(fields, "bench", longest_code_is_fastest)
    file, name = str(tmp_path / "mine.json"), "kogge-stone.attacks.sout"
    with measured_on(ZEN3, FEATURES["zen3"]):
        assert main(["calibrate", "--tune", name, "-o", file]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith(name)]
    assert main(["best", name, "--for", "latency", "--cpu", file, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    named = [row for row in rows if f" {found['isa']} {found['variant']}".rstrip() in row]
    assert named
    assert not [row for row in named if "the same" in row]  # as what forecasts take
    assert found["tuned"]
    assert main(["best", name, "--for", "latency", "--cpu", "zen3", "--json"]) == 0
    (by_forecast,) = json.loads(capsys.readouterr().out)
    assert by_forecast["instructions"] < found["instructions"]
    assert not by_forecast["tuned"]


@pytest.mark.usefixtures("few")
def test_what_was_measured_stays_whatever_becomes_of_what_is_tuned(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    """Here no moment is quiet enough for the one, and the other ends the process that times it."""
    file = tmp_path / "mine.json"
    names = ("--tune", "shift.one.nort", "--tune", "shift.one.sout")

    def ends_at_the_second(subjects: Sequence[Subject], *_: Any, **__: Any) -> list[Timing]:
        if subjects[0].name == "shift.one.sout":
            raise BrokenProcessPool
        return []

    monkeypatch.setattr(fields, "bench", ends_at_the_second)
    with measured_on(ZEN3, FEATURES["zen3"]):
        said = complaint(capsys, "calibrate", "-o", str(file), *names, status=1)
        assert "a variant of shift.one.sout ended the process that timed it" in said
        assert read(file).rows
        assert main(["calibrate", "-o", str(file), *names[:2]]) == 1
    assert "nothing was found for 1 of 1 routine, first shift.one.nort" in capsys.readouterr().err


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("name", "said"), [(f"{KNIGHTS}:knight_attacks", "knight_attacks is not tuned"), ("none.such", "none.such")]
)
def test_what_cannot_be_tuned_is_a_line(name: str, said: str, capsys: Capture) -> None:
    assert said in complaint(capsys, "calibrate", "--tune", name)


@pytest.mark.usefixtures("few")
def test_what_could_not_be_measured_is_told(capsys: Capture) -> None:
    with measured_on(having("(?!shl).*"), FEATURES["zen3"]):
        assert main(["calibrate", "--patience", "0"]) == 1
    said = capsys.readouterr()
    assert "no figures for 1 of 4 forms, first shl r,i: end other programs" in said.err
    assert "vpand y" in said.out


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("kept", "what"),
    [("nop", "issue slots"), ("xor", "loads"), (r"(?!shl|v\?p\(and)", "2 of 4 forms")],
)
def test_of_too_little_no_table_is_made(capsys: Capture, tmp_path: Path, kept: str, what: str) -> None:
    file = tmp_path / "mine.json"
    with measured_on(having(kept), FEATURES["zen3"]):
        assert main(["calibrate", "-o", str(file), "--patience", "0"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert f"no table, for there are no figures of {what}: end other programs" in said.err
    assert not file.exists()


def having(mnemonics: str) -> Processor:
    """A core that has only the rows whose mnemonics begin so."""
    return replace(ZEN3, rows=tuple(row for row in ZEN3.rows if re.match(mnemonics, row.mnemonics)))


def test_refusals(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "give a file in a folder that is there" in complaint(capsys, "calibrate", "-o", str(tmp_path))
    assert "in a folder that is there" in complaint(capsys, "calibrate", "-o", str(tmp_path / "no" / "mine.json"))
    (tmp_path / "bad.json").write_text("{}")
    assert "is no processor's table" in complaint(
        capsys, "cost", "push.attacks.nort", "--cpu", str(tmp_path / "bad.json")
    )

    def elsewhere(*_: object, **__: object) -> None:
        raise NotRunnable("this processor cannot run x86-64 code")

    monkeypatch.setattr(command, "calibrate", elsewhere)
    assert main(["calibrate"]) == 1
    assert "cannot run x86-64 code" in capsys.readouterr().err
