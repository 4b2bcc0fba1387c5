"""The line that says what is at work."""

from __future__ import annotations

from setwise.analysis.progress import Progress
from tests.analysis.commands.running import Capture


def test_progress_shows_on_a_terminal_only(capsys: Capture) -> None:
    with Progress(2, shown=True) as progress:
        progress.show("one")
        progress.show("two")
    assert capsys.readouterr().err == "\r\x1b[K1/2 one\r\x1b[K2/2 two\r\x1b[K"
    with Progress(2, shown=False) as silent:
        silent.show("one")
    assert capsys.readouterr().err == ""
