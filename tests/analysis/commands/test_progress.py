"""The line that says what is at work."""

from __future__ import annotations

from setwise.analysis.commands.progress import Progress
from tests.analysis.commands.running import Capture


def test_progress_shows_on_a_terminal_only(capsys: Capture) -> None:
    progress = Progress(2, shown=True)
    progress.show("one")
    progress.show("two")
    progress.end()
    assert capsys.readouterr().err == "\r\x1b[K1/2 one\r\x1b[K2/2 two\r\x1b[K"
    silent = Progress(2, shown=False)
    silent.show("one")
    silent.end()
    assert capsys.readouterr().err == ""
