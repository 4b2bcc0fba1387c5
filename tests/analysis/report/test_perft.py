"""Legal moves in the reports: what was recorded comes back, and the page says how much faster the kernels are."""

from __future__ import annotations

from pathlib import Path

from setwise.analysis.report.perft import RECORD, Perft, Race, perft
from tests.analysis.report.recorded import assert_reads_back

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
FEW = "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1"
RACES = (
    Race("standard", START, 4, 197281, "gcc", 400_000, 500_000),
    Race("standard", START, 4, 197281, "rustc", 500_000, 550_000),
    Race("standard", FEW, 5, 674624, "gcc", 2_000_000, 1_900_000),
    Race("standard", FEW, 5, 674624, "rustc", 2_000_000, 1_800_000),
)
COMPILERS = {"gcc": "gcc 12 -O2", "rustc": "rustc 1.95 -O"}
MEASURED = Perft("a processor", 2, "2025-01-31", 1.5, "avx2", COMPILERS, 20, RACES)


def test_what_was_recorded_comes_back(tmp_path: Path) -> None:
    assert_reads_back(tmp_path, RECORD, MEASURED, "tables")


def test_positions_with_many_sliders_are_told_from_those_with_few() -> None:
    assert [race.sliders for race in RACES[1:3]] == [(5, 5), (1, 1)]
    page = perft(MEASURED)
    assert "4 sliders a side or more (*many*: 1 of the positions below)" in page
    assert "| gcc | 1.25 | 1.25 | 0.95 | 0.95 |\n| rustc | 1.10 | 1.10 | 0.90 | 0.90 |" in page


def test_the_page_has_every_race_and_what_was_measured_where() -> None:
    page = perft(MEASURED)
    cells = "| 5 : 5 | 4 | 197,281 | 493 : 395 = 1.25 | 395 : 359 = 1.10 |"
    assert f"| `rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -` {cells}" in page
    for words in ("**a processor**, 2 cores, 2025-01-31", "of 20 runs", "was 1.5 ", "rustc 1.95 -O", "for avx2"):
        assert words in page
    assert "## Chess960" not in page
