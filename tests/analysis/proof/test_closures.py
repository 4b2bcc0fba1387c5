"""Fills that run until nothing changes are proved by the closure of their specification, and wrong ones refuted."""

from pathlib import Path

import pytest

import setwise
from setwise.analysis.code.objects import ObjectFunction
from setwise.analysis.proofs import Proof, prove_same
from setwise.analysis.semantics.domains import Integers
from setwise.analysis.semantics.words import Word
from setwise.analysis.spec.prototype import Prototype
from tests.analysis.listings import compiled
from tests.conftest import require_module

require_module("bitwuzla")

HEAD = """
#include <stdint.h>
typedef uint64_t U64;
#define RIGHT(a) ((a & ~0x8080808080808080) << 1)
#define LEFT(a) ((a & ~0x0101010101010101) >> 1)
#define STEP(a) ((a << 8 | a >> 8 | RIGHT(a) | LEFT(a)) & empty)
"""
FLOOD = "U64 f(U64 start, U64 empty) { U64 all = start, last, front = start, n = 0; %s }"
RIGHT = {
    "compared with the last": "do { last = all; all |= STEP(all); } while (all != last); return all;",
    "a step ahead": "last = start | STEP(start); while (last != all) { all = last; last = all | STEP(all); }"
    " return all;",
    "new squares alone": "while (front) { front = STEP(front) & ~all; all |= front; } return all;",
    "new squares, at least once": "do { front = STEP(front) & ~all; all |= front; } while (front); return all;",
    "two steps a round": "do { last = all; all |= STEP(all); all |= STEP(all); } while (all != last); return all;",
    "one direction after the other": "do { last = all; all |= RIGHT(all) & empty; all |= LEFT(all) & empty;"
    " all |= all << 8 & empty; all |= all >> 8 & empty; } while (all != last); return all;",
}
SPECIFICATION = """
import setwise

def f(start, empty):
    def step(board):
        right, left = (board & ~setwise.FILE_H) << 1, (board & ~setwise.FILE_A) >> 1
        return (board << 8 | board >> 8 | right | left) & empty
    return setwise.closure(start, step)
"""


def judged(folder: Path, body: str, specification: str = SPECIFICATION, *flags: str) -> Proof:
    file = folder / "spec.py"
    file.write_text(specification)
    function = ObjectFunction(str(compiled(folder, HEAD + FLOOD % body, *(flags or ("-O2",)))), "f")
    return prove_same(function, f"{file}:f", Prototype("uint64_t f(uint64_t start, uint64_t empty)"))


@pytest.mark.parametrize("flags", ["-O2", "-O0"])
@pytest.mark.parametrize("way", RIGHT)
def test_floods_are_proved(tmp_path: Path, way: str, flags: str) -> None:
    proof = judged(tmp_path, RIGHT[way], SPECIFICATION, flags)
    assert (proof.status, proof.why) == ("proved", "")


WRONG = {
    "an edge": ("compared with the last", "STEP(all)", "((all << 8 | all >> 8 | all << 1 | LEFT(all)) & empty)"),
    "a direction": ("compared with the last", "STEP(all)", "((all << 8 | RIGHT(all) | LEFT(all)) & empty)"),
    "a distance": ("compared with the last", "STEP(all)", "(STEP(all) | all << 16 & empty)"),
    "not only empty squares": ("compared with the last", "STEP(all)", "(STEP(all) | RIGHT(all))"),
    "one round": ("compared with the last", "all != last", "0"),
    "eight rounds": ("compared with the last", "all != last", "all != last && ++n < 8"),
    "without the start": ("compared with the last", "return all", "return all & ~start"),
    "old squares": ("new squares alone", "& ~all; all |= front", "& ~all; all = front"),
    "some new squares": ("new squares alone", "STEP(front) & ~all", "STEP(front) & ~all & ~0x8000000"),
    "the wrong test": ("compared with the last", "all != last", "all == last"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_floods_are_refuted(tmp_path: Path, kind: str) -> None:
    way, old, new = WRONG[kind]
    assert old in RIGHT[way]
    assert judged(tmp_path, RIGHT[way].replace(old, new)).status == "refuted"


ENDLESS = {
    "for one input": "do { last = all; all |= STEP(all); } while (all != last || empty == 5); return all;",
    "no word grows in each round": "do { last = all; if (n) all |= STEP(all); n ^= empty; }"
    " while (all != last || n != 5); return all;",
    "one that goes on": "do { last = all; all |= STEP(all); } while (1); return all;",
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_what_may_not_end_is_not_proved(tmp_path: Path, kind: str) -> None:
    assert judged(tmp_path, ENDLESS[kind]).status != "proved"


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("~(board << 1) & empty", "has, from more squares, all squares"),
        ("setwise.closure(board, lambda b: b << 1)", "closure"),
    ],
)
def test_a_step_that_has_no_closure_is_refused(tmp_path: Path, step: str, said: str) -> None:
    proof = judged(
        tmp_path,
        RIGHT["two steps a round"],
        SPECIFICATION.replace("return (board <<", f"return {step}\n        (board <<"),
    )
    assert proof.status == "not proved"
    assert said in proof.why


def test_a_closure_of_known_words_is_what_a_loop_gives() -> None:
    maze = 0x00FE_02FA_0A3A_20FF
    all_squares, last = 1, 0
    while all_squares != last:
        last = all_squares
        all_squares |= (all_squares << 8 | all_squares >> 8) & maze

    def step(board: int) -> int:
        return (board << 8 | board >> 8) & maze

    assert setwise.closure(1, step) == all_squares
    assert setwise.closure(Word(Integers(), 1), step).value == all_squares
