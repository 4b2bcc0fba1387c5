"""Every function that the documents print has its routine, and docs/literature.md shows which."""

from __future__ import annotations

from pathlib import Path

import pytest

from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.fills import exploding
from tests.seeds_table import EIGHT, TABLE, as_markdown

PAGE = Path(__file__).parents[1] / "docs" / "literature.md"

# What the five documents print or call, by name.
PRINTED = {
    *(direction + ending for direction in EIGHT for ending in ("Attacks", "Fill", "Occl", "One")),
    *("occludedFill", "shiftOne", "slidingAttacks", "fillUpOccluded"),
    *("add", "paddb", "psubb", "rightAttacks"),
    *("bishopAttacks", "rookAttacks", "orthogonal_attacks", "diagonal_attacks", "direction_attacks"),
    *("makeInitB", "makeMaskB", "makeInitR", "makeMaskR", "makeRankR"),
}


def test_none_is_left_out() -> None:
    assert {function for row in TABLE for function in row.functions} == PRINTED


@pytest.mark.parametrize("name", sorted({name for row in TABLE for name in row.routines}))
def test_the_routine_is_there(name: str) -> None:
    routine = find(name)
    assert routine.name == name
    assert {"x86-64", "bmi2"} <= set(routine.isas)
    assert routine.source


def test_every_routine_of_the_literature_is_in_the_table() -> None:
    """But for those that go further: sets of directions, dumb7 fills and empty attacks in all eight."""
    further = {"vertical", "eastward", "westward", "rook", "bishop", "queen"}
    forms = {
        name.rpartition(".")[0] if name.rpartition(".")[2] in EIGHT else name for row in TABLE for name in row.routines
    }
    for routine in catalogue().values():
        if routine.source != "setwise" and routine.direction not in further and not routine.contract.elements:
            form = f"{routine.family}.{routine.form}" if routine.direction in EIGHT else routine.name
            known = form in forms or form in ("kogge-stone.empty-attacks", "dumb7.attacks-until-dry")
            assert known, routine.name


def test_tables_are_the_pages_own() -> None:
    """What the page's makers compute, spot-checked by hand: squares from h1, h1 = 0."""
    first, masks = exploding._reached(exploding.BISHOP_STEPS, 1), exploding._reached(exploding.BISHOP_STEPS, 7)
    assert (first[0], masks[0]) == (1 << 9, 0x8040_2010_0804_0200)
    first, masks = exploding._reached(exploding.ROOK_STEPS, 1), exploding._reached(exploding.ROOK_STEPS, 7)
    assert (first[0], masks[0]) == (1 << 1 | 1 << 8, 0x0101_0101_0101_01FE)
    assert first[27] == 1 << 26 | 1 << 28 | 1 << 19 | 1 << 35


def test_the_page_shows_it() -> None:
    assert as_markdown() in PAGE.read_text(encoding="utf-8")
