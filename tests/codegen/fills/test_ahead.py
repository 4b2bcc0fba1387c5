"""Arrays rank by rank, the next boards' ranks beside what is filled: right, and side by side in the code."""

from __future__ import annotations

import numpy as np
import pytest

from setwise.analysis.code.kernel import binary_of
from setwise.analysis.proof.prover import Prover
from setwise.analysis.run.contracts import task_of
from setwise.analysis.spec import raywalk
from setwise.codegen.board import BISHOP, ROOK
from setwise.codegen.catalogue import find
from setwise.codegen.offers import offered_as
from setwise.codegen.run.function import Function
from tests.conftest import require_module, require_set

VARIANTS = [("avx512", "ahead/held/1-inner-ranks"), ("gfni", "ahead-mirrored/held/1")]
ROUND = 64
SIZES = (0, 1, ROUND - 1, ROUND, ROUND + 1, 2 * ROUND - 1, 2 * ROUND, 3 * ROUND + 5)


def attacks(rooks: int, bishops: int, occupied: int) -> int:
    """Square by square."""
    empty = ~occupied & (1 << 64) - 1
    found = 0
    for directions, sliders in ((ROOK, rooks), (BISHOP, bishops)):
        for direction in directions:
            found |= raywalk.attacks(direction.name, sliders, empty)
    return found


@pytest.mark.parametrize(("isa", "variant"), VARIANTS)
@pytest.mark.parametrize("form", ["union", "union-empty"])
def test_any_number_of_boards_also_in_the_place_of_the_inputs(isa: str, variant: str, form: str) -> None:
    require_set(isa)
    call = Function(offered_as(variant, find(f"sliders.{form}.batch"), isa))
    random = np.random.default_rng(1)
    for n in SIZES:
        rooks, bishops, others = random.integers(0, 1 << 64, (3, n), np.uint64)
        rooks, bishops = rooks & others, bishops & ~others
        occupied = rooks | bishops | random.integers(0, 1 << 64, n, np.uint64)
        wanted = [attacks(*map(int, boards)) for boards in zip(rooks, bishops, occupied, strict=True)]
        squares = occupied if form == "union" else ~occupied
        assert call(rooks, bishops, squares).tolist() == wanted
        for place in (rooks, bishops, squares):
            given = [array.copy() for array in (rooks, bishops, squares)]
            where = [array is place for array in (rooks, bishops, squares)].index(True)
            assert call(*given, out=given[where]).tolist() == wanted


@pytest.mark.parametrize(("isa", "variant"), VARIANTS)
def test_what_interleaves_is_never_long_alone(isa: str, variant: str) -> None:
    """In the round each run of instructions that interleave is short, but for those that put the results back."""
    kernel = offered_as(variant, find("sliders.union.batch"), isa)
    names = "".join("i" if "vpunpck" in i.mnemonic else "o" for i in kernel.code.instructions if "vp" in i.mnemonic)
    round_ = names[64:]  # before it, the first boards' rooks and occupied squares
    assert round_.count("i") == 3 * 32 + 24
    runs = round_.rstrip("o").split("o")
    assert max(map(len, runs[:-1])) <= 12
    assert len(runs[-1]) <= 24 + 4


@pytest.mark.slow
@pytest.mark.parametrize(("isa", "variant"), VARIANTS)
@pytest.mark.parametrize("form", ["union", "union-empty"])
def test_proved_for_all_boards_and_numbers_of_them(isa: str, variant: str, form: str) -> None:
    require_module("bitwuzla")
    kernel = offered_as(variant, find(f"sliders.{form}.batch"), isa)
    assert Prover().prove(binary_of(kernel), task_of(kernel)).status == "proved"


def test_vectors_of_fewer_lanes_do_not_go_ahead() -> None:
    with pytest.raises(ValueError, match="has no variant"):
        offered_as("ahead/1", find("sliders.union.batch"), "avx2")
