"""Which files the reports are, and what stands in each: pages, pictures, data."""

from __future__ import annotations

from setwise.analysis.report.choices import complaints as of_arrays
from setwise.analysis.report.columns import columns
from setwise.analysis.report.comparison import comparison
from setwise.analysis.report.compilers import RECORD as COMPILED
from setwise.analysis.report.compilers import compilers
from setwise.analysis.report.costs import as_json_rows, costs
from setwise.analysis.report.crossing import crossing
from setwise.analysis.report.data import RECORDS, Data
from setwise.analysis.report.fastest import PAGE, fastest
from setwise.analysis.report.fastest import complaints as of_speed
from setwise.analysis.report.files import Files
from setwise.analysis.report.measurements import measurements
from setwise.analysis.report.optimality import complaints as of_length
from setwise.analysis.report.optimality import optimality
from setwise.analysis.report.perft import perft
from setwise.analysis.report.pictures import pictures, titles
from setwise.analysis.report.python import PICTURE, picture, python
from setwise.analysis.report.readme import readme
from setwise.analysis.report.records import as_json


def complaints(data: Data) -> list[str]:
    """A line on each question that the recorded data leave open: a loss, or shorter code, for no known cause."""
    known = data.findings or ()
    return [
        *(of_speed(data.fastest, known) if data.fastest else ()),
        *of_length(data.searched or (), data.figures, known),
        *(of_arrays(data.choices, known) if data.choices else ()),
    ]


def files(data: Data) -> Files:
    """The contents of every file, by its path within the reports' folder."""
    figures, findings = data.figures, data.findings or ()
    measured = data.measured.of(figures.fingerprints) if data.measured else None
    crossed = data.crossing.of(figures.fingerprints) if data.crossing else None
    chosen = data.choices.of(figures.fingerprints) if data.choices else None
    pages = {
        "comparison.md": comparison(figures, data.classic),
        "costs.md": costs(figures),
        "compilers.md": compilers(data.compilers, figures, measured, data.wasted or (), findings),
    }
    if data.measured and measured:
        pages["measurements.md"] = measurements(measured, len(data.measured.timed) - len(measured.timed), findings)
    if crossed:
        pages["crossing.md"] = crossing(crossed)
    if data.fastest:
        pages[PAGE] = fastest(data.fastest, findings)
    if data.bounds:
        pages["optimality.md"] = optimality(
            data.bounds, figures, data.words or (), data.searched or (), data.since, findings
        )
    if data.python:
        pages["python.md"] = python(data.python, columns(data.columns) if data.columns else None)
        pages[PICTURE] = picture(data.python)
    if data.perft:
        pages["perft.md"] = perft(data.perft)
    return {
        "README.md": readme(
            figures, measured, data.compilers, titles(measured), pages.keys(), crossed, chosen, findings
        ),
        **pages,
        **pictures(figures, data.compilers, measured),
        "data/kernels.json": as_json([kernel.as_dict() for kernel in figures.values()]),
        "data/costs.json": as_json(as_json_rows(figures)),
        COMPILED.path: COMPILED.text(data.compilers),
        **{record.path: record.text(held) for name, record in RECORDS.items() if (held := getattr(data, name))},
    }
