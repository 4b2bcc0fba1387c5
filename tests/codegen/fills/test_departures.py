"""Where a kernel departs from the form that the literature prints: that form is wrong or undefined, the kernel is not.

The kernels' machine code is stepped; the printed forms are written here as the pages have them.
"""

import random
from collections.abc import Callable
from functools import cache

import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.count import count
from setwise.analysis.run.caller import Caller
from setwise.analysis.run.interpreter import executed_counts
from setwise.analysis.spec.contracts import task_of
from setwise.analysis.spec.raywalk import ALL, SETS, attacks, from_square, occluded
from setwise.codegen.board import DIRECTIONS
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower

NOT_A, DAMAGED_NOT_A = 0xFEFE_FEFE_FEFE_FEFE, 0xFE_FEFE_FEFE_FEFE


@cache
def caller(name: str, isa: str = "x86-64") -> Caller:
    kernel = lower(find(name), isa, "sysv")
    return Caller(binary_of(kernel), task_of(kernel))


def run(name: str, *words: int, isa: str = "x86-64") -> int:
    code = caller(name, isa)
    return code.results(code.trace(words))[0][0]


def boards(number: int) -> list[int]:
    drawn = random.Random(2005)
    return [drawn.getrandbits(64) & drawn.getrandbits(64) for _ in range(number)]


def cases(number: int = 60) -> list[tuple[int, int]]:
    some = boards(2 * number)
    return list(zip(some[:number], [ALL ^ board for board in some[number:]], strict=True))


# Dumb7Fill


def cycles(gen: int, pro: int, number: int) -> int:
    """The unrolled loop, with so many lines."""
    flood = gen
    for _ in range(number):
        gen = (gen >> 8) & pro
        flood |= gen
    return flood


def test_the_unrolled_listing_prints_two_lines_too_many() -> None:
    """Seven cycles are the definition, and enough; nine change nothing."""
    for sliders, empty in cases():
        assert cycles(sliders, empty, 9) == cycles(sliders, empty, 7) == occluded("sout", sliders, empty)
        assert run("dumb7.occluded.sout", sliders, empty) == cycles(sliders, empty, 7)
    assert cycles(1 << 56, ALL, 6) != cycles(1 << 56, ALL, 7)
    found = count(caller("dumb7.occluded.sout").binary)
    assert found.operations == 3 * 7
    assert found.moves == 1


def east(mask: int, sliders: int, empty: int) -> int:
    empty &= mask
    return (cycles_east(sliders, empty) << 1) & mask


def cycles_east(gen: int, pro: int) -> int:
    flood = gen
    for _ in range(6):
        gen = (gen << 1) & pro
        flood |= gen
    return flood


def test_masks_of_seven_bytes_are_damaged() -> None:
    """Printed 0xfefefefefefefe: with it nothing goes east on the eighth rank."""
    assert east(DAMAGED_NOT_A, 1 << 56, ALL) != attacks("east", 1 << 56, ALL)
    for sliders, empty in [*cases(), (1 << 56, ALL)]:
        assert east(NOT_A, sliders, empty) & ALL == attacks("east", sliders, empty)
        assert run("dumb7.attacks.east", sliders, empty) == attacks("east", sliders, empty)


# Isenberg's post


PRINTED: dict[str, Callable[[int, int], int]] = {
    "subtraction.attacks.east": lambda rooks, occ: (occ ^ (occ - 2 * rooks)) & ALL,
    "subtraction.attacks-cleared.east": lambda rooks, occ: (occ ^ ((occ & ~rooks) - rooks)) & ALL,
}


def bytewise(function: Callable[[int, int], int], rooks: int, occ: int) -> int:
    """As its SSE2 code computes: byte by byte."""
    return sum((function(rooks >> n & 0xFF, occ >> n & 0xFF) & 0xFF) << n for n in range(0, 64, 8))


@pytest.mark.parametrize("name", PRINTED)
def test_on_a_general_register_the_borrow_needs_a_wall(name: str) -> None:
    printed = PRINTED[name]
    wrong = 0
    for rooks, empty in cases():
        occupied = (ALL ^ empty) | rooks
        expected = attacks("east", rooks, ALL ^ occupied)
        assert bytewise(printed, rooks, occupied) == expected  # eight bytes of their own: the post is right
        assert run(name, rooks, occupied) == expected
        wrong += printed(rooks, occupied) != expected  # one subtraction of 64 bits: the borrow leaves the rank
    assert wrong > 10


def test_the_carry_loop_is_of_unsigned_numbers() -> None:
    """`int add(int x, int y)` shifts into the sign, which C leaves undefined; the kernel counts modulo 2**32."""
    for x, y in [(0x7FFF_FFFF, 1), (0xFFFF_FFFF, 0xFFFF_FFFF), (0x8000_0000, 0x8000_0000), (5, 0)]:
        assert run("bytewise.carry-loop-32", x, y) == (x + y) % 2**32
        assert run("bytewise.carry-loop-64", x, y) == x + y


# Exploding bitboards


@pytest.mark.parametrize("isa", ["x86-64", "bmi2"])
def test_squares_below_six_shift_by_negative_counts(isa: str) -> None:
    """`C64(1) << (sq - 6)` is undefined in C there; the kernel shifts modulo 64, and what that clears does no harm."""
    with pytest.raises(ValueError, match="negative shift count"):
        1 << (0 - 6)
    for square in range(6):
        for _, free in cases(12):
            assert run("exploding.rook", square, free, isa=isa) == from_square("rook", square, free)


@pytest.mark.parametrize(("piece", "first", "executed"), [("bishop", 7, 12), ("rook", 9, 18)])
def test_numbers_for_corners_spare_explosions_behind_pawns(piece: str, first: int, executed: int) -> None:
    """The page names 7, 8 and 9, of rooks 9, 10 and 11, and leaves their cases open."""
    code = caller(f"exploding.{piece}-corners")
    for corner in (0, 7, 56, 63):
        ways = [DIRECTIONS[way].shift for way in SETS[piece] if from_square(way, corner, ALL)]
        if corner < 8:  # a table gives a rook's attacks along the first rank
            ways = [shift for shift in ways if abs(shift) > 1]
        for far in (1, 2, 3):
            pawns = sum(1 << corner + far * shift for shift in ways)
            for free in (ALL, *boards(4)):
                trace = code.trace((corner, first + far - 1, free & ~pawns))
                assert code.results(trace)[0][0] == from_square(piece, corner, free & ~pawns)
                assert far > 1 or executed_counts(trace).instructions <= executed
