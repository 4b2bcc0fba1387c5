"""What stands in the reports: true to the bytes, verdicts that follow from figures, losses told as plainly as wins."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from setwise.analysis.code.count import count
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.cost.bounds import round_cost
from setwise.analysis.cost.processors import processor
from setwise.analysis.measure.compilers import Compiler
from setwise.analysis.report import compilers as compilers_of
from setwise.analysis.report.bounds import TITLES
from setwise.analysis.report.comparison import comparison, split, total
from setwise.analysis.report.compilers import CompilerCounts, Compilers, compilers, joined, to_run
from setwise.analysis.report.costs import as_json_rows, costs
from setwise.analysis.report.kernels import FigureKey, Figures, figures_from, figures_of, keys, round_of
from setwise.analysis.run.contracts import task_of
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.lower import lower

REPORTS = Path(__file__).parents[3] / "reports"
WANTED: tuple[FigureKey, ...] = (
    *((f"{family}.attacks.sout", isa, 1) for family in ("dumb7", "kogge-stone", "push") for isa in ("x86-64", "bmi2")),
    ("dumb7.occluded-until-dry.sout", "x86-64", 1),
    ("kogge-stone.attacks.sout.batch", "avx2", 4),
    ("push.attacks.east", "x86-64", 1),
)


@pytest.fixture(scope="module")
def rows() -> Figures:
    return Figures((key, figures_of(key)) for key in WANTED)


def test_every_kernel_has_a_row_and_none_twice() -> None:
    wanted = keys()
    assert len(set(wanted)) == len(wanted)
    assert {(name, isa) for name, isa, _ in wanted} == {
        (name, isa) for name, routine in catalogue().items() for isa in routine.isas
    }
    assert ("sliders.union", "avx512", 4) in wanted


def test_a_row_holds_what_the_bytes_say(rows: Figures) -> None:
    row = rows["kogge-stone.attacks.sout", "x86-64", 1]
    assert row.counts == count(binary_of(lower(find(row.name), "x86-64", "sysv")))
    assert row.shape == "straight"
    assert rows["dumb7.occluded-until-dry.sout", "x86-64", 1].shape == "branches"
    assert row.as_dict()["instructions"] == row.counts.instructions


def test_a_round_of_an_array_is_its_loop_alone(rows: Figures) -> None:
    row = rows["kogge-stone.attacks.sout.batch", "avx2", 4]
    code = count(binary_of(lower(find(row.name), "avx2", "sysv", 4)))
    assert row.boards == 4
    assert row.counts.branches == 1
    assert row.counts.loads + row.counts.memory_operands >= 2
    assert row.counts.stores == 1
    assert row.counts.instructions < code.instructions
    assert row.per_board == row.counts.instructions / 4


def test_only_code_that_runs_the_same_way_every_time_has_bounds(rows: Figures) -> None:
    for row in rows.values():
        assert set(row.bounds) == (set() if row.shape == "branches" else set(TITLES))
        for one in row.bounds.values():
            assert (one.chained is None) == (row.shape == "arrays")
            assert one.independent >= one.issue
            assert one.independent >= one.pressure


def test_bounds_of_arrays_are_a_board() -> None:
    kernel = lower(find("kogge-stone.attacks.sout.batch"), "avx2", "sysv", 4)
    executed = round_of(binary_of(kernel), task_of(kernel), 4)
    one = figures_from(kernel).bounds["zen4"]
    assert one.independent == pytest.approx(round_cost(executed, processor("zen4")).bound / 4, abs=0.001)


def test_zen_3_has_no_figures_for_avx_512() -> None:
    assert set(figures_of(("kogge-stone.attacks.sout", "avx512", 8)).bounds) == set(TITLES) - {"zen3"}


def test_comparison_has_the_literatures_counts_in_its_cells(rows: Figures) -> None:
    text = comparison(rows, "the listings")
    assert "```\nthe listings\n```" in text
    line = next(line for line in text.splitlines() if line.startswith("| `kogge-stone.attacks` |"))
    head = next(line for line in text.splitlines() if line.startswith("| Attacks | noEa"))
    cells = dict(zip(head.split(" | "), line.split(" | "), strict=True))
    row = rows["kogge-stone.attacks.sout", "x86-64", 1]
    assert cells["sout"] == f"{row.counts.moves} + {row.counts.operations}" == split(row)
    assert cells["east"] == "-"
    assert total(None) == "-"


def test_costs_has_a_table_a_processor_and_says_that_it_is_a_bound(rows: Figures) -> None:
    text = costs(rows)
    assert "lower bounds" in text
    assert text.count("| `kogge-stone.attacks.sout` | x86-64 |") == len(TITLES)
    held = {(row["name"], row["isa"], row["processor"]): row for row in as_json_rows(rows)}
    one = rows["dumb7.attacks.sout", "bmi2", 1].bounds["zen4"]
    assert held["dumb7.attacks.sout", "bmi2", "zen4"]["independent"] == one.independent


COMPILED = (
    CompilerCounts(
        "dumb7.attacks.sout", "x86-64", 1, "plain", "gcc", "-march=x86-64", 22, 1, 60, bounds={"zen4": (15.0, 5.5)}
    ),
    CompilerCounts("dumb7.attacks.sout", "x86-64", 1, "exported", "gcc", "-march=x86-64", 19, 1, 60),
    CompilerCounts("dumb7.attacks.sout", "x86-64", 1, "look-up", "gcc", "-march=x86-64", 5, 1, 60),
    CompilerCounts(
        "push.attacks.sout", "x86-64", 1, "plain", "clang", "-march=x86-64", None, None, None, "needs a call"
    ),
)
VERSIONS = {"clang": "clang version 19", "gcc": "gcc 12.2.0"}


def test_a_fingerprint_changes_with_any_count(rows: Figures) -> None:
    row = rows["kogge-stone.attacks.sout", "x86-64", 1]
    others = [replace(row, code_bytes=row.code_bytes + 1), replace(row, counts=replace(row.counts, moves=0))]
    assert len({one.fingerprint for one in (row, *others)}) == 3
    assert row.fingerprint == figures_of(row.key).fingerprint


def test_shorter_code_of_a_compiler_is_told_by_itself(rows: Figures) -> None:
    text = compilers(Compilers(VERSIONS, COMPILED), rows)
    assert "| `dumb7.attacks.sout` | x86-64 | 20 | 19 | gcc | exported |" in text.splitlines()
    assert "| dumb7 | x86-64 | 1 | 20 | 19 | 0 | 0 | 1 |" in text.splitlines()
    assert "longer in 1" in text


def test_only_compilers_of_the_recorded_version_are_checked() -> None:
    here = [Compiler("gcc", "gcc 13.1.0"), Compiler("clang", "clang version 19"), Compiler("clang-20", "20")]
    before = Compilers(VERSIONS, COMPILED)
    assert to_run(here, before, checking=True) == [here[1]]
    assert to_run(here, before, checking=False) == here
    assert to_run(here, None, checking=True) == here
    fresh = CompilerCounts("push.attacks.sout", "x86-64", 1, "plain", "clang", "-march=x86-64", 16, 2, 50)
    found, notes = joined(Compilers({"clang": "clang version 19"}, (fresh,)), before)
    assert found.versions == VERSIONS
    assert found.counts == (fresh, *COMPILED[:3])
    (note,) = notes
    assert "not checked" in note
    assert "gcc 12.2.0" in note


def rows_in(text: str) -> Iterator[dict[str, object]]:
    yield from json.loads(text)["rows"]


def test_json_rows_leave_out_what_is_not_there() -> None:
    held = list(rows_in(compilers_of.RECORD.text(Compilers(VERSIONS, COMPILED))))
    assert "instructions" not in held[3]
    assert held[3]["reason"] == "needs a call"
    assert held[0]["bounds"] == {"zen4": [15.0, 5.5]}
