"""What is taken for speed beside all else: how it is judged, what the page says, and that every loss has its cause."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from setwise.analysis.measure.fastest import Row, Taken
from setwise.analysis.report import findings
from setwise.analysis.report.fastest import RECORD, Fastest, complaints, fastest, outcome
from setwise.analysis.report.findings import Finding
from tests.analysis.report.recorded import assert_reads_back

REPORTS = Path(__file__).parents[3] / "reports"


def row(name: str, mode: str, ours: float, other: float, theirs: float, noise: float = 0.001) -> Row:
    taken = (("setwise avx2 apart/1", ours), ("setwise bmi2", other), ("gcc -march=native (plain)", theirs))
    return Row(name, mode, "digest", *(Taken(maker, cycles, noise) for maker, cycles in taken))


AHEAD = row("sliders.union", "chained", 26.0, 29.0, 32.0)
BEHIND = row("exploding.rook", "mixed", 52.0, 51.0, 41.6)
MEASURED = Fastest("a processor", "zen3", "2026-01-31", {"gcc": "gcc 12"}, (AHEAD, BEHIND))
CAUSE = Finding("zen3", "2026-01-30", "fastest.md", "Jumps", r"exploding\..* mixed")


def test_who_is_ahead_by_more_than_the_noise() -> None:
    assert (outcome(AHEAD), outcome(BEHIND)) == ("ahead", "behind")
    assert outcome(row("sliders.union", "chained", 30.0, 31.0, 29.2)) == "level"
    assert outcome(row("sliders.union", "chained", 30.0, 29.0, 32.0)) == "behind"
    assert outcome(row("sliders.union", "chained", 30.0, 29.0, 32.0, noise=0.04)) == "level"
    assert outcome(replace(AHEAD, other=None, theirs=None)) == "ahead"


def test_every_loss_has_a_cause_and_every_cause_a_loss() -> None:
    assert complaints(MEASURED, [CAUSE]) == []
    (open_question,) = complaints(MEASURED, [])
    assert open_question.startswith("exploding.rook mixed is behind (0.80)")
    assert complaints(MEASURED, [replace(CAUSE, processor="zen4")]) == [open_question]
    assert complaints(MEASURED, [replace(CAUSE, page="compilers.md")]) == [open_question]
    (stale,) = complaints(MEASURED, [CAUSE, replace(CAUSE, calls="sliders.*")])
    assert "'sliders.*'" in stale


def test_the_page_has_losses_with_their_causes() -> None:
    page = fastest(MEASURED, [CAUSE])
    assert "| chained | latency | 1 | 0 | 0 | 1 | 0 | 0 |" in page
    assert "| `exploding.rook` | mixed | avx2 apart/1 | 52.00 | gcc -march=native (plain) | 41.60 | 0.80 |" in page
    assert "* Jumps (2026-01-30): `exploding.rook mixed`." in page
    assert "### Why" not in fastest(replace(MEASURED, rows=(AHEAD,)), [])


def test_what_is_recorded_is_read_back(tmp_path: Path) -> None:
    assert_reads_back(tmp_path, RECORD, MEASURED, "processor")


def test_what_is_recorded_in_the_reports_is_explained() -> None:
    held = RECORD.read(REPORTS)
    assert held is None or complaints(held, findings.RECORD.read(REPORTS) or ()) == []
