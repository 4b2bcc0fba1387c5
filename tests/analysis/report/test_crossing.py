"""From how many pieces on a kernel is ahead of tables: what figures say, on the page and on the first screen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from setwise.analysis.measure.crossing import Point
from setwise.analysis.measure.trials import OURS
from setwise.analysis.report import crossing as page
from setwise.analysis.report.crossing import Crossing, crossing
from tests.analysis.report.recorded import assert_reads_back

UNION = "sliders.union"


def tables(kind: str, mode: str, *cycles: float | None) -> list[Point]:
    return [Point(UNION, "bmi2", 1, f"gcc ({kind})", n, mode, each) for n, each in enumerate(cycles, 1)]


MEASURED = Crossing(
    *("a processor", "zen3", "2025-01-31", "By counting.", {"gcc": "gcc 12"}),
    points=(
        *(Point(UNION, "avx2", 4, OURS, 0, mode, 20.0, "now") for mode in ("mixed", "independent")),
        *(
            Point(UNION, "avx2", 4, f"gcc ({kind})", 0, "mixed", each)
            for kind, each in (("rays", 24.0), ("plain", 31.0))
        ),
        Point(UNION, "bmi2", 1, OURS, 0, "mixed", 26.5, "now"),
        *tables("look-up", "mixed", 21, 18, 30, 35, 40),
        *tables("look-up", "independent", 5, 10, 15, 18, 20),
        *tables("look-up by magics", "mixed", 30, 35, 40, 45, 50),
        Point(UNION, "bmi2", 1, "clang (look-up)", 5, "mixed", 39.0),
    ),
)


def test_ahead_is_who_stays_ahead() -> None:
    assert MEASURED.start(UNION, "avx2", "look-up", "mixed") == "3"
    assert MEASURED.start(UNION, "avx2", "look-up by magics", "mixed") == "1"
    assert MEASURED.start(UNION, "avx2", "look-up", "independent") == "over 5"
    assert MEASURED.start(UNION, "avx2", "look-up", "chained") == "-"
    assert MEASURED.start(UNION, "bmi2", "look-up", "mixed") == "3"


def test_where_a_figure_lacks_no_more_is_said_than_the_others_do() -> None:
    points = tuple(replace(each, median=None) if each.pieces in (1, 2) else each for each in MEASURED.points)
    held = replace(MEASURED, points=points)
    assert held.start(UNION, "avx2", "look-up", "mixed") == "at most 3"
    assert held.start(UNION, "avx2", "look-up by magics", "mixed") == "at most 3"
    assert held.start(UNION, "avx2", "look-up", "independent") == "-"
    assert "| mixed | - | - | 30 | 35 | 39 |" in crossing(held)


def test_the_page_has_ours_the_compilers_best_and_the_tables() -> None:
    text = crossing(MEASURED)
    assert "| `sliders.union` | avx2 | 20 / 20 / - | 24 / - / - | 3 / over 5 / - | 1 / - / - |" in text
    assert "| `sliders.union` | PEXT, bmi2 | mixed | 21 | 18 | 30 | 35 | 39 |" in text
    assert "measured on a processor, 2025-01-31" in text


def test_the_first_screen_has_it_beside_the_tables_that_the_set_can_read() -> None:
    chained = (
        Point(UNION, "avx2", 4, OURS, 0, "chained", 20.0, "now"),
        *tables("look-up", "chained", 25, 30, 35, 40, 45),
    )
    held = replace(MEASURED, points=(*MEASURED.points, *chained))
    assert (held.starts(UNION, "avx2"), held.starts(UNION, "x86-64")) == ("3 / over 5 / 1", "-")


def test_figures_of_other_code_are_left_out() -> None:
    faster = Point(UNION, "avx2", 4, f"{OURS} apart/1", 0, "mixed", 15.0, "bytes")
    measured = replace(MEASURED, points=(*MEASURED.points, faster))
    assert measured.start(UNION, "avx2", "look-up", "mixed") == "1"
    held = measured.of({(UNION, "avx2", 4): "changed", (UNION, "bmi2", 1): "now"})
    assert [point.isa for point in held.points if point.maker.startswith(OURS)] == ["bmi2"]
    assert held.start(UNION, "avx2", "look-up", "mixed") == "-"
    assert held.starts(UNION, "avx2") == "-"


def test_what_is_recorded_reads_back_or_is_one_line(tmp_path: Path) -> None:
    assert_reads_back(tmp_path, page.RECORD, MEASURED, "maker")
