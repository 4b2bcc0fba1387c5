"""Which files the reports are, and what stands in each: pages, pictures, data."""

from __future__ import annotations

from setwise.analysis.report.comparison import comparison
from setwise.analysis.report.compilers import RECORD as COMPILED
from setwise.analysis.report.compilers import compilers
from setwise.analysis.report.costs import as_json_rows, costs
from setwise.analysis.report.data import Data
from setwise.analysis.report.files import Files
from setwise.analysis.report.pictures import pictures
from setwise.analysis.report.records import as_json


def files(data: Data) -> Files:
    """The contents of every file, by its path within the reports' folder."""
    figures = data.figures
    return {
        "comparison.md": comparison(figures, data.classic),
        "costs.md": costs(figures),
        "compilers.md": compilers(data.compilers, figures),
        **pictures(figures, data.compilers),
        "data/kernels.json": as_json([kernel.as_dict() for kernel in figures.values()]),
        "data/costs.json": as_json(as_json_rows(figures)),
        COMPILED.path: COMPILED.text(data.compilers),
    }
