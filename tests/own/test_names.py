"""Wherever a name is taken, `file.py:function`, `file.py` and `package.module:function` are."""

import importlib
import subprocess
from pathlib import Path

import pytest

from setwise.analysis.commands.main import main
from tests.analysis.commands.running import complaint, printed
from tests.conftest import require_tool
from tests.own.conftest import KNIGHTS


def test_its_form_on_arrays_is_proved_and_refuted(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "mine.py:knight_attacks.batch", "--isa", "avx2", "--abi", "sysv"]) == 0
    assert main(["check", "mine.py:knight_attacks.batch", "--isa", "x86-64", "--abi", "sysv", "--quick"]) == 0
    mine.write_text(KNIGHTS.replace("(WEST, SOUT)]", "(WEST, WEST)]"))
    assert main(["prove", "mine.py:knight_attacks.batch", "--isa", "avx2", "--abi", "sysv"]) == 1
    assert "has no .batch" in complaint(capsys, "listing", "mine.py:knight_attacks.batch.batch")


COMMANDS = {
    "list mine.py": "mine.py:knight_attacks  x86-64",
    "list mine.py:knight_attacks --json": '"name": "mine.py:knight_attacks"',
    "listing mine:knight_attacks --abi win64": "; mine:knight_attacks for x86-64, Win64",
    "count mine.py:kn* --isa avx2": "mine.py:knight_attacks  avx2",
    "count mine.py --executed e4": "26        7            19",
    "compare mine.py:knight_attacks dumb7.attacks.sout": "26 instructions",
    "run mine.py:knight_attacks e4": "0x0000_2844_0044_2800",
    "run mine:knight_attacks --fen 4k3/8/8/8/4N3/8/8/4K3_w_-_-_0_1": "0x0000_2844_0044_2800",
    "trace mine.py:knight_attacks e4 --registers": "26. or rax,r8",
    "cost mine.py --isa avx2 --cpu zen3": "Lower bounds in core cycles",
    "check mine.py --isa avx2 --abi sysv --quick": "2 passed, 0 failed",
    "check mine.py dumb7.attacks.sout --isa x86-64 --abi sysv --quick": "2 passed, 0 failed",
    "prove mine.py:*knight* --isa x86-64 --abi sysv": "specification  mine.py:knight_attacks, as its file says",
}


@pytest.mark.parametrize(("command", "wanted"), COMMANDS.items())
def test_every_command_takes_it(command: str, wanted: str, mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert wanted in printed(capsys, *(word.replace("_w_-_-_0_1", " w - - 0 1") for word in command.split()))


@pytest.mark.slow
def test_it_is_timed(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--isa", "x86-64", "--mode", "chained", "--json", "--patience", "2"]
    assert main(["bench", "mine.py", *asked]) in (0, 1)  # 1 where others work on this machine
    assert '"name": "mine.py:knight_attacks"' in capsys.readouterr().out


C = """
#include <stdint.h>
uint64_t knights(uint64_t n) {
    uint64_t a = n & ~0x0101010101010101u, h = n & ~0x8080808080808080u;
    uint64_t ab = n & ~0x0303030303030303u, gh = n & ~0xc0c0c0c0c0c0c0c0u;
    return a << 15 | h << 17 | ab << 6 | gh << 10 | a >> 17 | h >> 15 | ab >> 10 | gh >> %s;
}
"""


def test_a_c_function_is_held_to_it(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for last, status in ((6, 0), (7, 1)):
        (mine.parent / "knights.c").write_text(C % last)
        subprocess.run([require_tool("gcc"), "-O2", "-c", "knights.c"], check=True)
        asked = ["--object", "knights.o", "--symbol", "knights", "--spec", "mine.py:knight_attacks"]
        assert main(["prove", *asked]) == status
    assert "knights as mine.py:knight_attacks, sysv: refuted" in capsys.readouterr().out


def test_several_files_and_directions(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (mine.parent / "fills.py").write_text(
        "import mine\nimport setwise\n"
        "@setwise.routine\n"
        "def flood(ray: setwise.Ray, gen: setwise.Board, pro: setwise.Empty) -> setwise.Board:\n"
        "    return gen | ray.step(gen) & pro\n"
        "flood.specification(lambda direction, gen, pro: gen | setwise.spec.step(direction, gen) & pro)\n"
    )
    assert main(["count", "fills.py:flood.nort", "mine.py"]) == 0
    assert main(["prove", "fills.py:flood.no*", "--abi", "sysv"]) == 0  # so many go to other processes
    assert " 0 refuted, 0 not proved" in capsys.readouterr().out
    assert "choose one, such as fills.py:flood.noEa" in complaint(capsys, "listing", "fills.py:flood")


MADE = """\
import setwise

def made(ranks):
    @setwise.routine
    def up(x: setwise.Board) -> setwise.Board:
        return x << 8 * ranks
    up.specification(lambda x: x << 8)
    return up

"""
FACTORY = (
    "5: two routines are named mine.py:made.<locals>.up (lines 5 and 5): "
    "rename one: before routine(up) set up.__name__ and up.__qualname__"
)
TWICE = {
    "one, other = made(1), made(2)": FACTORY,
    "both = [made(ranks) for ranks in (1, 2)]": FACTORY,
    "\n".join(2 * ["@setwise.routine\ndef up(x: setwise.Board) -> setwise.Board: return x"]): (
        "13: two functions are named up (lines 11 and 13): rename one, to _ if nothing calls it"
    ),
}


@pytest.mark.parametrize(("text", "wanted"), TWICE.items())
def test_two_routines_of_one_name_are_an_error(
    text: str, wanted: str, mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine.write_text(MADE + text)
    for name in ("mine.py", "mine.py:up", "mine.py:made.<locals>.up"):
        assert complaint(capsys, "prove", name) == f"setwise prove: mine.py:{wanted}\n"


def test_one_that_a_function_made_is_found_by_its_whole_name(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine.write_text(MADE + "made(1)")
    assert " 2 proved, 0 refuted" in printed(capsys, "prove", "mine.py:made.<locals>.up", "--isa", "x86-64")
    assert complaint(capsys, "prove", "mine.py:up").endswith("mine.py has no routine 'up': it has made.<locals>.up\n")


def test_the_nearest_names_of_a_file_are_offered(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine.write_text(KNIGHTS + "@setwise.routine\ndef other(x: Board) -> Board:\n    return x\n")
    assert complaint(capsys, "prove", "mine.py:knight_atacks").endswith(": it has knight_attacks\n")


def test_a_module_that_is_loaded_again_has_its_routines_once(
    mine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(mine.parent)
    mine.rename("again_and_again.py")
    importlib.reload(importlib.import_module("again_and_again"))
    assert main(["count", "again_and_again:knight_attacks"]) == 0
