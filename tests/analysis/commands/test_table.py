"""`setwise table`, and what `setwise list --page` says a page has."""

import json
import re

import pytest

from setwise.codegen.literature import FUNCTIONS
from setwise.codegen.tables import TABLES, LiteratureTable
from tests.analysis.commands.running import Capture, complaint, printed

MASK = """\
dirMaskRight[8]: Exploding Bitboards, Results; h1 = 0, a1 = 7, a8 = 63

[0] h                    [1] g                    [2] f                    [3] e
. . . . . . . .          . . . . . . . 1          . . . . . . 1 1          . . . . . 1 1 1
"""
each = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)


def test_boards_are_drawn_as_the_page_numbers_squares(capsys: Capture) -> None:
    drawn = printed(capsys, "table", "dirMaskRight")
    assert drawn.startswith(MASK)
    assert "0x0000_0000_0000_0000    0x0101_0101_0101_0101    0x0303_0303_0303_0303" in drawn
    assert "[0][28] noEa e4 " in printed(capsys, "table", "rayAttacks")


def test_constants_are_boards_of_their_own(capsys: Capture) -> None:
    assert "\n\nnotAFile\n. 1 1 1 1 1 1 1\n" in printed(capsys, "table", "notafile")


def test_small_numbers_are_no_boards(capsys: Capture) -> None:
    assert printed(capsys, "table", "SHIFT").splitlines()[-1] == " 9  1 -7 -8 -9 -1  7  8"
    assert printed(capsys, "table", "makeRankR").splitlines()[2] == "0x02 0x02 0x06 0x06 0x02 0x02 0x0e 0x0e"


@each
def test_json_has_the_entries(capsys: Capture, table: LiteratureTable) -> None:
    told = json.loads(printed(capsys, "table", table.name, "--json"))
    assert not table.boards or all(re.fullmatch("0x[0-9a-f]{16}", entry) for entry in told["entries"])
    assert tuple(int(e, 0) if isinstance(e, str) else e for e in told["entries"]) == table.entries


def test_all_tables_are_listed_with_their_pages(capsys: Capture) -> None:
    lines = printed(capsys, "table").splitlines()[2:]
    assert [re.split(r"\W", line)[0] for line in lines] == [table.name for table in TABLES]
    rows = json.loads(printed(capsys, "table", "--json"))
    assert rows[1]["places"] == [
        "Dumb7Fill, Generalized Rays: Loop Version",
        "Kogge-Stone Algorithm, Generalized Rays",
    ]


@pytest.mark.parametrize("page", ["Occluded Fill", "occluded-fill", "OCCLUDED"])
def test_a_section_is_listed(capsys: Capture, page: str) -> None:
    lines = [line.split() for line in printed(capsys, "list", "--page", page).splitlines()]
    assert [line[:2] for line in lines] == [
        *([function.name, function.routine] for function in FUNCTIONS if "Occluded Fill" in function.place.section),
        ["notAFile", "setwise"],
        ["notHFile", "setwise"],
    ]


def test_a_page_is_listed_with_its_tables(capsys: Capture) -> None:
    rows = json.loads(printed(capsys, "list", "--page", "exploding", "--json"))
    assert [row["function"] for row in rows if "function" in row][:2] == ["bishopAttacks", "rookAttacks"]
    assert {row["table"] for row in rows if "table" in row} == {t.name for t in TABLES if t.numbering.name == "h1"}
    assert rows[0]["name"] == "exploding.bishop.big-endian"


def test_an_unknown_page_is_told_what_there_is(capsys: Capture) -> None:
    said = complaint(capsys, "list", "--page", "magics")
    assert "unknown page or section 'magics': choose from Dumb7Fill (Seven Fill Cycles, " in said
    assert "--page excludes names" in complaint(capsys, "list", "--page", "exploding", "dumb7.*")
