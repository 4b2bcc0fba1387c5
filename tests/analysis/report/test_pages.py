"""The reports' pages: true to the bytes, one kernel a row, losses beside wins."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from setwise.analysis import api
from setwise.analysis.bench.choice import boards_of
from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.count import count
from setwise.analysis.cost.bounds import cost
from setwise.analysis.cost.part import part_of
from setwise.analysis.cost.processors import PROCESSORS, processor
from setwise.analysis.report.figures import Cycles, Figures, Key, Measurements, Session, figures_of, keys
from setwise.analysis.report.pages import MODEL, figure, pages, span, table
from setwise.codegen.board import DIRECTION_SETS
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.lower import lower
from setwise.codegen.request import Request

REPORTS = Path(__file__).parents[3] / "reports"
SOUTH: tuple[Key, ...] = tuple(
    (f"{family}.attacks.sout", isa, 1) for family in ("dumb7", "kogge-stone", "push") for isa in ("x86-64", "bmi2")
)
KEYS: tuple[Key, ...] = (
    *SOUTH,
    ("dumb7.occluded-until-dry.sout", "x86-64", 1),
    ("kogge-stone.attacks.sout.batch", "avx2", 4),
    ("push.attacks.east", "x86-64", 1),
    *((f"{family}.attacks.queen", isa, lanes) for family in ("dumb7", "kogge-stone") for isa, lanes in (("bmi2", 1),)),
    ("sliders.union", "avx2", 4),
    ("sliders.union", "avx512", 8),
    ("sliders.union", "avx512", 4),
)


@pytest.fixture(scope="module")
def figures() -> Figures:
    return Figures((key, figures_of(*key)) for key in KEYS)


@pytest.fixture(scope="module")
def recorded(figures: Figures) -> Measurements:
    union, south = figures["sliders.union", "avx2", 4], figures["push.attacks.sout", "bmi2", 1]
    cycles = [
        Cycles(union.name, union.isa, union.lanes, union.digest, 46.75, 12.8),
        Cycles(south.name, south.isa, south.lanes, "0" * 16, 99.0, 98.0),
    ]
    return Measurements(
        [Session(MODEL.name, "a machine", "2025-01-31", "By counting.", cycles)],
        {"gcc": "gcc 12", "clang": "clang 19"},
        {
            "gcc": {"x86-64": {"dumb7.attacks.sout": (19, "plain"), "push.attacks.sout": (16, "plain")}},
            "clang": {"x86-64": {"dumb7.attacks.sout": (22, "plain")}, "avx2": {"sliders.union": (52, "rays")}},
        },
    )


@pytest.fixture(scope="module")
def made(figures: Figures, recorded: Measurements) -> dict[str, str]:
    return pages(figures, recorded)


def rows(text: str, first: str) -> list[list[str]]:
    """The cells of the lines whose first or second cell is this."""
    lines = [line[2:-2].split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [cells for cells in lines if first in cells[:2]]


def test_every_kernel_has_a_key_and_none_has_two() -> None:
    wanted = keys()
    assert len(set(wanted)) == len(wanted)
    assert {key[:2] for key in wanted} == {(name, isa) for name, of in catalogue().items() for isa in of.isas}
    assert {lanes for name, isa, lanes in wanted if (name, isa) == ("sliders.union", "gfni")} == {4, 8}


def test_figures_are_those_of_the_bytes(figures: Figures) -> None:
    for name, isa, lanes in SOUTH:
        kernel, binary = figures[name, isa, lanes], binary_of(lower(find(name), isa))
        assert (kernel.counts, kernel.arrays) == (count(binary), False)
        assert kernel.digest == binary.image_sha256[:16]
        for on in PROCESSORS:
            bounds = cost(part_of(binary).stream, on)
            assert kernel.bounds[on.name][0] == pytest.approx(bounds.latency, abs=0.001)
            assert kernel.bounds[on.name][1] == pytest.approx(bounds.bound, abs=0.001)


def test_arrays_are_counted_by_the_round_and_bounded_by_the_board(figures: Figures) -> None:
    kernel = figures["kogge-stone.attacks.sout.batch", "avx2", 4]
    part = part_of(binary_of(lower(find(kernel.name), "avx2")))
    assert (kernel.arrays, kernel.boards, kernel.counts.branches, kernel.counts.stores) == (True, 4, 1, 1)
    assert kernel.length == len(part.stream) / 4
    latency, throughput = kernel.bounds["zen4"]
    assert latency is None
    assert throughput == pytest.approx(part.cost(processor("zen4")).bound / 4, abs=0.001)


def first_table() -> list[tuple[str, Request, list[str]]]:
    """The purpose, the request and the figures of each row of the first page's first table."""
    text = (REPORTS / "README.md").read_text("utf-8").partition("\n## ")[0]
    found = re.findall(r"^\| ([^|]*) \| `(\S+) --isa ([^ `]+)(?: --variant (\S+))?` \| (.*) \|$", text, re.MULTILINE)
    assert len(found) == len(re.findall(r"^\|", text, re.MULTILINE)) - 2
    return [(need, api.request(*of, variant=variant), row.split(" | ")) for need, *of, variant, row in found]


@pytest.mark.slow
def test_each_row_of_the_first_table_is_made_from_its_request() -> None:
    rows = first_table()
    assert 8 <= len(rows) <= 12
    for _, request, cells in rows:
        (costed,) = api.costs([request], MODEL.name)
        instructions, cycles = api.counts([request])[0]["instructions"], costed.costs[0][1]
        expected: list[float | None] = [instructions, cycles.latency, cycles.bound]
        if request.routine.contract.elements:
            boards = boards_of(costed.part, request.routine.contract)
            expected = [len(costed.part.stream) / boards, None, cycles.bound / boards]
        assert cells == [figure(each) for each in expected], request.title


def test_a_variant_has_a_row_if_it_takes_fewer_cycles() -> None:
    rows = first_table()
    for (_, usual, cells), (_, request, others) in pairwise(rows):
        if request.variant:
            assert (request.routine, request.isa, usual.variant) == (usual.routine, usual.isa, "")
            pairs = zip(cells[1:], others[1:], strict=True)
            assert any(float(other) < 0.9 * float(cell) for cell, other in pairs if cell != "-")


@pytest.mark.slow
def test_measured_cycles_of_other_bytes_are_not_shown(made: dict[str, str]) -> None:
    assert "99" not in made["measurements.md"]
    assert f"## {MODEL.title}, 2025-01-31\n\na machine. By counting." in made["measurements.md"]
    union = ["`sliders.union`", "avx2 x4", "39", "0", "29", "46.8", "9.5", "12.8"]
    assert rows(made["measurements.md"], "`sliders.union`") == [union]


def test_kogge_stone_has_all_the_lower_figures() -> None:
    """In each direction and all eight, with each set: fewer instructions, and lower bounds on each processor."""
    readme, text = ((REPORTS / name).read_text("utf-8") for name in ("README.md", "comparison.md"))
    ((wins, number),) = re.findall(r"the lower figure in (\d+) of (\d+) comparisons", readme)
    assert int(wins) == int(number) > 500
    pairs = list(zip(rows(text, "`dumb7.attacks`"), rows(text, "`kogge-stone.attacks`"), strict=True))
    for ways in DIRECTION_SETS:
        pairs += zip(rows(text, f"`dumb7.attacks.{ways}`"), rows(text, f"`kogge-stone.attacks.{ways}`"), strict=True)
    assert len(pairs) == 5 + len(DIRECTION_SETS)
    for left, right in (cells for pair in pairs for cells in list(zip(*pair, strict=True))[1:]):
        before, after = (sum(map(int, re.findall(r"\d+(?!\))\b", cell))) for cell in (left, right))
        assert left == right == "-" or after < before


def test_the_classic_comparison_and_its_counts_are_on_their_page(figures: Figures, made: dict[str, str]) -> None:
    text = made["comparison.md"]
    assert "1 move                5 moves\n19 operations         14 operations" in text
    x86 = text.partition("### x86-64\n")[2].partition("###")[0]
    (head,) = rows(x86, "noEa")
    (row,) = rows(x86, "`kogge-stone.attacks`")
    cells = dict(zip(head, row, strict=True))
    counts = figures["kogge-stone.attacks.sout", "x86-64", 1].counts
    assert (cells["sout"], cells["east"]) == (f"{counts.moves} + {counts.operations}", "-")
    dry = figures["dumb7.occluded-until-dry.sout", "x86-64", 1].counts
    rest = dry.instructions - dry.moves - dry.operations
    assert f"{dry.moves} + {dry.operations} + {rest}" in rows(x86, "`dumb7.occluded-until-dry`")[0]
    assert rows(text, "`sliders.union`") == [["`sliders.union`", "39", "22", "31"]]


def test_what_compilers_make_shorter_is_named(made: dict[str, str]) -> None:
    text = made["compilers.md"]
    assert "Of 3 kernels ours is shorter in 1, as long in 1, longer in 1." in text
    assert rows(text, "`dumb7.attacks.sout`") == [["`dumb7.attacks.sout`", "x86-64", "20", "19", "gcc", "plain"]]
    assert rows(text, "`push.attacks.sout`") == []
    assert rows(text, "sliders") == [["sliders", "avx2", "1", "39", "52", "1", "0", "0"]]


def test_cells_of_tables() -> None:
    assert [figure(each) for each in (10.0, 4.25, None)] == ["10", "4.2", "-"]
    assert [span(each) for each in ([3, 3], [1, 2.5, 2])] == ["3", "1 to 2.5"]
    assert table(("name", "moves"), [("a|b", 1)], left=1) == "| name | moves |\n| :-- | --: |\n| a\\|b | 1 |"


def test_the_reports_are_of_a_size_to_be_read() -> None:
    lines = {path.name: len(path.read_text("utf-8").splitlines()) for path in REPORTS.glob("*.md")}
    made = {name for name in pages(Figures(), Measurements()) if name.endswith(".md")}
    assert lines.keys() == made | {"SOUNDNESS.md", "optimality.md"}
    assert lines["costs.md"] <= 300
    assert lines["optimality.md"] <= 150
