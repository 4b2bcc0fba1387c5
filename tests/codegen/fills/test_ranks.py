"""Boards rank by rank: right for any number of boards, in place too, and proved."""

import numpy as np
import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.proof.prover import Prover
from setwise.analysis.spec import raywalk
from setwise.analysis.spec.contracts import task_of
from setwise.codegen.board import BISHOP, ROOK
from setwise.codegen.catalogue import find
from setwise.codegen.fills.ranks import both_ways
from setwise.codegen.ir.values import parameter
from setwise.codegen.run.function import Function
from setwise.codegen.variants import variant_named
from tests.conftest import few, require_module, require_set


def test_north_and_south_take_turns_and_nothing_reaches_the_first_rank() -> None:
    sliders, blockers = (tuple(parameter(first + rank, 8) for rank in range(8)) for first in (0, 8))
    ranks, attacks = zip(*both_ways(sliders, blockers, lambda ahead: ahead), strict=True)
    assert ranks == (1, 6, 2, 5, 3, 4, 4, 3, 5, 2, 6, 1, 7, 0)
    assert attacks[:2] == (sliders[0], sliders[7])


VARIANTS = [("avx2", "by-ranks"), ("avx512", "by-ranks-hoisted"), ("gfni", "mirrored-ranks-hoisted")]
ROUND = 64
PATIENCE = 900.0  # seconds a proof: nothing here tests time
SIZES = (0, 1, ROUND - 1, ROUND, ROUND + 1, 2 * ROUND - 1, 2 * ROUND, 3 * ROUND + 5)


def attacks(rooks: int, bishops: int, occupied: int) -> int:
    """Square by square."""
    empty = ~occupied & (1 << 64) - 1
    found = 0
    for directions, sliders in ((ROOK, rooks), (BISHOP, bishops)):
        for direction in directions:
            found |= raywalk.attacks(direction.name, sliders, empty)
    return found


@pytest.mark.parametrize(("isa", "variant"), few(VARIANTS, 1))
@pytest.mark.parametrize("form", few(["union", "union-empty"], 1))
def test_any_number_of_boards_also_in_the_place_of_the_inputs(isa: str, variant: str, form: str) -> None:
    require_set(isa)
    call = Function(variant_named(variant, find(f"sliders.{form}.batch"), isa))
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


@pytest.mark.slow
@pytest.mark.parametrize(("isa", "variant"), [*VARIANTS[:2], pytest.param(*VARIANTS[2], marks=pytest.mark.long)])
@pytest.mark.parametrize("form", ["union", pytest.param("union-empty", marks=pytest.mark.long)])
def test_proved_for_all_boards_and_numbers_of_them(isa: str, variant: str, form: str) -> None:
    require_module("bitwuzla")
    kernel = variant_named(variant, find(f"sliders.{form}.batch"), isa)
    assert Prover().prove(binary_of(kernel), task_of(kernel), PATIENCE).status == "proved"
