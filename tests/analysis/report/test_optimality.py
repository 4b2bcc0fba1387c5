"""Lower bounds in the reports: formulas are made again from what is recorded, and the page says what they show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from setwise.analysis.report import words
from setwise.analysis.report.files import write
from setwise.analysis.report.kernels import Figures
from setwise.analysis.report.optimality import RECORD, merged, optimality

ROWS = json.loads((Path(__file__).parents[3] / "reports" / RECORD.path).read_text("utf-8"))["rows"]
SMALL = RECORD.text([row for row in ROWS if row["reach"] < 4])
"""What is quick to make again: the rest `setwise report --check` does."""


def test_what_is_recorded_is_what_the_page_says(tmp_path: Path) -> None:
    assert RECORD.read(tmp_path) is None
    write(tmp_path, {RECORD.path: SMALL})
    rows = RECORD.read(tmp_path) or []
    page = optimality(rows, Figures())
    assert "| 2 | 2 values | 4 | at least 4 |" in page
    assert "| 3 | 3 values | 5 | at least 5 |" in page
    assert "| east | 2 : - | 2 : - | 1 : - | 1 : - | 1 : - | 1 : - |" in page
    assert "Not decided" not in page
    last = rows[0]["none"][-1]
    rows[0]["tried"] = [
        {
            **last,
            "operations": 4,
            "open": ["a", "b"],
            "seconds": 120.0,
            "date": "2026-01-31",
            "processor": "a processor",
        }
    ]
    rows[0]["program"] = ""
    rows[1]["none"][3]["parts"][0]["any_reach"] = False
    page = optimality(rows, Figures())
    assert "| 2 | 2 values | at least 4 | at least 4 |" in page
    assert "| 2 | 2 values | 4 | 2 | 2 | 2 | a processor, 2026-01-31 |" in page
    assert "| 3 | 2 values | 7 | at least 4 |" in page
    alike, less = {**rows[0]}, {**rows[0], "at_least": 3}
    assert merged(rows, [alike])[0] is alike
    assert merged(rows, [less])[0] is rows[0]
    assert merged([less], [{**less, "tried": []}])[0] is less


@pytest.mark.parametrize(
    ("old", "new", "remark"),
    [
        ('"at_least": 4', '"at_least": 5', "reach 2: at least 5 is not what was shown"),
        ('"ring": 3', '"ring": 4', "another formula"),
        ('"ring": 3', '"ring": 1000000000', "nobody asks about such programs"),
        ('"inputs": 2', '"inputs": 9', "functions of 9 values"),
        ('"tried": []', '"tried": [{}]', "operations"),
        ('"operations": 2', '"operations": 3', "some kinds of programs are not among its parts"),
        ('"kinds": "any any"', '"kinds": "any shift"', "some kinds of programs are not among its parts"),
        ('"reach": 2', '"reach": 1', "another formula"),
        ("a = sliders << 1", "a = sliders << 2", "its program is wrong"),
        ('"any_reach": true', '"any_reach": false', "its inputs do not end"),
        ('"samples"', '"sample"', "samples"),
        ('"formula": "', '"formula": "0', "another formula"),
    ],
)
def test_what_was_not_shown_is_refused(tmp_path: Path, old: str, new: str, remark: str) -> None:
    write(tmp_path, {RECORD.path: RECORD.text(ROWS[:1]).replace(old, new, 1)})
    with pytest.raises(ValueError, match=remark) as raised:
        RECORD.read(tmp_path)
    assert "make it anew by setwise bound --record" in str(raised.value)


def test_whole_words_are_what_was_recorded(tmp_path: Path) -> None:
    rows = json.loads((Path(__file__).parents[3] / "reports" / words.RECORD.path).read_text("utf-8"))["rows"]
    write(tmp_path, {words.RECORD.path: words.RECORD.text(rows)})
    assert words.RECORD.read(tmp_path) == rows
    assert words.merged(rows, [{**rows[0], "at_least": 1, "none": []}]) == rows
    assert "| east | general | " in optimality([], Figures(), words=rows)
    for old, new, remark in (
        ('"at_least": ', '"at_least": 1', "is not what was shown"),
        ('"east"', '"west"', "no such"),
    ):
        write(tmp_path, {words.RECORD.path: words.RECORD.text(rows).replace(old, new)})
        with pytest.raises(ValueError, match=remark):
            words.RECORD.read(tmp_path)
