"""Tables that are read at many places are proved, and a wrong entry is found."""

import pytest

import setwise
from setwise import FILE_A, RANK_1, Board
from setwise.analysis.proof.pointers import Addresses
from setwise.codegen.ir.values import constant
from setwise.own import OwnRoutine

SQUARES = RANK_1 | 1 << 60
BEFORE = 100
"""Entries before the first that is read: the offset of an index."""
ENTRIES = [0] * BEFORE + [3 * constant(n).deposit_bits(SQUARES).number for n in range(1 << SQUARES.bit_count())]
ALL = (1 << 64) - 1


def tripled(entries: list[int]) -> OwnRoutine:
    @setwise.routine
    def made(board: Board) -> Board:
        """Three times the squares of a set."""
        return setwise.table(entries, BEFORE + board.extract_bits(SQUARES))

    made.specification(lambda board: (board & SQUARES) * 3)
    return made


@pytest.mark.parametrize("isa", ["x86-64", "bmi2", "sse2", "avx2"])
def test_a_table_of_hundreds_of_places_is_proved(isa: str) -> None:
    assert tripled(ENTRIES).prove(isa).fine


@pytest.mark.parametrize("isa", ["x86-64", "bmi2", "avx2"])
def test_one_wrong_entry_is_found(isa: str) -> None:
    wrong = [*ENTRIES]
    wrong[-2] ^= FILE_A
    assert {row["status"] for row in tripled(wrong).prove(isa)} == {"refuted"}


def test_bits_that_may_be_ones() -> None:
    domain = Addresses()
    x, mask = domain.unknown("x"), 0xFF0

    def cleared(one: object, masked: object, other: object) -> int:
        return domain.possible(domain.xor(one, domain.and_(masked, other, 64), 64), 64)

    assert cleared(x, x, mask) == cleared(x, mask, x) == ALL & ~mask
    assert cleared(mask, x, mask) == mask
    assert cleared(x, domain.unknown("y"), mask) == cleared(x, x, domain.unknown("y")) == ALL
