import chess
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setwise.analysis.spec import raywalk, words
from setwise.analysis.spec.raywalk import (
    ALL,
    DIR8,
    DIRECTIONS,
    SETS,
    attacks,
    from_square,
    occluded,
    specification,
    step,
)

boards = st.one_of(st.integers(0, ALL), st.sets(st.integers(0, 63), max_size=8).map(lambda s: sum(1 << i for i in s)))


def behind(direction: str, square: int) -> list[int]:
    """Squares from which a ray of that direction comes to `square`, the nearest first."""
    file_step, rank_step = DIRECTIONS[direction]
    places = [(square % 8 - n * file_step, square // 8 - n * rank_step) for n in range(1, 8)]
    return [8 * rank + file for file, rank in places if file in range(8) and rank in range(8)]


def naive(direction: str, sliders: int, empty: int, target: int) -> bool:
    """Whether some slider stands behind the target with all squares strictly between empty."""
    path = behind(direction, target)
    return any(
        sliders >> source & 1 and all(empty >> between & 1 for between in path[:distance])
        for distance, source in enumerate(path)
    )


@pytest.mark.parametrize("direction", DIR8)
@given(sliders=boards, empty=boards)
def test_against_the_definition(direction: str, sliders: int, empty: int) -> None:
    reached = {target for target in range(64) if naive(direction, sliders, empty, target)}
    assert attacks(direction, sliders, empty) == sum(1 << square for square in reached)
    filled = {square for square in range(64) if sliders >> square & 1 or (square in reached and empty >> square & 1)}
    assert occluded(direction, sliders, empty) == sum(1 << square for square in filled)


@given(st.sets(st.integers(0, 63), max_size=6), boards)
def test_against_python_chess(squares: set[int], occupied: int) -> None:
    sliders = sum(1 << square for square in squares)
    occupied |= sliders
    empty = ALL ^ occupied
    board = chess.Board.empty()
    for square in range(64):
        if occupied >> square & 1:
            board.set_piece_at(square, chess.Piece(chess.PAWN, chess.WHITE))
    for piece, symbol in (("rook", chess.ROOK), ("bishop", chess.BISHOP), ("queen", chess.QUEEN)):
        expected = 0
        for square in squares:
            board.set_piece_at(square, chess.Piece(symbol, chess.WHITE))
            found = int(board.attacks(square))
            assert from_square(piece, square, empty) == found
            expected |= found
        assert attacks(piece, sliders, empty) == expected


def test_steps_and_their_directions() -> None:
    e4 = chess.E4
    ends = {"nort": chess.E5, "noEa": chess.F5, "east": chess.F4, "soEa": chess.F3}
    ends |= {"sout": chess.E3, "soWe": chess.D3, "west": chess.D4, "noWe": chess.D5}
    assert {direction: step(direction, 1 << e4) for direction in DIR8} == {d: 1 << s for d, s in ends.items()}
    assert step("east", 1 << chess.H4) == 0
    assert step("west", 1 << chess.A4) == 0
    assert step("nort", 1 << chess.H8) == 0
    assert tuple(DIRECTIONS) == ("noEa", "east", "soEa", "sout", "soWe", "west", "noWe", "nort")
    assert sorted(SETS["rook"] + SETS["bishop"]) == sorted(SETS["queen"])
    assert sorted(SETS["eastward"] + SETS["westward"] + SETS["vertical"]) == sorted(DIR8)


@given(boards)
def test_empty_boards(sliders: int) -> None:
    for direction in (*DIR8, *SETS):
        assert raywalk.empty_fill(direction, sliders) == occluded(direction, sliders, ALL)
        assert raywalk.empty_attacks(direction, sliders) == attacks(direction, sliders, ALL)
        assert raywalk.empty_attacks(direction, sliders) | sliders == raywalk.empty_fill(direction, sliders)


@given(boards, boards, boards, st.integers(0, 7))
def test_numpy_says_the_same(rooks: int, bishops: int, empty: int, dir8: int) -> None:
    arrays = [np.array([word, word], dtype=np.uint64) for word in (rooks, bishops, empty)]
    for name in ("union", "pair", "rays"):
        expected = specification(name)(rooks, bishops, empty)
        found = specification(name)(*arrays)
        assert [word.dtype for word in found] == [np.uint64] * len(expected)
        assert tuple(int(word[1]) for word in found) == expected
    for name in ("attacks", "occluded"):
        expected = specification(name, "any")(rooks, empty, dir8)
        assert expected == specification(name, DIR8[dir8])(rooks, empty)
        found = specification(name, "any")(arrays[0], arrays[2], dir8)
        assert int(found[0][0]) == expected[0]
    found = specification("from-square", "rook")(rooks & 63, arrays[2])
    assert int(found[0][0]) == from_square("rook", rooks & 63, empty)
    assert int(specification("bytewise-sub")(*arrays[:2])[0][0]) == specification("bytewise-sub")(rooks, bishops)[0]


@given(boards, boards, boards, boards)
def test_occupied_in_place_of_empty(rooks: int, bishops: int, queens: int, occupied: int) -> None:
    empty = ALL ^ occupied
    for name in ("union", "pair", "rays"):
        assert specification(name, board="occupied")(rooks, bishops, occupied) == specification(name)(
            rooks, bishops, empty
        )
    assert specification("attacks", "rook", "occupied")(rooks, occupied) == specification("attacks", "rook")(
        rooks, empty
    )
    assert specification("attacks", "any", "occupied")(rooks, occupied, 3) == (attacks("sout", rooks, empty),)
    assert specification("empty-attacks", "west", "occupied")(rooks) == (attacks("west", rooks, ALL),)
    in_pieces = (attacks("rook", rooks, empty), attacks("bishop", bishops, empty), attacks("queen", queens, empty))
    assert specification("pieces", board="occupied")(rooks, bishops, queens, occupied) == in_pieces
    assert specification("pieces")(rooks, bishops, queens, empty) == in_pieces
    assert raywalk.pieces(rooks, bishops, queens, empty) == in_pieces


MIRRORED = [square ^ 7 for square in range(64)]  # h1 = 0


def mirrored(board: int) -> int:
    return sum(1 << (square ^ 7) for square in range(64) if board >> square & 1)


@given(st.permutations(range(64)), st.integers(0, 63), boards)
def test_any_numbers_of_squares(numbers: list[int], square: int, free: int) -> None:
    def numbered(board: int) -> int:
        return sum(1 << numbers[at] for at in range(64) if board >> at & 1)

    for piece in ("rook", "bishop", "queen", "east", "soWe"):
        expected = numbered(from_square(piece, square, free))
        assert from_square(piece, numbers[square], numbered(free), numbers) == expected
        walk = specification("from-square", piece, numbers=numbers)
        assert walk(numbers[square], numbered(free)) == (expected,)


def test_other_numbers_of_squares_where_none_are_known() -> None:
    with pytest.raises(ValueError, match="'attacks' requires the square numbering a1 = 0"):
        specification("attacks", "nort", numbers=MIRRORED)


@given(st.integers(0, ALL), st.integers(0, ALL))
def test_arithmetic(x: int, y: int) -> None:
    assert specification("add")(x, y) == ((x + y) % 2**64,)
    assert specification("add-32")(x, y) == ((x + y) % 2**32,)
    pairs = list(zip(x.to_bytes(8, "little"), y.to_bytes(8, "little"), strict=True))
    assert words.bytewise_add(x, y).to_bytes(8, "little") == bytes((a + b) % 256 for a, b in pairs)
    assert words.bytewise_sub(x, y).to_bytes(8, "little") == bytes((a - b) % 256 for a, b in pairs)


@given(st.integers(0, 63), boards, boards)
def test_one_square_among_pieces(square: int, white: int, black: int) -> None:
    free = ALL ^ (white | black)
    for given_boards in ("empty", "occupied"):  # boards of pieces are what they are
        for piece in ("rook", "bishop"):
            little = specification("from-square-of-pieces", piece, given_boards)
            assert little(square, white, black) == (from_square(piece, square, free),)
            big = specification("from-square-of-pieces", piece, given_boards, MIRRORED)
            assert big(square, white, black) == (from_square(piece, square, free, MIRRORED),)


# Steps of file and rank by the page's drawing of the numbers, looking from White: 4 3 2 / 5 0 1 / 6 7 8.
DRAWN = [line.split() for line in ("4 3 2", "5 0 1", "6 7 8")]
STEPS = {int(n): (across - 1, 1 - down) for down, line in enumerate(DRAWN) for across, n in enumerate(line)}


@given(st.integers(0, 63), st.one_of(st.integers(0, 9), st.integers(0, ALL)), boards, boards)
def test_one_numbered_direction(square: int, number: int, white: int, black: int) -> None:
    expected, file, rank = 0, square % 8, square // 8
    across, up = STEPS.get(number, (0, 0))
    while (across, up) != (0, 0) and file + across in range(8) and rank + up in range(8):
        file, rank = file + across, rank + up
        expected |= 1 << 8 * rank + file
        if (white | black) >> 8 * rank + file & 1:
            break
    assert specification("direction-from-square", "queen")(square, number, white, black) == (expected,)
    # The page numbers squares from h1, but the drawing is seen from White in either case.
    big = specification("direction-from-square", "queen", numbers=MIRRORED)
    assert big(square ^ 7, number, mirrored(white), mirrored(black)) == (mirrored(expected),)
    arrays = [np.array([word, word], dtype=np.uint64) for word in (number, white, black)]
    assert int(specification("direction-from-square", "queen")(square, *arrays)[0][1]) == expected


@given(boards, boards)
def test_right_attacks_takes_free_squares_first(free: int, rooks: int) -> None:
    assert specification("right-attacks", "east")(free, rooks) == (attacks("east", rooks, free),)
    assert specification("right-attacks", "east", "occupied")(ALL ^ free, rooks) == (attacks("east", rooks, free),)


def test_unknown_names() -> None:
    with pytest.raises(ValueError, match="unknown specification 'attack': choose from attacks"):
        specification("attack", "nort")
    with pytest.raises(ValueError, match="unknown direction 'north': choose from noEa"):
        specification("attacks", "north")
    assert specification("Attacks", "NOEA")(1, 0) == (1 << 9,)
