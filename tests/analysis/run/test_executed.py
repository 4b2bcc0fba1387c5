"""What calls really execute: against the code's own length, over real positions, by the command."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from setwise.analysis import api
from setwise.analysis.api import COUNTED
from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.count import count
from setwise.analysis.commands.count import positions
from setwise.codegen import board
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from tests.analysis.commands.running import Capture, complaint, printed
from tests.analysis.listings import compiled
from tests.positions import KIWIPETE

POSITIONS = Path(__file__).parents[2] / "data" / "positions.fen"
LOOP, UNROLLED = "dumb7.occluded-until-dry.sout", "dumb7.occluded.sout"


def instructions(name: str, *words: int, isa: str = "x86-64") -> int:
    (row,) = api.executed_counts([api.request(name, isa)], lambda _: words)
    return int(row["instructions"])


def test_straight_code_is_executed_once() -> None:
    for name in (UNROLLED, "kogge-stone.attacks.noWe", "push.attacks.sout"):
        request = api.request(name)
        (row,) = api.executed_counts([request], lambda _: (1 << 60, board.ALL))
        counts = count(binary_of(request.kernel))
        assert {key: row[key] for key in COUNTED} == {key: getattr(counts, key) for key in COUNTED}


def test_a_loop_is_executed_as_often_as_it_runs() -> None:
    # One round for the sliders, one for each square that they go on.
    lengths = [instructions(LOOP, 1 << 56, board.ALL >> 8 * blocked << 8 * blocked) for blocked in range(8)]
    assert lengths == sorted(lengths, reverse=True)
    rounds = {long - short for long, short in pairwise(lengths)}
    assert len(rounds) == 1
    assert instructions(LOOP, 0, board.ALL) < lengths[-1]
    assert instructions("dumb7.occluded-rolled.sout", 0, 0) == instructions(
        "dumb7.occluded-rolled.sout", 1 << 56, board.ALL
    )


# the command


def test_count_executed(capsys: Capture) -> None:
    (row,) = json.loads(printed(capsys, "count", LOOP, "--executed", "a8", "0xffffffffffffff", "--json"))
    assert (row["name"], row["isa"], row["lanes"], row["abi"]) == (LOOP, "x86-64", 1, "sysv")
    assert row["instructions"] == instructions(LOOP, 1 << 56, 0x00FF_FFFF_FFFF_FFFF)
    assert row["branches"] > 7
    text = printed(capsys, "count", LOOP, UNROLLED, "--fen", KIWIPETE)
    assert [line.split()[0] for line in text.splitlines()[2:]] == [LOOP, UNROLLED]
    assert printed(capsys, "count", LOOP, UNROLLED, "--executed", "--fen", KIWIPETE) == text
    assert printed(capsys, "count", LOOP, UNROLLED, "--fen", KIWIPETE, "--side", "b") != text


def test_count_over_positions(capsys: Capture) -> None:
    text = printed(capsys, "count", LOOP, UNROLLED, "--over", str(POSITIONS))
    assert text.splitlines()[0].split() == ["name", "isa", "abi", "class", "minimum", "mean", "maximum"]
    assert text.endswith(f"\n{len(positions(POSITIONS))} positions\n")
    loop, unrolled = json.loads(printed(capsys, "count", LOOP, UNROLLED, "--over", str(POSITIONS), "--json"))
    assert loop["positions"] == len(positions(POSITIONS)) > 100
    spread = loop["instructions"]
    assert spread["minimum"] < spread["mean"] < spread["maximum"]
    assert set(unrolled["instructions"].values()) == {
        count(binary_of(lower(find(UNROLLED), "x86-64", "sysv"))).instructions
    }
    assert spread["mean"] < unrolled["instructions"]["mean"] < spread["maximum"]


def test_count_of_an_object(capsys: Capture, tmp_path: Path) -> None:
    made = compiled(tmp_path, "unsigned long long south(unsigned long long x) { return x >> 8; }\n")
    (row,) = json.loads(printed(capsys, "count", "--object", str(made), "--symbol", "south", "--json"))
    assert (row["name"], row["instructions"], row["moves"], row["operations"]) == ("south", 2, 1, 1)
    assert row["features"] == ["x86-64"]
    assert "south" in printed(capsys, "count", "--object", str(made), "--symbol", "south")
    assert "no function 'north': it has south" in complaint(capsys, "count", "--object", str(made), "--symbol", "north")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name routines, or --object FILE --symbol SYM"),
        ((LOOP, "--object", "a.o", "--symbol", "f"), "no names"),
        (("--object", "a.o"), "needs --object FILE --symbol SYM"),
        ((LOOP, "--over", "nowhere.fen"), "no such file or directory: give a file of FENs"),
        ((LOOP, "--over", "a", "--fen", "b"), "give one of them"),
        ((LOOP, "--side", "w"), "--side goes with --fen or --over"),
        ((LOOP, "--executed", "a8"), "takes 2 arguments (fewer with --fen), not 1: sliders empty"),
        (("sliders.union.batch", "--executed"), "works on arrays"),
    ],
)
def test_count_complains_in_one_line(capsys: Capture, arguments: tuple[str, ...], message: str) -> None:
    assert message in complaint(capsys, "count", *arguments)


def test_a_wrong_line_is_named(capsys: Capture, tmp_path: Path) -> None:
    file = tmp_path / "some.fen"
    file.write_text(f"# two\n{KIWIPETE}\n\n8/8 w\n")
    assert "some.fen, line 4: FEN with 2 ranks" in complaint(capsys, "count", LOOP, "--over", str(file))
    file.write_text("# none\n")
    assert "has no positions" in complaint(capsys, "count", LOOP, "--over", str(file))
