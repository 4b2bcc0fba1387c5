"""Output for a terminal, which a pipe does not get: folded tables, summaries, and the time left."""

import os
import pty
import subprocess
import sys

import pytest

from setwise.analysis.progress import Progress
from setwise.codegen.run.call import missing
from setwise.codegen.targets import TARGETS
from tests.analysis.commands.running import ROOT, Capture, printed

START = ("run", "sliders.union", "--isa", "x86-64", "--fen", "startpos")


def on_a_terminal(*arguments: str) -> str:
    """What a command writes on a terminal of 60 letters a line."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "60"}
    command = [sys.executable, "-m", "setwise", *arguments]
    done = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    text = b""
    try:
        while some := os.read(ours, 65536):
            text += some
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert done.wait() == 0
    return text.decode().replace("\r\n", "\n")


def test_a_terminal_and_a_pipe_get_the_same_boards(capsys: Capture) -> None:
    assert on_a_terminal(*START) == printed(capsys, *START)


@pytest.mark.parametrize("command", ["table", "list"])
def test_tables_are_folded_to_the_terminal(command: str, capsys: Capture) -> None:
    assert max(map(len, on_a_terminal(command).splitlines())) <= 60
    assert max(map(len, printed(capsys, command).splitlines())) > 60


def test_people_see_the_catalogue_by_family_and_programs_line_by_line(capsys: Capture) -> None:
    assert "\nkogge-stone.attacks.* (14 " in on_a_terminal("list")
    assert printed(capsys, "list") == printed(capsys, "list", "*")


def test_startpos_and_coordinates(capsys: Capture) -> None:
    fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    assert printed(capsys, *START) == printed(capsys, *START[:-1], fen)
    lines = printed(capsys, *START, "--coordinates").splitlines()
    assert "1  1 . . 1 . . . 1" in "\n".join(lines)
    assert sum(line.startswith("   a b c d e f g h") for line in lines) == 1


def test_native_is_the_newest_set_of_this_processor(capsys: Capture) -> None:
    newest = next(name for name in reversed(TARGETS) if not missing(TARGETS[name]))
    union = "sliders.union-empty"
    assert printed(capsys, "count", union, "--isa", "native") == printed(capsys, "count", union, "--isa", newest)


def test_progress_says_how_long_the_rest_takes(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([0.0, 0.0, 30.0])
    monkeypatch.setattr("setwise.analysis.progress.time.monotonic", lambda: next(now))
    progress = Progress(4, shown=True)
    progress.show("first")
    progress.show("second")
    assert capsys.readouterr().err.split("\r\x1b[K")[1:] == ["1/4 first", "2/4 (30 s, 1 min 30 s left) second"]


def test_progress_shows_on_a_terminal_only(capsys: Capture) -> None:
    with Progress(2, shown=True) as progress:
        progress.show("one")
        progress.show("two")
    assert capsys.readouterr().err == "\r\x1b[K1/2 one\r\x1b[K2/2 two\r\x1b[K"
    with Progress(2, shown=False) as silent:
        silent.show("one")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_knows_commands_options_and_names(capsys: Capture, shell: str) -> None:
    script = printed(capsys, "completion", shell)
    for word in ("shorten", "--coordinates", "sliders.union", "gfni"):
        assert word in script


def test_bash_completes_a_name(capsys: Capture) -> None:
    script = printed(capsys, "completion", "bash")
    asked = '\nCOMP_WORDS=(setwise listing subt); COMP_CWORD=2; _shtab_setwise; echo "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", script + asked], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["subtraction.attacks.east", "subtraction.attacks-cleared.east"]
