"""`setwise run`: what it draws, what it takes for a board and a position, and where it runs."""

from pathlib import Path

import pytest

from setwise.analysis.commands.main import main
from setwise.analysis.spec import raywalk
from setwise.codegen import board
from setwise.codegen.catalogue import catalogue
from setwise.codegen.run import cpu
from tests.analysis.commands.running import (
    DUMB7,
    KOGGE_STONE,
    Capture,
    complaint,
    drawings,
    numbers,
    printed,
)
from tests.conftest import runs
from tests.positions import KIWIPETE


@runs
def test_run_draws_inputs_and_result(capsys: Capture) -> None:
    out = printed(capsys, "run", KOGGE_STONE, "--fen", KIWIPETE, "--isa", "x86-64")
    assert out == (
        "kogge-stone.attacks.sout, x86-64, sysv: the squares that sliding pieces attack to the south\n"
        "\n"
        "sliders                  empty                    attacks\n"
        ". . . . . . . .          . 1 1 1 . 1 1 .          . . . . . . . .\n"
        ". . . . . . . .          . 1 . . . . . 1          . . . . . . . .\n"
        ". . . . . . . .          . . 1 1 . . . 1          . . . . . . . .\n"
        ". . . . . . . .          1 1 1 . . 1 1 1          . . . . . . . .\n"
        ". . . . . . . .          1 . 1 1 . 1 1 1          . . . . . . . .\n"
        ". . . . . 1 . .          1 1 . 1 1 . 1 .          . . . . . . . .\n"
        ". . . . . . . .          . . . . . . . .          . . . . . 1 . .\n"
        "1 . . . . . . 1          . 1 1 1 . 1 1 .          . . . . . . . .\n"
        "0x0000_0000_0020_0081    0x6e82_8ce7_ed5b_006e    0x0000_0000_0000_2000\n"
    )


@runs
def test_run_takes_numbers_and_squares(capsys: Capture) -> None:
    for sliders in ("e4", "0x10000000", "268435456", "0x1000_0000"):
        for abi in ("sysv", "win64", "wiki"):
            out = printed(capsys, "run", "dumb7.attacks.nort", sliders, "e5,e6 e7", "--abi", abi)
            assert numbers(out)[-1] == sum(1 << board.square(name) for name in ("e5", "e6", "e7", "e8"))


@runs
def test_run_takes_the_sliders_that_go_the_routines_way(capsys: Capture) -> None:
    position = board.parse_fen(KIWIPETE)
    for direction in board.DIR8:
        for side in ("w", "b"):
            out = printed(capsys, "run", f"dumb7.attacks.{direction}", "--fen", KIWIPETE, "--side", side)
            straight = direction in board.ROOK
            piece = position.pieces(side, "R" if straight else "B")
            assert numbers(out)[:2] == [piece | position.pieces(side, "Q"), position.empty]


@runs
def test_run_takes_the_side_to_move(capsys: Capture) -> None:
    black = KIWIPETE.replace(" w ", " b ")
    to_move = printed(capsys, "run", KOGGE_STONE, "--fen", black)
    assert to_move == printed(capsys, "run", KOGGE_STONE, "--fen", KIWIPETE, "--side", "b")
    assert to_move != printed(capsys, "run", KOGGE_STONE, "--fen", KIWIPETE)


@runs
@pytest.mark.parametrize(("name", "square"), [("", 27), (".big-endian", 28)])
def test_squares_and_directions_are_those_of_the_routines_board(name: str, square: int, capsys: Capture) -> None:
    """The page's 5 goes west, whichever way its squares are numbered."""
    for direction in ("5", "WEST"):
        out = printed(capsys, "run", f"exploding.direction{name}", "d4", direction, "b4", "a1", "--isa", "x86-64")
        assert ("\nsquares: h1 = 0, a1 = 7, a8 = 63\n" in out) == bool(name)
        assert f"\nsquare: d4 ({square})\ndirection: west (5)\n" in out
        white, black = board.parse_board("b4"), board.parse_board("a1")
        assert drawings(out) == {"white": white, "black": black, "attacks": board.parse_board("b4,c4")}
    out = printed(capsys, "run", f"exploding.bishop{name}", str(square), "--fen", "8/8/8/8/3R1p2/8/8/8 w")
    assert drawings(out)["free"] == board.ALL ^ board.parse_board("d4,f4")
    assert drawings(out)["attacks"] == raywalk.attacks("bishop", board.parse_board("d4"), drawings(out)["free"])
    assert numbers(out)[0] == board.ALL ^ (1 << square | 1 << square + (-2 if name else 2))


@runs
def test_numbers_of_directions_around_a_square(capsys: Capture) -> None:
    for given, said in (("none", "none (0)"), ("9", "none (9)"), ("nort", "nort (3)")):
        out = printed(capsys, "run", "exploding.direction", "d4", given, "0", "0", "--isa", "x86-64")
        assert f"direction: {said}\n" in out
    for given in ("up", "-1", ""):
        assert f"no direction '{given}'" in complaint(capsys, "run", "exploding.direction", "d4", given, "0", "0")
    assert "write a number from 0" in complaint(capsys, "run", "exploding.direction", "d4", "5x", "0", "0")


def test_what_is_no_board_and_no_position(capsys: Capture) -> None:
    assert "over 64 bits" in complaint(capsys, "run", DUMB7, "0x1ffffffffffffffff", "0")
    assert "is not a board" in complaint(capsys, "run", DUMB7, "", "0")
    assert "draw" in complaint(capsys, "run", DUMB7, "a board\nof two lines", "0")
    assert "FEN" in complaint(capsys, "run", DUMB7, "--fen", "")
    assert "FEN" in complaint(capsys, "run", DUMB7, "--fen", "8/8/8/8/8/8/8/9 w")


@pytest.mark.parametrize("given", [[], ["1"], ["1", "2", "3"]])
def test_the_wrong_count_of_arguments(given: list[str], capsys: Capture) -> None:
    said = complaint(capsys, "run", DUMB7, *given)
    assert f"takes 2 arguments (fewer with --fen), not {len(given)}: sliders empty" in said


def test_arguments_beside_a_position(capsys: Capture) -> None:
    said = complaint(capsys, "run", DUMB7, "1", "--fen", KIWIPETE)
    assert "takes no arguments beside --fen, not 1" in said
    assert "write w or b" in complaint(capsys, "run", DUMB7, "--fen", KIWIPETE, "--side", "white")
    assert "--side goes with --fen" in complaint(capsys, "run", DUMB7, "1", "2", "--side", "w")


def test_a_position_that_fills_no_parameter(capsys: Capture) -> None:
    othello = str(Path(__file__).parents[2] / "examples" / "othello.py")
    for given in (), ("d4", "e5"):
        said = complaint(capsys, "run", othello, *given, "--fen", KIWIPETE)
        assert f"--fen fills no parameter of {othello}:mobility: give own other without it" in said
    assert "takes 2 arguments, not 0: own other" in complaint(capsys, "run", othello)


def test_a_routine_of_one_color_takes_its_pieces(capsys: Capture) -> None:
    """Whoever is to move; another side's are refused."""
    given = ("run", "leapers.pushes.black", "--fen", "8/p7/8/8/8/8/P7/8 w")
    assert printed(capsys, *given).splitlines()[-1].split()[-1] == "0x0000_0100_0000_0000"
    assert "for black's pieces: leave --side out" in complaint(capsys, *given, "--side", "w", status=2)


@runs
def test_run_takes_the_best_that_the_processor_has(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "features", frozenset)
    assert ", x86-64, sysv" in printed(capsys, "run", DUMB7, "1", "2")
    monkeypatch.setattr(cpu, "features", lambda: frozenset({"bmi1", "bmi2", "popcnt"}))
    assert main(["run", DUMB7, "no board", "2"]) == 2


def test_what_the_processor_lacks_is_interpreted(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "features", frozenset)
    out = printed(capsys, "run", "sliders.pair", "--isa", "avx512", "--fen", "8/8/8/3R4/8/8/8/k1K5 w")
    assert out.startswith("sliders.pair, avx512, sysv, interpreted: the squares that rooks attack, ")
    assert "0x0808_08f7_0808_0808" in out


def test_run_refuses_routines_on_arrays(capsys: Capture) -> None:
    for name, routine in catalogue().items():
        if any(parameter.kind in ("boards", "count") for parameter in routine.contract.parameters):
            assert "arrays" in complaint(capsys, "run", name, "--isa", "x86-64")


@runs
def test_numbers_are_not_drawn(capsys: Capture) -> None:
    given = ("exploding.rook-corners", "e4", "3", "0xff")
    out = printed(capsys, "run", *given)
    assert "\nsquare: e4 (28)\nrepeats: 3\n" in out
    assert drawings(out).keys() == {"free", "attacks"}
    assert "\nat entry   square (rdi): e4 (28), repeats (rsi): 3\nfree" in printed(
        capsys, "trace", *given, "--registers"
    )


def test_what_counts_gives_numbers(capsys: Capture) -> None:
    assert main(["run", "sliders.mobility", "a1", "c1", "0xffff", "0x5", "--isa", "x86-64"]) == 0
    inputs, numbers = capsys.readouterr().out.rstrip().rsplit("\n\n", 1)
    assert inputs.count("0x0000_0000") == 4
    assert numbers.splitlines() == ["orthogonal: 3", "diagonal: 2"]


def test_arguments_must_meet_the_requirements(capsys: Capture) -> None:
    given = ("sliders.counts", "d4", "0", "0xff")
    assert "sliders within occupied" in complaint(capsys, "run", *given, "0xff")
    assert printed(capsys, "run", *given, "d4,d3").endswith("\n\nmoves: 0\n")


def test_white_and_black_are_the_pieces_of_a_side(capsys: Capture) -> None:
    found = drawings(printed(capsys, "run", "exploding.orthogonal", "e4", "--fen", "startpos"))
    assert (found["white"], found["black"]) == (board.RANK_1 | board.RANK_2, board.RANK_7 | board.RANK_8)
