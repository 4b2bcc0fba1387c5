"""Ceilings: what the kernels for general registers may cost at most, counted from their bytes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from setwise.analysis.code.count import Counts, classify, count
from setwise.analysis.code.decode import Binary, decode
from setwise.analysis.code.kernel import binary_of
from setwise.codegen.board import ALL
from setwise.codegen.board import DIRECTIONS as COMPASS
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.describe.layout import Layout
from setwise.codegen.describe.routine import Contract, Parameter, Routine
from setwise.codegen.describe.values import Value, constant
from setwise.codegen.fills import kogge_stone
from setwise.codegen.lower import lower
from setwise.codegen.targets import SCALARS
from tests import seeds_c
from tests.conftest import require_tool

DIRECTIONS = tuple(seeds_c.DIRECTIONS)
VERTICAL_AND_DIAGONAL = tuple(name for name in DIRECTIONS if name not in ("east", "west"))
SCALAR = [
    routine
    for routine in catalogue().values()
    if {"x86-64", "bmi2"} <= set(routine.isas) and not routine.contract.elements
]

# Large ones take seconds to make.
EACH = [
    pytest.param(routine, id=routine.name, marks=[pytest.mark.slow] if large else [])
    for routine in SCALAR
    for large in [routine.family in ("sliders", "exploding") or routine.direction in ("rook", "bishop", "queen")]
]


@cache
def code(name: str, isa: str = "x86-64", abi: str = "sysv") -> Binary:
    return binary_of(lower(find(name), isa, abi))


def counts(name: str, isa: str = "x86-64", abi: str = "sysv") -> Counts:
    return count(code(name, isa, abi))


@pytest.mark.parametrize("abi", ["sysv", "win64"])
@pytest.mark.parametrize("form", seeds_c.FORMS)
@pytest.mark.parametrize("family", seeds_c.FAMILIES)
def test_one_direction_needs_no_more_than_a_compiler(family: str, form: str, abi: str) -> None:
    fewest = seeds_c.fewest([require_tool("gcc"), require_tool("clang-19")], abi)
    for direction in DIRECTIONS:
        name = f"{family}.{form}.{direction}"
        assert counts(name, abi=abi).instructions <= fewest[name], name


@pytest.mark.parametrize("routine", EACH)
def test_bmi2_never_needs_more(routine: Routine) -> None:
    assert counts(routine.name, "bmi2").instructions <= counts(routine.name).instructions


@pytest.mark.parametrize("form", ["occluded", "attacks"])
@pytest.mark.parametrize("direction", VERTICAL_AND_DIAGONAL)
def test_kogge_stone_with_bmi2_moves_nothing(form: str, direction: str) -> None:
    name = f"kogge-stone.{form}.{direction}"
    plain, spared = counts(name), counts(name, "bmi2")
    assert spared.instructions < plain.instructions
    moves = [classify(instruction) == "move" for instruction in decode(code(name, "bmi2").text)]
    # At most the result may be moved to its place, behind the fill.
    assert not any(moves[:-2])


@pytest.mark.parametrize(
    ("name", "isa", "instructions", "moves"),
    [
        ("dumb7.attacks.sout", "x86-64", 20, 1),
        ("kogge-stone.attacks.sout", "x86-64", 19, 5),
        ("kogge-stone.attacks.sout", "bmi2", 16, 0),
        ("push.attacks.sout", "x86-64", 16, 2),
        ("push.attacks.sout", "bmi2", 14, 0),
        ("push.attacks.east", "x86-64", 4, 0),
        ("push.attacks.east", "bmi2", 4, 0),
        ("push.attacks.east", "sse2", 3, 0),
        ("push.attacks.east", "avx2", 3, 0),
        ("subtraction.attacks-cleared.east", "sse2", 4, 1),
        ("kogge-stone.attacks.any", "x86-64", 29, 8),
        ("bytewise.carry-loop-64", "x86-64", 9, 2),
        ("bytewise.carry-loop-32", "x86-64", 9, 2),
        ("exploding.bishop", "x86-64", 41, 1),
        ("exploding.rook", "x86-64", 106, 10),
        ("exploding.rook", "bmi2", 100, 11),
        ("sliders.union", "x86-64", 113, 14),
        ("sliders.union", "bmi2", 100, 0),
        ("sliders.union-empty", "x86-64", 112, 14),
        ("sliders.union-empty", "bmi2", 101, 1),
        ("sliders.pair", "bmi2", 103, 0),
        ("sliders.pair-empty", "bmi2", 104, 1),
        ("sliders.rays", "x86-64", 117, 13),
        ("sliders.rays", "bmi2", 105, 0),
        ("sliders.rays-empty", "bmi2", 106, 1),
        ("sliders.sides", "x86-64", 228, 32),
        ("sliders.sides", "bmi2", 200, 7),
    ],
)
def test_ceilings(name: str, isa: str, instructions: int, moves: int) -> None:
    found = counts(name, isa)
    assert found.instructions <= instructions
    assert found.moves <= moves


@pytest.mark.parametrize(("family", "instructions", "moves"), [("dumb7", 20, 1), ("kogge-stone", 19, 5)])
def test_the_classic_comparison_stands(family: str, instructions: int, moves: int) -> None:
    found = counts(f"{family}.attacks.sout", abi="wiki")
    assert (found.instructions, found.moves, found.operations) == (instructions, moves, instructions - moves)


def test_a_routine_after_a_page_stays_its_algorithm() -> None:
    """The seventh cycle changes nothing of the attacks, and is there; without it the routine would be dumb7.attacks."""
    name = "dumb7.attacks-of-fill.sout"
    found = counts(name, abi="wiki")
    assert (found.moves, found.operations) == (1, 3 * 7 + 1)
    assert find(name).literal
    free = replace(find(name), literal=False)
    assert binary_of(lower(free, "x86-64", "wiki")) == code("dumb7.attacks.sout", abi="wiki")
    assert not any(routine.literal for routine in catalogue().values() if routine.source == "setwise")


@pytest.mark.parametrize("routine", EACH)
def test_no_shift_is_a_multiplication_or_a_gathering(routine: Routine) -> None:
    """They spare an instruction and cost time; exploding bitboards multiply because that is what they are.

    So does the sum of bytes by which plain x86-64 counts squares.
    """
    for isa in ("x86-64", "bmi2"):
        counted = isa == "x86-64" and routine.name in ("sliders.counts", "sliders.mobility")
        allowed = {"imul"} if routine.family == "exploding" or counted else set()
        used = {instruction.mnemonic for instruction in decode(code(routine.name, isa).text)}
        assert used & {"pext", "pdep", "mul", "imul", "mulx"} <= allowed


@pytest.mark.parametrize("isa", ["x86-64", "bmi2"])
@pytest.mark.parametrize("form", ["fill", "attacks"])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_an_occluded_fill_with_all_squares_empty_is_the_empty_fill(direction: str, form: str, isa: str) -> None:
    routine = find(f"kogge-stone.empty-{form}.{direction}")
    fill = kogge_stone.occluded if form == "fill" else kogge_stone.attacks

    def describe(layout: Layout, gen: Value) -> tuple[Value, ...]:
        (ray,) = layout.rays((COMPASS[direction],))
        return (fill(ray, gen, constant(ALL, gen.lanes)),)

    contract = Contract((Parameter("sliders", "board"),), routine.contract.specification, direction)
    traced = Routine("test", "traced", direction, contract, (describe,), "", "", SCALARS)
    assert binary_of(lower(traced, isa, "sysv")) == code(routine.name, isa)


def test_fill_up_occluded_is_an_alias() -> None:
    assert find("fillUpOccluded") is find("FILLUPOCCLUDED") is find("kogge-stone.occluded.nort")
