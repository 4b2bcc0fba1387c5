"""A section of python.md: attack maps of many positions through several engines, as one command recorded them."""

from __future__ import annotations

from dataclasses import dataclass

from setwise.analysis.report.markdown import page, table, versions_of
from setwise.analysis.report.records import Record, once_of


@dataclass(frozen=True, slots=True)
class Through:
    """One engine: seconds of its fastest and its slowest run, and the most memory of any, in MiB."""

    engine: str
    seconds: float
    slowest: float
    memory: int


@dataclass(frozen=True, slots=True)
class Columns:
    """Positions of random play from one Parquet file, their attack maps into another: all engines wrote the same.

    `load` is that of the machine beforehand, `making` the seconds that the positions took; `chess` rows were held to
    python-chess, and `walked` of these to the ray-walk.
    """

    machine: str
    cores: int
    date: str
    load: float
    versions: dict[str, str]
    positions: int
    seed: int
    making: float
    runs: int
    chess: int
    walked: int
    sha256: str
    through: tuple[Through, ...]


RECORD = Record("data/columns.json", Columns, "python -m tests.columns.measure", "through")


def columns(measured: Columns) -> str:
    """The section, without its heading."""
    rows = [
        (
            engine.engine,
            f"{engine.seconds:.1f}",
            f"{engine.slowest:.1f}",
            f"{measured.positions / engine.seconds / 1e6:.1f}",
            f"{engine.memory:,}",
        )
        for engine in measured.through
    ]
    return page(
        "columns.md",
        **once_of(measured),
        engines=versions_of(measured.versions),
        table=table(("", "seconds", "slowest run", "million rows a second", "peak memory, MiB"), rows),
    )
