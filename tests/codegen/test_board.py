"""Squares, directions, masks, text and FEN: against coordinates, the seeds' table and python-chess."""

import re
from collections.abc import Callable

import chess
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from setwise.analysis.pictures.board_text import Panel, Strip, as_text
from setwise.codegen import board as b
from tests.positions import KIWIPETE

BOARDS = st.integers(0, b.ALL)
SIDES: tuple[b.Side, b.Side] = ("w", "b")


def arrivals(direction: b.Direction, steps: int) -> int:
    """By coordinates: the squares that a walk of `steps` steps ends on, from wherever it starts."""
    return sum(
        1 << 8 * rank + file
        for rank in range(8)
        for file in range(8)
        if 0 <= rank - steps * direction.rank_step < 8 and 0 <= file - steps * direction.file_step < 8
    )


def test_names_and_order_are_the_seeds() -> None:
    assert [one.name for one in b.DIR8] == ["noEa", "east", "soEa", "sout", "soWe", "west", "noWe", "nort"]
    assert [one.shift for one in b.DIR8] == [9, 1, -7, -8, -9, -1, 7, 8]


@pytest.mark.parametrize("direction", b.DIR8, ids=repr)
def test_direction(direction: b.Direction) -> None:
    assert direction.shift == direction.file_step + 8 * direction.rank_step
    assert direction.opposite.opposite is direction
    assert (direction.opposite.file_step, direction.opposite.rank_step) == (-direction.file_step, -direction.rank_step)
    for steps in range(10):
        assert direction.reach(steps) == arrivals(direction, steps)
    # The wrap mask leaves of a plain shift just what the step reaches.
    shifted = b.ALL << direction.shift & b.ALL if direction.shift > 0 else b.ALL >> -direction.shift
    assert shifted & direction.reach_files(1) == direction.reach(1)


def test_direction_sets() -> None:
    for name, members in b.DIRECTION_SETS.items():
        assert len(set(members)) == len(members), name
    assert set(b.EASTWARD) | set(b.WESTWARD) | set(b.VERTICAL) == set(b.ROOK) | set(b.BISHOP) == set(b.DIR8)
    assert all(one.file_step == 1 for one in b.EASTWARD)
    assert all(one.file_step == -1 for one in b.WESTWARD)
    assert all(one.file_step == 0 for one in b.VERTICAL)
    assert all(0 in (one.file_step, one.rank_step) for one in b.ROOK)
    assert [one for one in b.DIR8 if one in b.ROOK] == list(b.ROOK)
    assert [one for one in b.DIR8 if one in b.BISHOP] == list(b.BISHOP)


@pytest.mark.parametrize("name", ["soWe", "SOWE", "sowe"])
def test_direction_by_name(name: str) -> None:
    assert b.direction(name) is b.SOWE is b.DIRECTIONS["soWe"]


def test_no_such_direction() -> None:
    with pytest.raises(ValueError, match=r"^no direction 'south': write one of noEa east .* nort$"):
        b.direction("south")


def test_masks() -> None:
    assert b.FILE_A | b.FILE_H | b.INNER_FILES == b.ALL
    assert (b.FILE_A, b.FILE_H, b.RANK_1, b.RANK_8) == (
        chess.BB_FILE_A,
        chess.BB_FILE_H,
        chess.BB_RANK_1,
        chess.BB_RANK_8,
    )


def test_squares_are_chess_squares() -> None:
    assert [b.square_name(number) for number in range(64)] == chess.SQUARE_NAMES
    assert [b.square(name) for name in chess.SQUARE_NAMES] == list(range(64))


@pytest.mark.parametrize("number", [-1, 64])
def test_no_such_square(number: int) -> None:
    with pytest.raises(ValueError, match=f"no square {number}"):
        b.square_name(number)


@given(BOARDS)
@example(0)
@example(b.ALL)
def test_every_way_to_write_a_board(board: int) -> None:
    numbers = list(b.squares(board))
    assert numbers == [n for n in range(64) if board >> n & 1]
    names = [b.square_name(n) for n in numbers]
    drawing = str(chess.SquareSet(board))
    texts = [
        hex(board),
        hex(board).upper().replace("X", "x"),
        b.hexadecimal(board),
        str(board),
        f"{board:_}",
        drawing,
        as_text([Strip("", (Panel("", board),))], coordinates=True),
        drawing.replace("1", "x").replace(" ", ""),
        f"\n{drawing}\n",
        drawing.replace("\n", "\r\n"),
    ]
    if names:
        texts += [",".join(names), " ".join(names), ", ".join(names).upper(), "\n".join(names), ",".join(names + names)]
    for text in texts:
        assert b.parse_board(text) == board, text
    assert re.fullmatch("0x[0-9a-f]{4}(_[0-9a-f]{4}){3}", b.hexadecimal(board))


@st.composite
def positions(draw: st.DrawFn) -> chess.Board:
    """Any placement of pieces, legal or not, and either side to move."""
    position = chess.Board(None)
    for number, letter in draw(st.dictionaries(st.integers(0, 63), st.sampled_from("PNBRQKpnbrqk"))).items():
        position.set_piece_at(number, chess.Piece.from_symbol(letter))
    position.turn = draw(st.booleans())
    return position


@given(positions())
@example(chess.Board())
@example(chess.Board(KIWIPETE))
def test_fen_as_python_chess_reads_it(expected: chess.Board) -> None:
    fen = expected.fen()
    for text in (fen, " ".join(fen.split()[:2]), expected.epd(), f"  {fen}\n"):
        position = b.parse_fen(text)
        assert position.side == ("w" if expected.turn else "b")
        assert position.occupied == expected.occupied
        assert position.empty == b.ALL ^ expected.occupied
        for side, colour in zip(SIDES, (chess.WHITE, chess.BLACK), strict=True):
            rooks, bishops, queens = (
                expected.pieces_mask(kind, colour) for kind in (chess.ROOK, chess.BISHOP, chess.QUEEN)
            )
            assert tuple(position.pieces(side, letter) for letter in "RBQ") == (rooks, bishops, queens)
            assert position.pieces(side, "RQ") == rooks | queens
            assert position.pieces(side, "BQ") == bishops | queens
            assert position.pieces(side, "RBQ") == rooks | bishops | queens
            assert position.pieces(side, "") == 0
        for letter in "PNBRQKpnbrqk":
            piece = chess.Piece.from_symbol(letter)
            side = "w" if letter.isupper() else "b"
            assert position.pieces(side, letter.upper()) == expected.pieces_mask(piece.piece_type, piece.color)


EMPTY = "8/8/8/8/8/8/8/8"


NOT_BOARDS = (
    ("", "'' is not a board: write"),
    ("7e7e", "'7e7e' is not a board: write 0x"),
    ("0x", "is not a board"),
    ("0x12g4", "is not a board"),
    ("1__0", "is not a board"),
    ("a9", "is not a board"),
    ("a1,,i3", "is not a board"),
    ("3.5", "is not a board"),
    ("²", "is not a board"),
    ("-5", "-5 is negative"),
    ("-0x5", "-0x5 is negative"),
    ("0x1_0000_0000_0000_0000", "0x1_0000_0000_0000_0000 is over 64 bits"),
    ("18446744073709551616", "18446744073709551616 is over 64 bits"),
    ("9" * 5000, "9... is over 64 bits"),
    (". 1\n. .", "the drawn board has 2 lines: draw 8"),
    ("........\n" * 7 + ".......", "rank 1 of the drawn board is '.......': draw 8 squares"),
    ("........\n" * 3 + "...2....\n" + "........\n" * 4, "rank 5 of the drawn board"),
    ("x" * 100, "is not a board"),
)
NOT_FENS = (
    ("", "an empty FEN"),
    ("8/8/8/8/8/8/8 w", "FEN with 7 ranks: write 8"),
    (f"{EMPTY}/8 w", "FEN with 9 ranks"),
    ("8/8/8/8/8/8/8/ w", "FEN with 0 squares in rank 1, ''"),
    ("8/8/8/8/7/8/8/8 w", "FEN with 7 squares in rank 4, '7'"),
    ("8/8/pppp4p/8/8/8/8/8 w", "FEN with 9 squares in rank 6, 'pppp4p'"),
    ("8/8/44/8/8/8/8/8 w", "FEN with two counts in a row in rank 6, '44'"),
    ("9/8/8/8/8/8/8/8 w", "FEN with '9' in rank 8: write pieces"),
    ("8/8/8/8/8/8/xxxxxxxx/8 w", "FEN with 'x' in rank 2"),
    ("8/8/8/8/8/8/²7/8 w", "FEN with '²' in rank 2"),
    (EMPTY, "FEN without a side to move: add w or b"),
    (f"{EMPTY} white", "FEN with side to move 'white': write w or b"),
    (f"{EMPTY} W", "FEN with side to move 'W'"),
    (f"{EMPTY} w KK", "FEN with castling rights 'KK'"),
    (f"{EMPTY} w xyz", "FEN with castling rights 'xyz'"),
    (f"{EMPTY} w - e3", "FEN with en passant square 'e3': write - or a square of rank 6"),
    (f"{EMPTY} b - e6", "a square of rank 3"),
    (f"{EMPTY} b - - x", "FEN with half-move clock 'x'"),
    (f"{EMPTY} b - - -1", "FEN with half-move clock '-1'"),
    (f"{EMPTY} b - - 0 ?", "FEN with move number '?'"),
    (f"{EMPTY} b - - 0 1 bm", "FEN with 7 fields"),
    ("8" * 1000, "FEN with 1 ranks"),
)


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    [*((b.parse_board, *row) for row in NOT_BOARDS), *((b.parse_fen, *row) for row in NOT_FENS)],
)
def test_what_is_no_board_or_fen_is_told_in_one_line(parse: Callable[[str], object], text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        parse(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("rest", ["", "KQkq", "-", "HAha", "- e3", "- e3 4", "- - 0 17"])
def test_fields_that_are_only_validated(rest: str) -> None:
    assert b.parse_fen(f"{EMPTY} b {rest}") == b.Position((0,) * 12, "b")


@pytest.mark.parametrize("parse", [b.parse_board, b.parse_fen])
@given(text=st.text())
@example(text="8/8/8/8/8/8/8/8 w - - \x1f0")
def test_any_text_is_taken_or_refused_in_one_line(parse: Callable[[str], object], text: str) -> None:
    try:
        found = parse(text)
    except ValueError as error:
        found = str(error)
    if isinstance(found, str):
        assert len(found.splitlines()) == 1
    assert not isinstance(found, int) or 0 <= found <= b.ALL
