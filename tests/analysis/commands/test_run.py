"""`setwise run`: what it draws, what it takes for a board and a position, and where it runs."""

from __future__ import annotations

import pytest

from setwise.analysis.commands.main import main
from setwise.codegen import board
from setwise.codegen.catalogue import catalogue
from setwise.codegen.run import cpu
from tests.analysis.commands.running import DUMB7, KOGGE_STONE, Capture, complaint, numbers, printed, runs
from tests.conftest import require_tool


@runs
def test_run_draws_inputs_and_result(capsys: Capture) -> None:
    out = printed(capsys, "run", KOGGE_STONE, "--fen", board.KIWIPETE, "--isa", "x86-64")
    assert out == (
        "kogge-stone.attacks.sout, x86-64, sysv\n"
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
    position = board.parse_fen(board.KIWIPETE)
    for direction in board.DIR8:
        for side in ("w", "b"):
            out = printed(capsys, "run", f"dumb7.attacks.{direction}", "--fen", board.KIWIPETE, "--side", side)
            straight = direction in board.ROOK
            piece = position.pieces(side, "R" if straight else "B")
            assert numbers(out)[:2] == [piece | position.pieces(side, "Q"), position.empty]


@runs
def test_run_takes_the_side_to_move(capsys: Capture) -> None:
    black = board.KIWIPETE.replace(" w ", " b ")
    to_move = printed(capsys, "run", KOGGE_STONE, "--fen", black)
    assert to_move == printed(capsys, "run", KOGGE_STONE, "--fen", board.KIWIPETE, "--side", "b")
    assert to_move != printed(capsys, "run", KOGGE_STONE, "--fen", board.KIWIPETE)


@runs
def test_a_slider_on_an_empty_square_is_a_slider(capsys: Capture) -> None:
    # What stands on an `empty` square starts a ray of its own and does not stop those of others.
    out = printed(capsys, "run", "dumb7.attacks.east", "a1,c1", "0xffffffffffffffff")
    assert numbers(out)[-1] == 0b11111110


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0x1ffffffffffffffff", "over 64 bits"),
        ("18446744073709551616", "over 64 bits"),
        ("9" * 5000, "over 64 bits"),
        ("-1", "negative"),
        ("12z", "is no board"),
        ("0xfg", "is no board"),
        ("", "is no board"),
        ("i9", "is no board"),
        ("1.5", "is no board"),
        ("a board\nof two lines", "draw"),
    ],
)
def test_what_is_no_board(text: str, said: str, capsys: Capture) -> None:
    assert said in complaint(capsys, "run", DUMB7, text, "0")


@pytest.mark.parametrize(
    "fen",
    ["", "8/8/8/8/8/8/8 w", "8/8/8/8/8/8/8/9 w", "8/8/8/8/8/8/8/7x w", "8/8/8/8/8/8/8/8", "8/8/8/8/8/8/8/8 x", "e4"],
)
def test_what_is_no_position(fen: str, capsys: Capture) -> None:
    assert "FEN" in complaint(capsys, "run", DUMB7, "--fen", fen)


@pytest.mark.parametrize("given", [[], ["1"], ["1", "2", "3"]])
def test_the_wrong_count_of_arguments(given: list[str], capsys: Capture) -> None:
    said = complaint(capsys, "run", DUMB7, *given)
    assert f"takes 2 arguments (or --fen), not {len(given)}: sliders empty" in said


def test_arguments_beside_a_position(capsys: Capture) -> None:
    said = complaint(capsys, "run", DUMB7, "1", "--fen", board.KIWIPETE)
    assert "takes no arguments beside --fen, not 1" in said
    assert "write w or b" in complaint(capsys, "run", DUMB7, "--fen", board.KIWIPETE, "--side", "white")
    assert "--side goes with --fen" in complaint(capsys, "run", DUMB7, "1", "2", "--side", "w")


def test_run_on_a_processor_that_lacks_features(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "features", frozenset)
    said = complaint(capsys, "run", DUMB7, "1", "2", "--isa", "bmi2", status=1)
    assert "lacks" in said


@runs
def test_run_takes_the_best_that_the_processor_has(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "features", frozenset)
    assert ", x86-64, sysv" in printed(capsys, "run", DUMB7, "1", "2")
    monkeypatch.setattr(cpu, "features", lambda: frozenset({"bmi1", "bmi2"}))
    assert main(["run", DUMB7, "no board", "2"]) == 2


def test_run_on_another_processor(capsys: Capture) -> None:
    require_tool("bochs")
    out = printed(capsys, "run", "sliders.pair", "--on", "icelake", "--fen", "8/8/8/3R4/8/8/8/k1K5 w")
    assert out.startswith("sliders.pair, gfni, sysv, on Ice Lake (emulated)\n")
    assert "0x0808_08f7_0808_0808" in out
    assert printed(capsys, "run", "sliders.pair", "--on", "nehalem", "--fen", "8/8/8/8/8/8/8/k1K5 w").startswith(
        "sliders.pair, x86-64, sysv, on Nehalem"
    )
    said = complaint(capsys, "run", "sliders.pair", "--isa", "avx2", "--on", "nehalem", "--fen", "8/8 w", status=2)
    assert said


def test_run_refuses_routines_on_arrays(capsys: Capture) -> None:
    for name, routine in catalogue().items():
        if any(parameter.kind in ("boards", "count") for parameter in routine.contract.parameters):
            assert "arrays" in complaint(capsys, "run", name, "--isa", "x86-64")
