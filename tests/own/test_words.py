"""The words of `BitWords` as own routines, each held to its plain definition: proved, run, and compiled."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import pytest

import setwise
from setwise import Board, Number, Value, Word
from setwise.analysis import api
from setwise.codegen.export.names import symbol
from setwise.codegen.ir.values import parameter
from setwise.codegen.run.call import missing
from setwise.codegen.targets import ALL_SETS, SCALARS, TARGETS
from setwise.own import OwnRoutine
from tests.codegen.export.listings.test_go import assert_same
from tests.codegen.export.sources.exported import RUST, ZIG, C, Compiler, Functions, made
from tests.codegen.export.sources.test_compiled import grouped, shared, wrong
from tests.codegen.export.sources.test_javascript import assert_right_under_node
from tests.conftest import runs

Definition = Callable[[Any, Any], Any]
SIGN, LOW = 1 << 63, (1 << 32) - 1


def squares(to: Callable[[int, int], tuple[int, int]]) -> Definition:
    """The board with each square moved from file and rank to others."""

    def moved(x: Word, _: Word) -> Word:
        result = x ^ x
        for rank in range(8):
            for file in range(8):
                its_file, its_rank = to(file, rank)
                result = result | (x >> 8 * rank + file & 1) << 8 * its_rank + its_file
        return result

    return moved


def highest(x: Word, _: Word) -> Word:
    number = -(x ^ x | 1)
    for square in range(64):
        number = chosen(x >> square & 1, x ^ x | square, number)
    return number


def chosen(bit: Word, one: Word, other: Word) -> Word:
    return one & -bit | other & ~-bit


def gathered(x: Word, mask: Word) -> Word:
    """From the last square on, each square of the mask puts its bit below those before."""
    result = x ^ x
    for square in reversed(range(64)):
        result = chosen(mask >> square & 1, result << 1 | x >> square & 1, result)
    return result


def scattered(x: Word, mask: Word) -> Word:
    """From the first square on, each square of the mask takes the lowest bit that is left."""
    result = x ^ x
    for square in range(64):
        bit = mask >> square & 1
        result, x = result | (x & bit) << square, chosen(bit, x >> 1, x)
    return result


def carryless(x: Word, y: Word) -> Word:
    result = x ^ x
    for square in range(64):
        result = result ^ x << square & -(y >> square & 1)
    return result


FOURTHS = [0x1111_1111_1111_1111 << first for first in range(4)]
"""Every fourth square. Sums in a product of two such sets reach no other square of the set that they begin in."""


def carryless_by_fourths(x: Word, y: Word) -> Word:
    result = x ^ x
    for first, mask in enumerate(FOURTHS):
        part = x ^ x
        for other in range(4):
            part = part ^ (x & FOURTHS[other]) * (y & FOURTHS[(first - other) % 4])
        result = result | part & mask
    return result


def high(x: Word, y: Word) -> Word:
    """By shifts and additions of 128 bits, as on paper."""
    low, result = x ^ x, x ^ x
    for square in reversed(range(64)):
        result, low = result << 1 | low >> 63, low << 1
        total = low + (x & -(y >> square & 1))
        result, low = result + (total < low), total
    return result


def by_halves(x: Word, y: Word) -> Word:
    """The product as on paper, with digits of 32 bits."""
    return (x & LOW) * (y & LOW) + ((x >> 32) * (y & LOW) + (x & LOW) * (y >> 32) << 32)


def high_by_halves(x: Word, y: Word) -> Word:
    """The upper half of the product as on paper, with digits of 32 bits."""
    middle = (x >> 32) * (y & LOW) + ((x & LOW) * (y & LOW) >> 32)
    return (x >> 32) * (y >> 32) + (middle >> 32) + ((middle & LOW) + (x & LOW) * (y >> 32) >> 32)


def signed_shift(x: Word, y: Word) -> Word:
    return x >> (y & 63) | -(x >> 63) << 1 << (63 - (y & 63))


def signed_less(x: Word, y: Word) -> Word:
    return (x ^ SIGN) < (y ^ SIGN)


PLAIN: Mapping[str, Definition] = {
    "flip_vertical": squares(lambda file, rank: (file, 7 - rank)),
    "flip_horizontal": squares(lambda file, rank: (7 - file, rank)),
    "flip_diagonal": squares(lambda file, rank: (rank, file)),
    "flip_anti_diagonal": squares(lambda file, rank: (7 - rank, 7 - file)),
    "rotate_180": squares(lambda file, rank: (7 - file, 7 - rank)),
    "isolate_lsb": lambda x, _: x & -x,
    "clear_lsb": lambda x, _: x & x - 1,
    "mask_to_lsb": lambda x, _: x ^ x - 1,
    "bit_scan_forward": lambda x, _: setwise.spec.population(~x & x - 1),
    "bit_scan_reverse": highest,
    "popcount": lambda x, _: setwise.spec.population(x),
    "negated": lambda x, _: 0 - x,
    "is_empty": lambda x, _: -(x == 0),
    "extract_bits": gathered,
    "deposit_bits": scattered,
    "extract_few": lambda x, _: gathered(x, x & 0 | 0x8100_0042_0000_FF01),
    "deposit_few": lambda x, _: scattered(x, x & 0 | 0x8100_0042_0000_FF01),
    "carryless_product": carryless,
    "high_product": high,
    "product": lambda x, y: x * y,
    "carry": lambda x, y: (x + y + 1 < x) | (x + y + 1 == x),
    "equals": lambda x, y: -(x == y),
    "less": lambda x, y: -(x < y),
    "less_signed": lambda x, y: -signed_less(x, y),
    "minimum": lambda x, y: chosen(x < y, x, y),
    "maximum": lambda x, y: chosen(x < y, y, x),
    "minimum_signed": lambda x, y: chosen(signed_less(x, y), x, y),
    "maximum_signed": lambda x, y: chosen(signed_less(x, y), y, x),
    "selected": lambda x, y: chosen(x == 0, y, ~y),
    "shifted_left": lambda x, y: x << (y & 63),
    "shifted_right": lambda x, y: x >> (y & 63),
    "rotate_left": lambda x, y: x << (y & 63) | x >> (-y & 63),
    "arithmetic_shift_right": signed_shift,
    "sign": lambda x, _: -(x >> 63),
    "eighth": lambda x, _: signed_shift(x, x & 0 | 3),
}
"""Each word, and what it means."""
OTHERWISE: Mapping[str, Definition] = {
    "negated": lambda x, _: -x,
    "extract_few": lambda x, _: x.extract_bits(0x8100_0042_0000_FF01),
    "deposit_few": lambda x, _: x.deposit_bits(0x8100_0042_0000_FF01),
    "product": lambda x, y: x * y,
    "carry": lambda x, y: x.add_with_carry(y, 1)[1],
    "selected": lambda x, y: setwise.select(x.is_empty(), y, ~y),
    "shifted_left": lambda x, y: x << y,
    "shifted_right": lambda x, y: x >> y,
    "sign": lambda x, _: x.arithmetic_shift_right(64),
    "eighth": lambda x, _: x.arithmetic_shift_right(3),
}
"""How the word is written where it is not a method of that name."""
ALONE = "flip rotate_180 lsb scan popcount is_empty"
BY_PRODUCTS: Mapping[str, Definition] = {
    "carryless_product": carryless_by_fourths,
    "high_product": high_by_halves,
    "product": by_halves,
}
"""Definitions for the words that multiply by smaller products: bitwuzla cannot relate these to `PLAIN` itself."""
GATHERS = ("extract_bits", "deposit_bits")
"""The words that bitwuzla proves only on sets with pext and pdep. Elsewhere their code is too hard for it."""


@cache
def routine(word: str, definition: Definition | None = None) -> OwnRoutine:
    """An own routine that is this word, held to its meaning."""

    def described(x: Board, y: Board) -> Board:
        alone = any(part in word for part in ALONE.split())
        made: Value = OTHERWISE[word](x, y) if word in OTHERWISE else getattr(x, word)(*() if alone else (y,))
        return made

    described.__name__ = described.__qualname__ = f"word_{word}"
    own = setwise.routine(described)
    own.specification(definition or PLAIN[word])
    return own


words = pytest.mark.parametrize("word", PLAIN)


@runs
@words
def test_a_word_gives_its_meaning_on_every_set_and_in_all_lanes(word: str) -> None:
    ran = [row for row in routine(word).check(abi="sysv", quick=True) if row["status"] != "not run"]
    assert ran
    assert {row["status"] for row in ran} == {"passed"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "isa"),
    [(word, isa) for word in PLAIN for isa in ALL_SETS if isa == "bmi2" or word not in GATHERS],
)
def test_a_word_is_proved_on_every_set(word: str, isa: str) -> None:
    """A product of 64 bits is one instruction but on SSE2 and AVX2."""
    by_products = word in BY_PRODUCTS and (word != "product" or isa in ("sse2", "avx2"))
    assert (routine(word, BY_PRODUCTS[word]) if by_products else routine(word)).prove(isa, abi="sysv").fine


@runs
@pytest.mark.parametrize("word", BY_PRODUCTS)
def test_a_definition_by_products_gives_the_same(word: str) -> None:
    checked = routine(word, BY_PRODUCTS[word]).check("x86-64", abi="sysv", quick=True)
    assert [row["status"] for row in checked] == ["passed"]


@pytest.mark.slow
@pytest.mark.parametrize("one", FOURTHS)
@pytest.mark.parametrize("other", FOURTHS)
def test_a_product_of_fourths_has_no_carries(one: int, other: int) -> None:
    """A product of two words whose bits are four apart is, at every fourth bit, their carry-less product.

    So `carryless_by_fourths` and `carryless` define the same.
    """
    mask = FOURTHS[(FOURTHS.index(one) + FOURTHS.index(other)) % 4]

    @setwise.routine(isas=["x86-64"])
    def fourths(x: Board, y: Board) -> Board:
        return (x & one) * (y & other) & mask

    fourths.specification(lambda x, y: carryless(x & one, y & other))
    assert fourths.prove("x86-64", abi="sysv").fine


@words
def test_constants_fold(word: str) -> None:
    for numbers in ((0, 0), (1, 64), (SIGN, 3), (0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210)):
        made = routine(word).function(*map(setwise.constant, numbers))
        assert made.number == routine(word).kernel("x86-64")(*numbers)


def test_a_constant_of_several_lanes_is_a_count_for_each() -> None:
    counts = setwise.constant((1, 66))
    assert (setwise.constant(3) << counts).constant == (setwise.constant(3, 2) << counts).constant == (6, 12)
    assert (parameter(0, 2) >> counts).attr == (1, 2)


def functions(*isas: str) -> Functions:
    """The kernels of all words for these sets that run here."""
    here = [isa for isa in isas if not missing(TARGETS[isa])]
    asked = [each for word in PLAIN for isa in here for each in api.requests(routine(word).routines, isa, "sysv")]
    return {symbol(request.kernel): request.kernel for request in asked}


@pytest.mark.slow
@runs
@pytest.mark.parametrize(
    ("compiler", "isas"),
    [
        (C[0], ("x86-64", "avx2", "avx512")),
        (C[0], ALL_SETS),
        (C[1], ALL_SETS),
        (C[2], ALL_SETS),
        (RUST, ALL_SETS),
    ],
)
def test_compiled_words_give_the_same(tmp_path: Path, compiler: Compiler, isas: tuple[str, ...]) -> None:
    for group, flags in grouped(compiler, functions(*isas)):
        library = made(tmp_path, compiler, group, *shared(compiler, fast=True), *flags)
        assert wrong(library, group) == {}


@runs
@pytest.mark.slow
@pytest.mark.parametrize(
    ("isa", "cpu"),
    [
        ("x86-64", "x86_64"),
        ("bmi2", "x86_64_v3"),
        ("sse2", "x86_64"),
        ("avx2", "x86_64_v3"),
        ("avx512", "x86_64_v4"),
    ],
)
def test_words_in_zig(tmp_path: Path, isa: str, cpu: str) -> None:
    library = made(tmp_path, ZIG, functions(isa), *shared(ZIG, fast=True), f"-mcpu={cpu}")
    assert wrong(library, functions(isa)) == {}


@pytest.mark.slow
def test_words_in_javascript(tmp_path: Path) -> None:
    assert_right_under_node([*functions("x86-64").values()], tmp_path, 40)


@pytest.mark.slow
def test_words_in_go(tmp_path: Path) -> None:
    assert_same(tmp_path, [*functions("x86-64", "bmi2").values()])


@cache
def branching(kind: str) -> OwnRoutine:
    """An own routine of one lane that tests two values of a kind, and loops while another test of them holds."""
    tests: dict[str, tuple[Callable[[Value, Value], Any], Definition]] = {
        "equal": (setwise.equal, lambda x, y: x == y),
        "below": (setwise.below, lambda x, y: x < y),
        "at_least": (setwise.at_least, lambda x, y: x >= y),
    }
    test, meaning = tests[kind]

    def described(x: Board, y: Annotated[Number, setwise.Bound(1 << 63)]) -> Board:
        (z,) = setwise.when(test(x, y), lambda z: (z ^ y,), x)
        z, _ = setwise.while_(lambda z, n: setwise.below(n, y & 1), lambda z, n: (z + x, n + 1), z, x & 0)
        return z + setwise.select(test(z, y), x, y)

    def meant(x: Word, y: Word) -> Word:
        z = chosen(meaning(x, y), x ^ y, x) + x * (y & 1)
        return z + chosen(meaning(z, y), x, y)

    described.__name__ = described.__qualname__ = f"branching_{kind}"
    own = setwise.routine(described)
    own.specification(meant)
    return own


@pytest.mark.parametrize("isa", SCALARS)
@pytest.mark.parametrize("kind", ["equal", "below", "at_least"])
def test_conditions_compare_two_values(kind: str, isa: str) -> None:
    assert {row["status"] for row in branching(kind).check(isa, abi="sysv", quick=True)} <= {"passed", "not run"}


@pytest.mark.slow
@pytest.mark.parametrize("isa", SCALARS)
@pytest.mark.parametrize("kind", ["equal", "below", "at_least"])
def test_conditions_on_two_values_are_proved(kind: str, isa: str) -> None:
    assert branching(kind).prove(isa, abi="sysv").fine


def test_a_branch_on_an_order_tests_a_sign() -> None:
    """No mask is made where only a branch reads it."""

    @setwise.routine(isas=["x86-64"])
    def lesser(x: Board, y: Board) -> Board:
        return setwise.when(setwise.below(x, y), lambda _: (x,), y)[0]

    assert "sar" not in lesser.listing()
    assert lesser(5, 1 << 63) == lesser(1 << 63, 5) == 5


def test_conditions_of_constants_are_decided() -> None:
    one, two = setwise.constant(1), setwise.constant(2)
    told = setwise.equal(one, 1), setwise.equal(one, two), setwise.below(one, two), setwise.at_least(one, two)
    assert [each.decided for each in told] == [True, False, True, False]
