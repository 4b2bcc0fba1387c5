"""The page on calls from Python, of figures made up: what it makes of them, and that they read back as they were."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from setwise.analysis.measure.calls import CHESS, COPY, FOREIGN, LOOP, OURS, OUT, Call
from setwise.analysis.report import python as page
from setwise.analysis.report.python import FromPython, python
from tests.analysis.report.recorded import assert_reads_back

UNION, MANY = "sliders.union", 1 << 24


def call(by: str, boards: int, nanoseconds: float, threads: int = 1, name: str = UNION) -> Call:
    return Call(by, name, boards, threads, nanoseconds, 1.1 * nanoseconds)


MEASURED = FromPython(
    *("a processor", 2, "2025-01-31", "avx2", {"NumPy": "2.0"}, "By counting."),
    not_run=("numba is not run: pip install it",),
    calls=(
        *(call(OURS, 0, 110, name="sliders.pair"), call(FOREIGN, 0, 200, name="sliders.pair")),
        *(call(OURS, 512, 3_500), call(OUT, 512, 4_000), call(CHESS, 512, 512 * 4321)),
        *(call(LOOP, 512, 1_424), call(LOOP, 0, 400)),
        *(call(OURS, MANY, 4.0 * MANY), call(OUT, MANY, 2.5 * MANY), call(OUT, MANY, 2.0 * MANY, 2)),
        call(COPY, MANY, 1.5 * MANY),
    ),
)


def test_the_page_sets_calls_beside_what_bounds_them() -> None:
    text = python(MEASURED)
    assert "| `sliders.pair` | 110 | 200 | 0.55 |" in text
    assert "| 512 | 6.84 | 7.81 | - | - | 4,321 |" in text
    assert "runs 2.00 ns a board. Beyond that a call takes 2.5 microseconds, with `out=` 3.0." in text
    assert "| setwise | 16,777,216 | 1 | 4 | 1.5 | 50% |" in text
    assert "| setwise, out= | 16,777,216 | 1 | 2.5 | 1.5 | 80% |" in text
    assert "| setwise, out= | 16,777,216 | 2 | 2 | 1.5 | 100% |" in text
    assert "| 16,777,216 | 2.5 | 2 |" in text
    assert "10% above the fastest" in text
    assert "Left out: numba is not run: pip install it." in text


def test_the_picture_has_a_line_for_who_was_timed() -> None:
    drawn = page.picture(MEASURED)
    assert '<desc id="description">2 lines: setwise, python-chess.</desc>' in drawn
    assert ">16,777,216</text>" in drawn


def test_memory_may_be_the_slower_one() -> None:
    slow = python(replace(MEASURED, calls=(*MEASURED.calls[:-1], call(COPY, MANY, 2.25 * MANY))))
    assert "| setwise, out= | 16,777,216 | 1 | 2.5 | 2.25 | 90% |" in slow


def test_what_is_recorded_reads_back_or_is_one_line(tmp_path: Path) -> None:
    assert_reads_back(tmp_path, page.RECORD, MEASURED, "by")
