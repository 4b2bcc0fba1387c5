"""Which files the reports are, and what stands in each: pages, pictures, data."""

from __future__ import annotations

from setwise.analysis.report.choices import PATH as CHOSEN
from setwise.analysis.report.columns import PATH as COLUMNS
from setwise.analysis.report.columns import columns
from setwise.analysis.report.comparison import comparison
from setwise.analysis.report.compilers import PATH as COMPILED
from setwise.analysis.report.compilers import compilers
from setwise.analysis.report.costs import as_json_rows, costs
from setwise.analysis.report.crossing import PATH as CROSSED
from setwise.analysis.report.crossing import crossing
from setwise.analysis.report.data import Data
from setwise.analysis.report.fastest import PAGE as FASTEST_PAGE
from setwise.analysis.report.fastest import PATH as FASTEST
from setwise.analysis.report.fastest import fastest
from setwise.analysis.report.files import Files, as_json
from setwise.analysis.report.findings import PATH as FOUND
from setwise.analysis.report.findings import findings_json
from setwise.analysis.report.measurements import PATH as MEASURED
from setwise.analysis.report.measurements import measurements
from setwise.analysis.report.optimality import PATH as BOUNDS
from setwise.analysis.report.optimality import bounds_json, optimality
from setwise.analysis.report.perft import PATH as PERFT
from setwise.analysis.report.perft import perft
from setwise.analysis.report.pictures import pictures, titles
from setwise.analysis.report.python import PATH as FROM_PYTHON
from setwise.analysis.report.python import PICTURE, picture, python
from setwise.analysis.report.readme import readme
from setwise.analysis.report.searched import PATH as SEARCHED
from setwise.analysis.report.searched import searched_json
from setwise.analysis.report.since import PATH as SINCE
from setwise.analysis.report.wasted import PATH as WASTED
from setwise.analysis.report.wasted import wasted_json
from setwise.analysis.report.words import PATH as WORDS
from setwise.analysis.report.words import words_json


def files(data: Data) -> Files:
    """The contents of every file, by its path within the reports' folder."""
    figures = data.figures
    measured = data.measured.of(figures.fingerprints) if data.measured else None
    crossed = data.crossing.of(figures.fingerprints) if data.crossing else None
    contents = {
        "README.md": readme(
            *(figures, measured, data.compilers, titles(measured)),
            crossed=crossed,
            choices=data.choices.of(figures.fingerprints) if data.choices else None,
            python="python.md" if data.python else None,
            fastest=FASTEST_PAGE if data.fastest else None,
            optimality="optimality.md" if data.bounds else None,
            perft="perft.md" if data.perft else None,
        ),
        "comparison.md": comparison(figures, data.classic),
        "costs.md": costs(figures),
        "compilers.md": compilers(data.compilers, figures, measured, data.wasted, data.findings),
        "data/kernels.json": as_json([kernel.as_dict() for kernel in figures.values()]),
        "data/costs.json": as_json(as_json_rows(figures)),
        COMPILED: data.compilers.as_json(),
        **pictures(figures, data.compilers, measured),
    }
    if data.measured is not None and measured is not None:
        stale = len(data.measured.timed) - len(measured.timed)
        contents |= {"measurements.md": measurements(measured, stale, data.findings), MEASURED: data.measured.as_json()}
    if data.crossing is not None and crossed is not None:
        contents |= {"crossing.md": crossing(crossed), CROSSED: data.crossing.as_json()}
    if data.choices is not None:
        contents[CHOSEN] = data.choices.as_json()
    if data.fastest is not None:
        contents |= {FASTEST_PAGE: fastest(data.fastest, data.findings), FASTEST: data.fastest.as_json()}
    if data.findings:
        contents[FOUND] = findings_json(data.findings)
    if data.bounds:
        contents |= {
            "optimality.md": optimality(data.bounds, figures, data.words, data.searched, data.since),
            BOUNDS: bounds_json(data.bounds),
        }
    if data.words:
        contents[WORDS] = words_json(data.words)
    if data.wasted:
        contents[WASTED] = wasted_json(data.wasted)
    if data.searched:
        contents[SEARCHED] = searched_json(data.searched)
    if data.since is not None:
        contents[SINCE] = data.since.as_json()
    section = None
    if data.columns is not None:
        section, contents[COLUMNS] = columns(data.columns), data.columns.as_json()
    if data.python is not None:
        contents |= {"python.md": python(data.python, section), FROM_PYTHON: data.python.as_json()}
        contents[PICTURE] = picture(data.python)
    if data.perft is not None:
        contents |= {"perft.md": perft(data.perft), PERFT: data.perft.as_json()}
    return contents
