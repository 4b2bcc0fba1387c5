"""The names that the pages print: each means its routine or table, and docs/literature.md shows which."""

from collections.abc import Iterator
from itertools import groupby

import pytest

from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.fills import exploding
from setwise.codegen.literature import EIGHT, FUNCTIONS, PageFunction, PageSection, names, printed_names
from setwise.codegen.tables import table
from tests.seeds import ROOT

PAGE = ROOT / "docs" / "literature.md"


def test_every_routine_of_the_literature_is_printed_somewhere() -> None:
    """But for those that go further: sets of directions, cases for corners, fills and attacks in all eight."""
    further = {"vertical", "eastward", "westward", "rook", "bishop", "queen"}
    known = {routine for function in FUNCTIONS for routine in (function.routine, *function.also)}
    assert known < set(catalogue())
    forms = {name.rpartition(".")[0] for name in known if name.rpartition(".")[2] in EIGHT}
    for routine in catalogue().values():
        if routine.source != "setwise" and routine.direction not in further and not routine.contract.elements:
            form = f"{routine.family}.{routine.form}"
            beside = form in ("kogge-stone.empty-attacks", "dumb7.attacks-until-dry")
            if routine.form in ("bishop-corners", "rook-corners"):
                continue  # the page has words for them alone
            assert routine.name in known or (routine.direction in EIGHT and (form in forms or beside)), routine.name


@pytest.mark.parametrize("name", names())
def test_a_name_means_its_routine(name: str) -> None:
    printed, _, where = name.partition("@")
    meant = {f.routine for f in FUNCTIONS if f.name == printed and (not where or f.place.within(where))}
    assert {find(name).name} == meant == {find(name.upper()).name}


def test_names_of_several_routines_are_refused_with_each() -> None:
    for name in printed_names():
        routines = {function.routine for function in FUNCTIONS if function.name == name}
        if len(routines) > 1:
            with pytest.raises(
                ValueError, match=f"{name} is printed as {len(routines)} routines: write {name}@"
            ) as error:
                find(name)
            assert all(f": {routine})" in str(error.value) for routine in routines)
    with pytest.raises(
        ValueError, match=r"soutAttacks@kogge-stone \(Kogge-Stone Algorithm: kogge-stone.attacks.sout\)"
    ):
        find("soutAttacks@dumb7fill")
    with pytest.raises(ValueError, match="paddb is not printed at 'dumb7fill': write paddb "):
        find("paddb@dumb7fill")


@pytest.mark.parametrize(
    ("wrong", "offered"),
    [("soutOcl", "soutOccl"), ("noWeFil", "noWeFill"), ("slidingAttack@kogge-stone", "slidingAttacks@kogge-stone")],
)
def test_printed_names_are_offered(wrong: str, offered: str) -> None:
    with pytest.raises(ValueError, match=f"the nearest names are {offered},"):
        find(wrong)


def test_a_table_is_no_routine() -> None:
    with pytest.raises(ValueError, match="makeInitB is a table: print it with setwise table makeInitB"):
        find("makeInitB")
    with pytest.raises(ValueError, match="unknown table 'avoidWarp': the nearest names are avoidWrap"):
        table("avoidWarp")


def test_tables_hold_what_fills_take() -> None:
    """Spot-checked by hand; squares from h1, h1 = 0."""
    first, masks = table("initB").entries, table("MASKB").entries
    assert (first[0], masks[0]) == (1 << 9, 0x8040_2010_0804_0200)
    first, masks = table("makeInitR").entries, table("maskR").entries
    assert (first[0], masks[0]) == (1 << 1 | 1 << 8, 0x0101_0101_0101_01FE)
    assert first[27] == 1 << 26 | 1 << 28 | 1 << 19 | 1 << 35
    ranks = exploding.rank_attacks()
    assert all(table("rankR").entries[128 * s + i] == ranks[64 * s + i // 2] for s in range(8) for i in range(128))


def test_docs_show_it() -> None:
    assert "".join(f"{line}\n" for line in as_markdown()) in PAGE.read_text(encoding="utf-8")


def as_markdown() -> Iterator[str]:
    """Every function with its place; eight that differ only in the direction in one line."""

    def form(function: PageFunction) -> tuple[PageSection, str]:
        family, _, direction = function.routine.rpartition(".")
        return function.place, family if direction in EIGHT else function.routine

    yield "| page | section | printed | here |"
    yield "|---|---|---|---|"
    for (place, _), alike in groupby(FUNCTIONS, form):
        functions = list(alike)
        here = [f"`{routine}`" for routine in (functions[0].routine, *functions[0].also)]
        printed = ", ".join(f"`{function.name}`" for function in functions)
        ending = " and so on" if len(functions) > 1 else ""
        yield f"| {place.page.title} | {place.section} | {printed} | {', '.join(here)}{ending} |"
