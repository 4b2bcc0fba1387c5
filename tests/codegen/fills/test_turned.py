"""Rooks on boards that are turned: what they attack, and the kernels in which they stand beside bishops."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setwise.analysis.code.binary import binary_of
from setwise.analysis.proof.prover import Prover
from setwise.analysis.spec import raywalk
from setwise.analysis.spec.contracts import task_of
from setwise.codegen.board import ALL, ROOK, Direction
from setwise.codegen.catalogue import find
from setwise.codegen.fills import turned
from setwise.codegen.ir.values import constant
from setwise.codegen.variants import variant_named
from tests.conftest import few, require_module

BOARDS = st.integers(0, ALL)


@pytest.mark.parametrize("direction", ROOK, ids=lambda direction: direction.name)
@given(rooks=BOARDS, others=BOARDS)
def test_rooks_attack_up_to_the_first_occupied_square(direction: Direction, rooks: int, others: int) -> None:
    occupied = rooks | others
    attacked = raywalk.attacks(direction.name, rooks, ~occupied & ALL)
    for reached in (turned.attacks, turned.of_boards):
        assert reached(direction, constant(rooks), constant(occupied)).number == attacked


@pytest.mark.parametrize(
    ("form", "matrices"),
    few([("union", 9), ("union-empty", 9), ("pair", 9), ("rays", 9), ("pieces", 15), ("mobility", 9)], 1),
)
def test_rooks_on_turned_boards_stand_beside_bishops(form: str, matrices: int) -> None:
    """Walls and rooks of three directions go there and what they attack back; other rooks meet the same walls."""
    require_module("bitwuzla")
    kernel = variant_named("transposed", find(f"sliders.{form}"), "gfni")
    assert [i.mnemonic for i in kernel.code.instructions].count("vgf2p8affineqb") == matrices
    assert Prover().prove(binary_of(kernel), task_of(kernel)).status == "proved"


def test_without_matrices_nothing_is_turned() -> None:
    with pytest.raises(ValueError, match=r"sliders\.union for avx512 has no variant 'transposed'"):
        variant_named("transposed", find("sliders.union"), "avx512")
