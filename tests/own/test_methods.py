"""The object that the decorator makes: what the commands do, as methods; and what help() shows of it."""

import inspect
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import setwise
from setwise import Board, Empty, Ray, Word
from setwise.analysis.cost.processors import PROCESSORS
from tests.analysis.commands.running import printed

E4 = 1 << 28
ATTACKED = 0x0000_2844_0044_2800


@setwise.routine
def two_up(pieces: Board) -> Board:
    """Squares two steps north."""
    return pieces.step(setwise.NORT, setwise.NORT)


@two_up.specification
def _(pieces: Word) -> Word:
    return pieces << 16


@setwise.routine
def flood(ray: Ray, gen: Board, pro: Empty) -> Board:
    """Fill one square further."""
    return gen | ray.step(gen) & pro


@flood.specification
def _(direction: str, gen: Word, pro: Word) -> Word:
    return gen | setwise.spec.step(direction, gen) & pro


def test_it_is_called_and_its_kernels_are_made_once() -> None:
    assert two_up(1) == 1 << 16
    assert two_up.kernel("x86-64") is two_up.kernel("x86-64")
    assert str(inspect.signature(two_up)) == "(pieces: int, /) -> int"


def test_methods_say_what_the_commands_say(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (mine.parent / "use.py").write_text(
        "from mine import knight_attacks as k\n"
        "print(k.listing('avx2', abi='win64', syntax='gas'), end='')\n"
        "print(k.count('avx2')['instructions'])\n"
        "print(k.export('out', 'c', 'avx2'))\n"
    )
    ran = subprocess.run([sys.executable, "use.py"], capture_output=True, text=True, check=True, cwd=mine.parent)
    asked = ["listing", "mine:knight_attacks", "--isa", "avx2", "--abi", "win64", "--syntax", "gas"]
    assert ran.stdout == printed(capsys, *asked) + "19\n1 file and metadata.json in out: 2 kernels, proved\n"


def test_judges_give_records() -> None:
    proofs = two_up.prove("avx2", abi="sysv")
    assert [row["status"] for row in proofs] == ["proved", "proved"]
    assert proofs.fine
    assert "proved" in repr(proofs)
    assert two_up.check("x86-64", quick=True).fine
    assert {row["cpu"] for row in two_up.cost()} == {on.name for on in PROCESSORS}
    assert not setwise.Table((), ()).fine


def test_a_wrong_one_has_a_counterexample() -> None:
    @setwise.routine
    def wrong(pieces: Board) -> Board:
        return pieces << 15

    wrong.specification(lambda pieces: pieces << 16)
    (proof,) = wrong.prove("x86-64", abi="sysv")
    assert proof["status"] == "refuted"
    (squares,) = proof["counterexample"]["inputs"]["pieces"]
    assert proof["counterexample"]["expected"] == [squares << 16 & setwise.ALL]
    assert not wrong.check("x86-64", "sysv", quick=True).fine


def test_a_direction_of_several_is_taken_by_its_name() -> None:
    assert flood["nort"](1, setwise.ALL) == 0x101
    assert flood["any"](1, setwise.ALL, 7) == 0x101
    assert flood["soWe"].prove("x86-64").fine
    assert [one.routine.direction for one in flood][:8] == [d.name for d in setwise.DIR8]
    assert flood["queen"].prove("avx2", abi="sysv").fine
    for way in (flood.count, flood.listing, flood.kernel):
        with pytest.raises(ValueError, match="names 15 routines: choose one, such as"):
            way()
    with pytest.raises(KeyError, match="no direction 'up': noEa, east"):
        flood["up"]
    with pytest.raises(KeyError, match="not a function of a Ray"):
        two_up["nort"]


def test_boards_are_shown_side_by_side() -> None:
    shown = repr(setwise.show(E4, attacks=ATTACKED))
    assert shown.splitlines()[0].strip() == "attacks"
    assert sum(line.split().count("1") for line in shown.splitlines()[1:9]) == 1 + ATTACKED.bit_count()
    assert repr(setwise.show("e4")).splitlines()[5] == ". . . . 1 . . ."
    with pytest.raises(ValueError, match="not a board"):
        setwise.show(1 << 64)


def test_boards_of_a_grid_are_shown_with_its_ranks_and_files() -> None:
    drawn = repr(setwise.show("g6", corner=1, grid=setwise.Grid(7, 6, gap=1))).splitlines()
    assert len(drawn) == 8
    assert drawn[1].split() == [*"......1", *"......."]
    assert drawn[6].split() == [*".......", *"1......"]
    with pytest.raises(TypeError, match=r"give a setwise\.Grid"):
        setwise.show(1, grid=8)  # type: ignore[arg-type]


def test_it_travels_by_its_name(mine: Path) -> None:
    code = "import mine, pickle; assert pickle.loads(pickle.dumps(mine.knight_attacks)) is mine.knight_attacks"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=mine.parent)
    assert pickle.loads(pickle.dumps(two_up)) is two_up


@pytest.mark.parametrize("name", ["setwise", "setwise.routine", "setwise.OwnRoutine"])
def test_help_reads_well(name: str) -> None:
    said = subprocess.run([sys.executable, "-m", "pydoc", name], capture_output=True, text=True, check=True).stdout
    assert "DomainWord" not in said
    assert {"setwise": "kernel(name", "setwise.routine": "annotations"}.get(name, "subcommands") in said
