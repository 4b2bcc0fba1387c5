"""Paths of users: circles of links and a working directory that was removed are one line."""

from pathlib import Path

import pytest

from setwise.analysis.commands.main import main
from setwise.codegen.files import resolved
from tests.analysis.commands.running import Capture, complaint


def test_a_circle_of_links_is_one_line(tmp_path: Path, capsys: Capture) -> None:
    circle = tmp_path / "circle"
    circle.symlink_to("circle")
    with pytest.raises(ValueError, match="contains a cycle of symbolic links"):
        resolved(circle)
    export = ("export", "sliders.union", "--isa", "avx2", "--format", "c", "--unproved", "-o")
    for words in (
        (*export, str(circle)),
        (*export, str(circle / "new")),
        ("verify", str(circle)),
        ("prove", str(circle / "mine.py")),
        ("new", str(circle / "mine")),
        ("report", "--check", "-o", str(circle)),
    ):
        assert str(circle) in complaint(capsys, *words)
    assert circle.is_symlink()


def test_a_working_directory_that_was_removed_is_one_line(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for words in (
        ("export", "sliders.union", "--isa", "avx2", "--format", "c", "--unproved", "-o", "new"),
        ("prove", "mine.py"),
        ("prove", "package.module:mine"),
    ):
        assert "the working directory no longer exists" in complaint(capsys, *words)
    assert main(["count", "sliders.union", "--isa", "avx2"]) == 0
