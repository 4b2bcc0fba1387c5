"""Which files the reports are, and what stands in each: pages, pictures, data."""

from __future__ import annotations

from typing import Any

from setwise.analysis.report import choices, findings, searched, since, wasted, words
from setwise.analysis.report import columns as engines
from setwise.analysis.report import compilers as compiled
from setwise.analysis.report import crossing as crossed
from setwise.analysis.report import fastest as races
from setwise.analysis.report import measurements as timed
from setwise.analysis.report import optimality as bounds
from setwise.analysis.report import perft as counting
from setwise.analysis.report import python as calls
from setwise.analysis.report.comparison import comparison
from setwise.analysis.report.costs import as_json_rows, costs
from setwise.analysis.report.data import Data
from setwise.analysis.report.files import Files
from setwise.analysis.report.pictures import pictures, titles
from setwise.analysis.report.readme import readme
from setwise.analysis.report.records import Record, as_json


def files(data: Data) -> Files:
    """The contents of every file, by its path within the reports' folder."""
    figures = data.figures
    measured = data.measured.of(figures.fingerprints) if data.measured else None
    crossing = data.crossing.of(figures.fingerprints) if data.crossing else None
    pages = {
        "comparison.md": comparison(figures, data.classic),
        "costs.md": costs(figures),
        "compilers.md": compiled.compilers(data.compilers, figures, measured, data.wasted, data.findings),
    }
    if data.measured and measured:
        stale = len(data.measured.timed) - len(measured.timed)
        pages["measurements.md"] = timed.measurements(measured, stale, data.findings)
    if crossing:
        pages["crossing.md"] = crossed.crossing(crossing)
    if data.fastest:
        pages[races.PAGE] = races.fastest(data.fastest, data.findings)
    if data.bounds:
        pages["optimality.md"] = bounds.optimality(data.bounds, figures, data.words, data.searched, data.since)
    if data.python:
        pages["python.md"] = calls.python(data.python, engines.columns(data.columns) if data.columns else None)
    if data.perft:
        pages["perft.md"] = counting.perft(data.perft)
    chosen = data.choices.of(figures.fingerprints) if data.choices else None
    recorded: tuple[tuple[Record[Any], Any], ...] = (
        (compiled.RECORD, data.compilers),
        (timed.RECORD, data.measured),
        (crossed.RECORD, data.crossing),
        (choices.RECORD, data.choices),
        (races.RECORD, data.fastest),
        (findings.RECORD, data.findings),
        (bounds.RECORD, data.bounds),
        (words.RECORD, data.words),
        (wasted.RECORD, data.wasted),
        (searched.RECORD, data.searched),
        (since.RECORD, data.since),
        (engines.RECORD, data.columns),
        (calls.RECORD, data.python),
        (counting.RECORD, data.perft),
    )
    return {
        "README.md": readme(figures, measured, data.compilers, titles(measured), pages.keys(), crossing, chosen),
        **pages,
        **pictures(figures, data.compilers, measured),
        **({calls.PICTURE: calls.picture(data.python)} if data.python else {}),
        "data/kernels.json": as_json([kernel.as_dict() for kernel in figures.values()]),
        "data/costs.json": as_json(as_json_rows(figures)),
        **{record.path: record.text(held) for record, held in recorded if held},
    }
