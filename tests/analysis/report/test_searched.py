"""What was searched for shorter code, in the reports."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from setwise.analysis.report.findings import ANY, Finding
from setwise.analysis.report.kernels import Figures, figures_of
from setwise.analysis.report.optimality import complaints, optimality
from setwise.analysis.report.searched import RECORD, merged, searched_summary, searched_table
from tests.analysis.report.recorded import assert_reads_back

TRIED = {"places": 14, "all_places": 14, "candidates": 1171, "seconds": 0.5, "budget": 60.0, "date": "2026-01-31"}
TRIED |= dict.fromkeys(("fitting", "no_shorter", "refuted", "undecided"), 0)
LEVELS = {"a": TRIED, "b": {**TRIED, "places": 3, "candidates": 9}}
NORTH = {
    "name": "push.attacks.nort",
    "isa": "bmi2",
    "bytes": 40,
    "sha256": "00",
    "instructions": 14,
    "shortest": 13,
    "refused": "",
    "spare": [],
    "levels": LEVELS,
}
EAST = {**NORTH, "name": "push.attacks.east", "levels": {}, "refused": "it jumps"}


def test_what_was_tried_stands_in_the_table() -> None:
    text = searched_table([NORTH, EAST], Figures(), {"bmi2": 7})
    assert "| `push.attacks.nort` | bmi2 | 14 \\* | 13 | 14 of 14, 60 s | 3 of 14, 60 s | 2026-01-31 | 7 |" in text
    assert "| `push.attacks.east` | bmi2 | 14 \\* | it jumps | - | - | - | - |" in text


def test_all_of_a_routine_and_set_stands_in_one_row() -> None:
    wide = {**NORTH, "sha256": "01", "instructions": 20, "shortest": 20}
    later = {**NORTH, "shortest": 14, "levels": {"c": {**LEVELS["b"], "budget": 5.0, "date": "2026-02-01"}}}
    text = searched_table(merged([NORTH, wide, EAST], [later, wide]), Figures(), {})
    assert "| 14, 20 \\* | 13, 20 | 28 of 28, 60 s | 6 of 28, 60 s | 3 of 14, 5 s | 2026-02-01 |" in text
    assert searched_summary([NORTH, wide, EAST]) == {"searches": "2 searches", "whole": 0, "found": 1}
    assert "Of 2 searches, 0 looked at all" in optimality([], Figures(), searched=[NORTH, wide, EAST])
    assert "| it jumps | - | - | - | - |" in text


def test_searches_of_the_same_code_become_one() -> None:
    renewed = {**LEVELS["b"], "places": 9, "date": "2026-02-01"}
    (row,) = merged([NORTH], [{**NORTH, "isa": "gfni", "shortest": 14, "levels": {"b": renewed}}])
    assert row == {**NORTH, "levels": {"a": TRIED, "b": renewed}}
    (row,) = merged([{**NORTH, "levels": {}, "refused": "it jumps"}], [NORTH])
    assert row == NORTH  # what was refused can be searched now


def test_new_rows_stand_for_old_ones_of_the_same_routine_and_set() -> None:
    new = {**NORTH, "sha256": "02", "instructions": 12, "shortest": 12}
    assert merged([NORTH, EAST], [new, {**new, "sha256": "01"}]) == [EAST, new]


def test_why_shorter_code_is_not_taken_is_said() -> None:
    kernel = figures_of(("push.attacks.nort", "bmi2", 1))
    figures = Figures({kernel.key: kernel})
    here = {**NORTH, "bytes": kernel.code_bytes}
    cause = Finding(ANY, "2026-01-30", "optimality.md", "A page", r"push\..* bmi2")
    assert complaints([here, EAST], figures, [cause]) == []
    (open_question,) = complaints([here], figures, [])
    assert open_question.startswith("push.attacks.nort bmi2 was found in 13 instructions, and takes 14: ")
    assert complaints([here], figures, [replace(cause, page="compilers.md")]) == [open_question]
    assert complaints([NORTH, {**here, "shortest": 14}], figures, []) == []  # of other code, and none
    (stale,) = complaints([NORTH], figures, [cause])
    assert "remove it" in stale
    assert "* A page (2026-01-30): `push.attacks.nort bmi2`." in optimality([], figures, (), [here], known=[cause])
    assert "Not explained: `push.attacks.nort bmi2`." in optimality([], figures, (), [here])
    assert "not taken" not in optimality([], figures, (), [NORTH])


def test_what_is_recorded_reads_back_or_is_one_line(tmp_path: Path) -> None:
    assert_reads_back(tmp_path, RECORD, [NORTH, EAST], "budget")
