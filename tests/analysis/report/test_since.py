"""What kernels took at an earlier commit, beside what they take now."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from setwise.analysis.report.files import write
from setwise.analysis.report.kernels import Figures, figures_of
from setwise.analysis.report.optimality import optimality
from setwise.analysis.report.since import RECORD, Since, Then, at_commit
from tests.analysis.commands.running import Capture, complaint
from tests.analysis.report.recorded import assert_reads_back

SOUTH, EAST, PAST = ("push.attacks.sout", "bmi2", 1), ("push.attacks.east", "x86-64", 1), ("no.routine", "bmi2", 1)
NOW = Figures((key, figures_of(key)) for key in (SOUTH, EAST))


def before(south: int, east: int) -> Since:
    held = (Then(*SOUTH, south), Then(*EAST, east), Then(*PAST, 9))
    return Since("0123456789ab", "2025-01-31", held)


def test_kernels_that_fell_and_those_that_rose_stand_apart() -> None:
    south, east = (NOW[key].counts.instructions for key in (SOUTH, EAST))
    text = optimality([], NOW, since=before(south + 2, east - 1))
    fell, rose = text.split("### More than before")
    assert (
        "Of 2 kernels that exist now and did at commit 0123456789ab (2025-01-31), 1 take fewer instructions, " in fell
    )
    assert "2 together, and 1 take more." in fell
    assert f"| kernel | bmi2 |\n| :-- | --: |\n| `push.attacks.sout` | {south + 2} to {south} |" in fell
    assert f"| kernel | x86-64 |\n| :-- | --: |\n| `push.attacks.east` | {east - 1} to {east} |" in rose
    assert "### More" not in optimality([], NOW, since=before(south, east))


def test_what_is_recorded_reads_back_or_is_one_line(tmp_path: Path) -> None:
    assert_reads_back(tmp_path, RECORD, before(14, 4), "lanes")


def test_a_commit_has_its_reports(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        who = ("-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false")
        subprocess.run(["git", "-C", tmp_path, *who, *arguments], check=True, capture_output=True)

    git("init")
    row = {"name": "push.attacks.sout", "isa": "bmi2", "lanes": 1, "instructions": 15}
    write(tmp_path / "reports", {"data/kernels.json": f'{{"rows": [{row}]}}'.replace("'", '"')})
    git("add", ".")
    git("commit", "--message", "first")
    (tmp_path / "reports/data/kernels.json").unlink()
    found = at_commit("HEAD", tmp_path / "reports")
    assert found.kernels == (Then(*SOUTH, 15),)
    assert len(found.commit) == 12
    git("commit", "--all", "--message", "second")
    with pytest.raises(ValueError, match=r"--since takes a commit whose reports lie in .*kernels\.json"):
        at_commit("HEAD", tmp_path / "reports")
    with pytest.raises(ValueError, match="--since takes a commit"):
        at_commit("--all", tmp_path / "reports")


def test_no_commit_is_one_line(tmp_path: Path, capsys: Capture) -> None:
    there = str(tmp_path)
    assert "--since takes a commit" in complaint(capsys, "report", "-o", there, "--since", "HEAD")
    assert "give one of them" in complaint(capsys, "report", "-o", there, "--check", "--since", "HEAD")
