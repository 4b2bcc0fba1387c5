"""Attack maps as columns in the reports: what was recorded comes back, and stands in the page."""

from __future__ import annotations

from pathlib import Path

from setwise.analysis.report.columns import RECORD, Columns, Through, columns
from tests.analysis.report.recorded import assert_reads_back

THROUGH = (Through("duckdb", 2.0, 3.14, 1200), Through("dask, a worker killed", 5.0, 6.0, 700))
MEASURED = Columns(
    machine="a processor",
    cores=2,
    date="2025-01-31",
    load=1.5,
    versions={"Python": "3.11", "duckdb": "1.1"},
    positions=5_000_000,
    seed=17,
    making=41.2,
    runs=3,
    chess=10_000,
    walked=1000,
    sha256="00ff",
    through=THROUGH,
)


def test_what_was_recorded_comes_back(tmp_path: Path) -> None:
    assert_reads_back(tmp_path, RECORD, MEASURED, "seconds")


def test_the_section_has_every_engine_and_what_was_measured_where() -> None:
    section = columns(MEASURED)
    assert "| duckdb | 2.0 | 3.1 | 2.5 | 1,200 |" in section
    assert "| dask, a worker killed | 5.0 | 6.0 | 1.0 | 700 |" in section
    for words in (
        "5,000,000",
        "**a processor**, 2 cores, 2025-01-31",
        "of 3 runs",
        "was 1.5 ",
        "seed 17",
        "duckdb (1.1)",
    ):
        assert words in section
