"""What the pages print, compiled from their own text, gives what the routines and tables of these names give."""

import ctypes
from collections.abc import Iterator

import numpy as np
import pytest

from setwise.analysis.run.checks import run_cases
from setwise.analysis.run.inputs import Cases
from setwise.codegen.board import ALL
from setwise.codegen.catalogue import find
from setwise.codegen.ir.routine import Contract, Parameter, Routine
from setwise.codegen.literature import DUMB7, EXPLODING, FUNCTIONS, ISENBERG, KOGGE_STONE, PageFunction
from setwise.codegen.lower import lower
from setwise.codegen.run.call import missing
from setwise.codegen.tables import TABLES, LiteratureTable
from setwise.codegen.targets import TARGETS
from tests import printed
from tests.conftest import runs

PAGES = {DUMB7: "dumb7", KOGGE_STONE: "kogge-stone", ISENBERG: "isenberg", EXPLODING: "exploding"}
PRINTED = [function for function in FUNCTIONS if not function.called]
USED = {"rayAttacks", "notAFile", "notHFile"}
"""Tables and constants that pages use but do not print."""
QUICK = 8
"""One of so many functions is tried in the quick set, on one instruction set."""


def symbol(function: PageFunction) -> str:
    """Its name in the compiled page: the one of that name that is printed first has the number 1."""
    alike = [each for each in PRINTED if (each.place.page, each.name) == (function.place.page, function.name)]
    return f"{function.name}_{alike.index(function) + 1}"


def named(function: PageFunction) -> str:
    return f"{PAGES[function.place.page]}-{symbol(function)}"


@pytest.mark.parametrize("page", PAGES.values())
def test_what_is_printed_has_a_routine_or_a_table(page: str) -> None:
    """And what has one is printed."""
    known = {symbol(function) for function in PRINTED if PAGES[function.place.page] == page}
    makers = {f"{table.maker}_1" for table in TABLES if table.maker and page == "exploding"}
    assert {definition.symbol for definition in printed.definitions(page)} == known | makers
    there = {table.name for table in TABLES if page in {PAGES[place.page] for place in table.places}}
    assert {*printed.tables(page)} == there - USED


def test_the_second_copy_of_a_page_prints_nothing_else() -> None:
    copied = [definition.symbol for definition in printed.definitions("dumb7-prose")]
    assert copied == ["soutOccl_1", "occludedFill_1", "shiftOne_1", "slidingAttacks_1"]
    assert {*copied} < {definition.symbol for definition in printed.definitions("dumb7")}


@pytest.mark.parametrize("table", [table for table in TABLES if table.name not in USED], ids=lambda table: table.name)
def test_tables_are_the_pages(table: LiteratureTable) -> None:
    for place in table.places:
        page = PAGES[place.page]
        kind = ctypes.c_uint64 if table.boards else ctypes.c_int
        there = (kind * len(table.entries)).in_dll(printed.library(page), table.name)
        assert [*there] == [*table.entries]


@runs
@pytest.mark.parametrize("function", PRINTED[::QUICK], ids=named)
def test_some_functions(function: PageFunction) -> None:
    isas = sets_here(find(function.routine))
    compare(function, 1_000, [isas[PRINTED.index(function) // QUICK % len(isas)]])


@runs
@pytest.mark.slow
@pytest.mark.parametrize("function", PRINTED, ids=named)
def test_functions_give_what_their_routines_give(function: PageFunction) -> None:
    compare(function, 100_000, sets_here(find(function.routine)))


def sets_here(routine: Routine) -> list[str]:
    """The instruction sets that it comes for and that run here, the largest first."""
    return [isa for isa in reversed(routine.isas) if not missing(TARGETS[isa])]


def compare(function: PageFunction, boards: int, isas: list[str]) -> None:
    """The page's function and its routine on so many boards, the routine on each of these sets."""
    contract = find(function.routine).contract
    columns = tuple(drawn(contract, boards))
    expected = printed.results(PAGES[function.place.page], symbol(function), columns)
    assert len({*expected.tolist()}) > boards // 200
    cases = Cases(tuple(parameter.name for parameter in contract.parameters), columns, expected.reshape(-1, 1))
    for isa in isas:
        outcome = run_cases(lower(find(function.routine), isa), cases)
        assert (outcome.status, outcome.cases) == ("passed", boards), (isa, outcome)


def drawn(contract: Contract, boards: int) -> Iterator[printed.Column]:
    """Random arguments within the contract, a column a parameter."""
    random = np.random.default_rng(2005)

    def words() -> printed.Column:
        return random.integers(0, 1 << 64, boards, np.uint64)

    pieces = words() & words() & words()

    def column(parameter: Parameter) -> printed.Column:
        if parameter.kind == "board":
            return pieces
        if parameter.kind in ("square", "dir8", "direction9"):
            return random.integers(0, parameter.below or 10, boards, np.uint64)
        if parameter.kind in ("word", "number"):
            return words() & np.uint64((parameter.below or 1 << 64) - 1)
        others = words() & words()
        return np.uint64(ALL) ^ others if parameter.kind == "empty" else pieces | others

    return map(column, contract.parameters)
