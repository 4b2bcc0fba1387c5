"""Functions that write a list are compared by its items, in order or in any order, and by nothing behind them."""

from pathlib import Path

import pytest

from setwise.analysis.code.objects import ObjectFunction
from setwise.analysis.commands.prove import certificate_text
from setwise.analysis.proofs import Proof, prove_same
from setwise.analysis.spec.prototype import Prototype
from setwise.analysis.spec.task import ItemList
from tests.analysis.listings import compiled
from tests.conftest import few, require_module

require_module("bitwuzla")

HEAD = """
#include <stdint.h>
#include <immintrin.h>
#define LOWEST(mask) __builtin_ctzll(mask)
#define HIGHEST(mask) (63 - __builtin_clzll(mask))
#define EIGHT(a) a, a + 1, a + 2, a + 3, a + 4, a + 5, a + 6, a + 7
static const uint8_t every[64] __attribute__((aligned(64))) = {
    EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), EIGHT(32), EIGHT(40), EIGHT(48), EIGHT(56)};
"""
MOVES = "int f(uint16_t list[80], uint64_t targets, uint64_t from)"
UPWARD = (
    MOVES
    + """ {
    int n = 0;
    for (; targets; targets &= targets - 1) list[n++] = from | LOWEST(targets) << 6;
    return n;
}"""
)
DOWNWARD = (
    MOVES
    + """ {
    int n = 0;
    for (; targets; targets ^= 1ULL << HIGHEST(targets)) list[n++] = from | HIGHEST(targets) << 6;
    return n;
}"""
)
COMPRESSED = (
    MOVES
    + """ {
    __m512i to = _mm512_maskz_compress_epi8(targets, _mm512_load_si512(every));
    __m512i wide = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(to));
    _mm512_storeu_si512(list, _mm512_or_si512(_mm512_slli_epi16(wide, 6), _mm512_set1_epi16(from)));
    return __builtin_popcountll(targets);
}"""
)

THREATS = "int f(uint16_t list[80], const uint8_t board[64], uint64_t attacked)"
WALKED = (
    THREATS
    + """ {
    int n = 0;
    uint64_t pieces = 0;
    for (int at = 0; at < 64; at++) pieces |= (uint64_t)(board[at] < 12) << at;
    for (uint64_t left = attacked & pieces; left; left &= left - 1)
        list[n++] = LOWEST(left) | board[LOWEST(left)] << 8;
    return n;
}"""
)
MENDED = (
    THREATS
    + """ {
    __m512i all = _mm512_loadu_si512(board);
    uint64_t told = _mm512_mask_cmplt_epu8_mask(attacked, all, _mm512_set1_epi8(12));
    __m512i squares = _mm512_maskz_compress_epi8(told, _mm512_load_si512(every));
    __m512i pieces = _mm512_maskz_compress_epi8(told, all);
    __m512i low = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(squares));
    __m512i high = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(pieces));
    _mm512_storeu_si512(list, _mm512_or_si512(low, _mm512_slli_epi16(high, 8)));
    return __builtin_popcountll(told);
}"""
)
BROKEN = MENDED.replace("_mm512_mask_cmplt_epu8_mask(attacked, all, _mm512_set1_epi8(12))", "attacked")
"""It tells of attacked squares without a piece, too."""


def judged(folder: Path, text: str, by: str, most: int, unordered: bool = False, listed: bool = True) -> Proof:
    """The proof of one function by another one, for at most `most` squares in the last parameter."""
    made = []
    for name, each in (("one", text), ("other", by)):
        (folder / name).mkdir(exist_ok=True)
        flags = ("-march=icelake-client",) if "_mm512" in each else ("-mno-avx", "-mno-bmi")
        made.append(ObjectFunction(str(compiled(folder / name, HEAD + each, *flags)), "f"))
    few, prototype = folder / "few.py", MOVES if MOVES in by else THREATS
    named = "list, squares, _" if prototype == MOVES else "list, _, squares"
    fewer = f"for _ in range({most}):\n        squares &= squares - 1"
    few.write_text(f"def few({named}):\n    {fewer}\n    return squares == 0\n")
    items = ItemList("list", unordered) if listed else None
    contract = Prototype(prototype, requires=(f"{few}:few",), pieces="pPnNbBrRqQkK", items=items)
    return prove_same(made[0], made[1], contract, time_limit=200.0)


@pytest.mark.parametrize("most", few([6, 16], 1))
@pytest.mark.parametrize("unordered", [False, True])
def test_lists_are_proved(tmp_path: Path, most: int, unordered: bool) -> None:
    assert judged(tmp_path, COMPRESSED, UPWARD, most, unordered).status == "proved"


def test_what_is_behind_the_items_counts_without_a_list(tmp_path: Path) -> None:
    assert judged(tmp_path, COMPRESSED, UPWARD, 4, listed=False).status == "refuted"


@pytest.mark.slow
def test_the_order_counts_unless_it_is_said_not_to(tmp_path: Path) -> None:
    proof = judged(tmp_path, DOWNWARD, UPWARD, 2)
    assert proof.status == "refuted"
    shown = certificate_text(proof)
    assert "list, expected: 0 64\nlist, got: 64 0" in shown
    assert "as many items of list as it returns\n" in shown
    proof = judged(tmp_path, DOWNWARD, UPWARD, 2, unordered=True)
    assert proof.status == "proved"
    assert "as many items of list as it returns, in any order\n" in certificate_text(proof)


def test_a_list_path_that_tells_of_free_squares_is_refuted(tmp_path: Path) -> None:
    proof = judged(tmp_path, BROKEN, WALKED, 16)
    assert proof.status == "refuted"
    shown = certificate_text(proof)
    assert "list, expected: no items" in shown
    assert "board\n. . . ." in shown


@pytest.mark.slow
@pytest.mark.long
def test_the_mended_list_path_is_proved(tmp_path: Path) -> None:
    assert judged(tmp_path, MENDED, WALKED, 8).status == "proved"


MUTANTS = {
    "a shift": ("_mm512_slli_epi16(wide, 6)", "_mm512_slli_epi16(wide, 7)"),
    "half of the items": (
        "_mm512_cvtepu8_epi16(_mm512_castsi512_si256(to))",
        "_mm512_cvtepu8_epi16(_mm256_setzero_si256())",
    ),
    "the number": ("__builtin_popcountll(targets)", "__builtin_popcountll(targets & targets - 1)"),
    "one more": ("__builtin_popcountll(targets)", "__builtin_popcountll(targets) + 1"),
    "a target": ("compress_epi8(targets,", "compress_epi8(targets & ~2ULL,"),
    "not in order": ("_mm512_storeu_si512(list, ", "_mm512_storeu_si512(list + 1, "),
}


@pytest.mark.parametrize("unordered", few([False, True], 1))
@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants_are_refuted(tmp_path: Path, mutant: str, unordered: bool) -> None:
    assert COMPRESSED.count(MUTANTS[mutant][0])
    assert judged(tmp_path, COMPRESSED.replace(*MUTANTS[mutant]), UPWARD, 4, unordered).status == "refuted"


def test_items_count_as_often_as_they_come(tmp_path: Path) -> None:
    """Two lists of the same items, one of which has the first twice and the other the second."""
    one = MOVES + " { list[0] = list[1] = targets; list[2] = from; return 3; }"
    other = MOVES + " { list[0] = targets; list[2] = list[1] = from; return 3; }"
    assert judged(tmp_path, one, other, 4, unordered=True).status == "refuted"
    assert (
        judged(
            tmp_path, one, one.replace("[2]", "[0]").replace("list[0] = list[1]", "list[1] = list[2]"), 4, True
        ).status
        == "proved"
    )


@pytest.mark.parametrize(
    ("prototype", "named", "said"),
    [
        ("void f(uint16_t list[80])", "list", "does not return the number of items"),
        ("int f(uint16_t list[80])", "moves", "'moves' is no array of integers that it writes"),
        ("int f(const uint16_t list[80])", "list", "'list' is no array of integers that it writes"),
    ],
)
def test_a_list_needs_a_number_and_an_array(tmp_path: Path, prototype: str, named: str, said: str) -> None:
    function = ObjectFunction(str(compiled(tmp_path, "int f(void) { return 1; }")), "f")
    with pytest.raises(ValueError, match=said):
        prove_same(function, function, Prototype(prototype, items=ItemList(named)))
