"""Numberings of the squares, against the literature's drawings."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setwise.analysis.pictures.board_text import Panel, Strip, as_text
from setwise.codegen import board as b
from setwise.codegen.numbering import BIG_ENDIAN_FILES, DIRECTION9, LITTLE_ENDIAN, Numbering


def test_big_endian_files_are_the_pages() -> None:
    """Its drawing has 63 to 56 on top and 7 to 0 below, a to h from the left."""
    drawn = [[8 * rank + 7 - file for file in range(8)] for rank in range(8)]
    assert BIG_ENDIAN_FILES.numbers == tuple(number for rank in drawn for number in rank)
    assert (str(BIG_ENDIAN_FILES), BIG_ENDIAN_FILES.numbers[0]) == ("h1 = 0, a1 = 7, a8 = 63", 7)


@pytest.mark.parametrize("numbering", [LITTLE_ENDIAN, BIG_ENDIAN_FILES], ids=lambda numbering: numbering.name)
@given(placed=st.integers(0, b.ALL))
@settings(max_examples=20)
def test_a_board_keeps_its_squares(numbering: Numbering, placed: int) -> None:
    names = {b.square_name(square) for square in b.squares(placed)}
    numbered = numbering.numbered(placed)
    assert {numbering.square_name(number) for number in b.squares(numbered)} == names
    assert numbering.placed(numbered) == placed
    if names:
        drawing = as_text([Strip("", (Panel("", placed),))], coordinates=True)
        assert numbering.parse_board(" ".join(names)) == numbering.parse_board(drawing) == numbered
    assert numbering.parse_board(hex(numbered)) == numbered


def test_numbers_around_a_square_are_as_the_page_draws_them() -> None:
    drawn = [[4, 3, 2], [5, 0, 1], [6, 7, 8]]
    for number, direction in enumerate(DIRECTION9):
        ((down, across),) = [(y, row.index(number)) for y, row in enumerate(drawn) if number in row]
        steps = (direction.file_step, direction.rank_step) if direction else (0, 0)
        assert steps == (across - 1, 1 - down)
