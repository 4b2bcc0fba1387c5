"""Numberings of the squares: against those that are written out here, and steps on boards."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setwise.codegen import board as b
from setwise.codegen.numbering import BIG_ENDIAN_FILES, DIRECTION9, LITTLE_ENDIAN, NUMBERINGS, Numbering, numbering

# The squares of numbers 0, 1, 8 and 63.
BEGINNINGS = {
    "a1": "a1 b1 a2 h8",
    "h1": "h1 g1 h2 a8",
    "a8": "a8 b8 a7 h1",
    "h8": "h8 g8 h7 a1",
    "a1-by-files": "a1 a2 b1 h8",
    "h1-by-files": "h1 h2 g1 a8",
    "a8-by-files": "a8 a7 b8 h1",
    "h8-by-files": "h8 h7 g8 a1",
}

every = pytest.mark.parametrize("there", NUMBERINGS.values(), ids=NUMBERINGS)


def test_the_eight() -> None:
    assert {name: " ".join(map(there.square_name, (0, 1, 8, 63))) for name, there in NUMBERINGS.items()} == BEGINNINGS
    assert {there.name for there in NUMBERINGS.values()} == NUMBERINGS.keys()
    assert numbering("A1-By-Files") is NUMBERINGS["a1-by-files"]
    with pytest.raises(ValueError, match="unknown numbering of squares 'b1': write one of a1 h1"):
        numbering("b1")


def test_big_endian_files_are_the_pages() -> None:
    """Its drawing has 63 to 56 on top and 7 to 0 below, a to h from the left."""
    drawn = [[8 * rank + 7 - file for file in range(8)] for rank in range(8)]
    assert BIG_ENDIAN_FILES.numbers == tuple(number for rank in drawn for number in rank)
    assert (str(BIG_ENDIAN_FILES), BIG_ENDIAN_FILES.a1) == ("h1 = 0, a1 = 7, a8 = 63", 7)


@every
@given(placed=st.integers(0, b.ALL))
@settings(max_examples=20)
def test_a_board_keeps_its_squares(there: Numbering, placed: int) -> None:
    names = {b.square_name(square) for square in b.squares(placed)}
    numbered = there.numbered(placed)
    assert {there.square_name(number) for number in b.squares(numbered)} == names
    assert there.placed(numbered) == placed
    if names:
        assert there.parse_board(" ".join(names)) == there.parse_board(b.draw(placed, labels=True)) == numbered
    assert there.parse_board(hex(numbered)) == numbered


@every
def test_directions_are_those_of_the_numbers(there: Numbering) -> None:
    """A shift moves a piece in the middle of the board one step in the direction that is said."""
    for direction in b.DIR8:
        to = there.placed(1 << there.square("d4") + direction.shift)
        seen = LITTLE_ENDIAN.seen_in(there, direction)
        assert to == 1 << b.square("d4") + seen.shift
        assert there.seen_in(LITTLE_ENDIAN, seen) is direction


def test_numbers_around_a_square_are_as_the_page_draws_them() -> None:
    drawn = [[4, 3, 2], [5, 0, 1], [6, 7, 8]]
    for number, direction in enumerate(DIRECTION9):
        ((down, across),) = [(y, row.index(number)) for y, row in enumerate(drawn) if number in row]
        steps = (direction.file_step, direction.rank_step) if direction else (0, 0)
        assert steps == (across - 1, 1 - down)
