import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setwise
from setwise.analysis.spec import leaperwalk
from setwise.analysis.spec.raywalk import specification, union

ALL = (1 << 64) - 1
boards = st.one_of(st.integers(0, ALL), st.sets(st.integers(0, 63), max_size=8).map(lambda s: sum(1 << i for i in s)))
PIECES = {
    ("knights", ""): chess.Piece(chess.KNIGHT, chess.WHITE),
    ("kings", ""): chess.Piece(chess.KING, chess.WHITE),
    ("pawns", "white"): chess.Piece(chess.PAWN, chess.WHITE),
    ("pawns", "black"): chess.Piece(chess.PAWN, chess.BLACK),
}


@pytest.mark.parametrize(("name", "color"), PIECES)
@given(leapers=boards)
def test_against_python_chess(name: str, color: str, leapers: int) -> None:
    expected = 0
    for square in chess.scan_forward(leapers):
        board = chess.Board.empty()
        board.set_piece_at(square, PIECES[name, color])
        expected |= int(board.attacks(square))
    assert specification(name, color)(leapers) == (expected,)


@pytest.mark.parametrize("side", [chess.WHITE, chess.BLACK])
@given(squares=st.sets(st.integers(8, 55), max_size=12), stones=st.sets(st.integers(0, 63), max_size=24))
def test_pawns_go_where_python_chess_lets_them(side: bool, squares: set[int], stones: set[int]) -> None:
    board = chess.Board.empty()
    board.turn = side
    for square in stones:
        board.set_piece_at(square, chess.Piece(chess.KNIGHT, not side))
    for square in squares:
        board.set_piece_at(square, chess.Piece(chess.PAWN, side))
    moves = [move for move in board.pseudo_legal_moves if not board.is_capture(move)]
    empty, color, pawns = ALL ^ board.occupied, "white" if side else "black", int(board.pieces(chess.PAWN, side))
    for name, far in (("pushes", 8), ("double-pushes", 16)):
        ends = {move.to_square for move in moves if abs(move.to_square - move.from_square) == far}
        assert specification(name, color)(pawns, empty) == (sum(1 << square for square in ends),)


@settings(max_examples=20)
@given(boards, boards, boards, boards, boards, boards)
def test_a_side_is_its_pieces(rooks: int, bishops: int, knights: int, kings: int, pawns: int, empty: int) -> None:
    alone = union(rooks, bishops, empty) | leaperwalk.knights(knights)
    assert specification("side-union-knights")(rooks, bishops, knights, empty) == (alone,)
    for color in leaperwalk.COLORS:
        all_of_it = alone | leaperwalk.kings(kings) | leaperwalk.pawns(color, pawns)
        men = (rooks, bishops, knights, kings, pawns, empty)
        assert specification("side-union", color)(*men) == (all_of_it,)
        assert specification("side-twice", color)(*men)[0] == all_of_it
        kinds = specification("side-pieces", color)(rooks, bishops, 0, knights, kings, pawns, empty)
        assert setwise.union(kinds) == all_of_it
        nested = specification("side-nested", color)(rooks, bishops, 0, knights, kings, pawns, empty)
        assert nested[0] == kinds[5]
        assert nested[1] == kinds[5] | kinds[3] | kinds[1]
        assert nested[2] == nested[1] | kinds[0]
        assert nested[3] == all_of_it


def test_unknown_colors() -> None:
    with pytest.raises(ValueError, match="unknown color 'red': choose from white, black"):
        specification("pawns", "red")
