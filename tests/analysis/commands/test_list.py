"""`setwise list`."""

import json

import pytest

from setwise.codegen.catalogue import catalogue
from tests.analysis.commands.running import KOGGE_STONE, Capture, complaint, printed, setwise


def test_list_has_every_routine(capsys: Capture) -> None:
    lines = printed(capsys, "list").splitlines()
    assert [line.split()[0] for line in lines] == list(catalogue())


def test_list_takes_names_and_patterns(capsys: Capture) -> None:
    lines = printed(capsys, "list", "DUMB7.attacks.n*", KOGGE_STONE).splitlines()
    names = [line.split()[0] for line in lines]
    assert names == ["dumb7.attacks.noEa", "dumb7.attacks.noWe", "dumb7.attacks.nort", KOGGE_STONE]


@pytest.mark.parametrize("begin", ["dumb7", "Sliders", "kogge-stone.attacks"])
def test_families_and_forms_are_patterns(begin: str, capsys: Capture) -> None:
    assert printed(capsys, "list", begin) == printed(capsys, "list", f"{begin}.*")
    assert "routines: choose one, such as " in complaint(capsys, "listing", begin)


@pytest.mark.parametrize(
    ("name", "results"),
    [("sliders.union", "; result: attacks"), ("side.nested.white", "; results: by_pawns, by_minors, by_rooks, by_all")],
)
def test_a_single_routine_is_described(name: str, results: str, capsys: Capture) -> None:
    row, _, line = printed(capsys, "list", name).splitlines()
    assert row.startswith(f"{name}  ")
    assert line == catalogue()[name].summary + results


def test_list_as_json(capsys: Capture) -> None:
    rows = json.loads(printed(capsys, "list", "--json"))
    assert len(rows) == len(catalogue())
    assert {"name", "family", "form", "direction", "isas", "source"} <= rows[0].keys()
    (row,) = (row for row in rows if row["name"] == KOGGE_STONE)
    assert (row["family"], row["form"], row["direction"]) == ("kogge-stone", "attacks", "sout")
    assert "x86-64" in row["isas"]
    (row,) = json.loads(printed(capsys, "list", "sliders.pair", "--json"))
    assert row["results"] == ["orthogonal", "diagonal"]


def test_list_loads_nothing_heavy() -> None:
    code = (
        "import sys; from setwise.analysis.commands.main import main; main(); "
        "sys.exit(' '.join({'iced_x86', 'peachpy', 'numpy', 'ctypes', 'bitwuzla'} & set(sys.modules)) or 0)"
    )
    assert KOGGE_STONE in setwise(["list"], code)
