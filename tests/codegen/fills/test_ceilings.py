"""Ceilings: what the kernels for general registers may cost at most, counted from their bytes."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import product

import pytest

from setwise.analysis.bench.choice import kernel_for
from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.count import Counts, classify, count
from setwise.analysis.code.decode import Binary, decode
from setwise.analysis.parallel import silent
from setwise.codegen.board import ALL
from setwise.codegen.board import DIRECTIONS as COMPASS
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.fills import kogge_stone
from setwise.codegen.ir.routine import Routine
from setwise.codegen.ir.values import CompassRay, constant
from setwise.codegen.lower import lower
from tests import seeds_c
from tests.codegen.programs import routine as described
from tests.conftest import few, require_tool

DIRECTIONS = tuple(seeds_c.DIRECTIONS)
VERTICAL_AND_DIAGONAL = tuple(name for name in DIRECTIONS if name not in ("east", "west"))
SCALAR = [
    routine
    for routine in catalogue().values()
    if {"x86-64", "bmi2"} <= set(routine.isas) and not routine.contract.elements
]

QUICK = [
    routine for routine in SCALAR if routine.family not in ("sliders", "exploding") and routine.direction in DIRECTIONS
]
ALL_OR_QUICK = pytest.mark.parametrize(
    "routines", [QUICK, pytest.param(SCALAR, marks=pytest.mark.slow)], ids=["quick", "all"]
)


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


@ALL_OR_QUICK
def test_bmi2_never_needs_more(routines: Sequence[Routine]) -> None:
    for routine in routines:
        assert counts(routine.name, "bmi2").instructions <= counts(routine.name).instructions, routine.name


@pytest.mark.parametrize("form", ["occluded", "attacks"])
@pytest.mark.parametrize("direction", VERTICAL_AND_DIAGONAL)
def test_kogge_stone_with_bmi2_moves_nothing(form: str, direction: str) -> None:
    name = f"kogge-stone.{form}.{direction}"
    plain, spared = counts(name), counts(name, "bmi2")
    assert spared.instructions < plain.instructions
    moves = [classify(instruction) == "move" for instruction in decode(code(name, "bmi2").text)]
    # At most the result may be moved to its place, behind the fill.
    assert not any(moves[:-2])


def test_a_routine_after_a_page_stays_its_algorithm() -> None:
    """The seventh cycle changes nothing of the attacks, and is there; without it the routine would be dumb7.attacks."""
    name = "dumb7.attacks-of-fill.sout"
    found = counts(name, abi="wiki")
    assert (found.moves, found.operations) == (1, 3 * 7 + 1)
    assert find(name).verbatim
    free = replace(find(name), verbatim=False)
    assert binary_of(lower(free, "x86-64", "wiki")) == code("dumb7.attacks.sout", abi="wiki")
    assert not any(routine.verbatim for routine in catalogue().values() if routine.source == "setwise")


@ALL_OR_QUICK
def test_no_shift_is_a_multiplication_or_a_gathering(routines: Sequence[Routine]) -> None:
    """Only variants have them: they spare an instruction and cost time. Exploding bitboards multiply by their nature.

    So does the sum of bytes by which plain x86-64 counts squares.
    """
    for routine, isa in product(routines, ("x86-64", "bmi2")):
        counted = isa == "x86-64" and routine.name in ("sliders.counts", "sliders.mobility")
        allowed = {"imul"} if routine.family == "exploding" or counted else set()
        used = {instruction.mnemonic for instruction in decode(code(routine.name, isa).text)}
        assert used & {"pext", "pdep", "mul", "imul", "mulx"} <= allowed, routine.name


SHORTEST = {
    "x86-64": {
        "push.attacks.sout": 14,
        "sliders.union": 100,
    },
    "bmi2": {
        "push.attacks.west": 9,
        "sliders.union": 91,
        "sliders.pair": 94,
        "sliders.rays": 96,
        "sliders.counts": 112,
        "sliders.mobility": 115,
        "sliders.sides": 183,
        "sliders.pieces": 185,
        "side.union.white": 128,
        "side.union.black": 131,
    },
}
"""The most instructions with pext, pdep and imul, by instruction set and routine, in the System V convention."""


@pytest.mark.parametrize(("isa", "name"), few(((isa, name) for isa, most in SHORTEST.items() for name in most), 4))
def test_the_shortest_variant_is_short(isa: str, name: str) -> None:
    kernel = kernel_for("size", None, find(name), (isa,), "sysv", None, silent)
    assert count(binary_of(kernel)).instructions <= SHORTEST[isa][name]
    assert {"pext", "imul"} & {instruction.mnemonic for instruction in kernel.code.instructions}


@pytest.mark.parametrize("isa", ["x86-64", "bmi2"])
@pytest.mark.parametrize("form", ["fill", "attacks"])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_an_occluded_fill_with_all_squares_empty_is_the_empty_fill(direction: str, form: str, isa: str) -> None:
    routine = find(f"kogge-stone.empty-{form}.{direction}")
    fill = kogge_stone.occluded if form == "fill" else kogge_stone.attacks

    ray = CompassRay((COMPASS[direction],))
    traced = described(lambda gen: (fill(ray, gen, constant(ALL)),), 1)
    assert binary_of(lower(traced, isa, "sysv")) == code(routine.name, isa)


def test_fill_up_occluded_is_an_alias() -> None:
    assert find("fillUpOccluded") is find("FILLUPOCCLUDED") is find("kogge-stone.occluded.nort")
