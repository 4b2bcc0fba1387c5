"""Generation of all report files from kernels and recorded measurements."""

from collections.abc import Callable

import msgspec

from setwise.analysis.bench.compilers import installed
from setwise.analysis.report.figures import Figures, Measurements, figures_of, keys, shortest_of
from setwise.analysis.report.pages import pages
from setwise.analysis.report.report_files import PATH, Files, text
from setwise.analysis.workers import Workers
from setwise.codegen.targets import TARGETS


def generate(recorded: Measurements, check: bool, show: Callable[[str], None], note: Callable[[str], None]) -> Files:
    """Compile all kernels, run the C compilers, and return the text of every report file by its path.

    With `check`, only compilers of the recorded versions run. `note` receives a line about each recorded compiler that
    does not run, `show` a line of progress on each kernel.
    """
    here = {each.name: each for each in installed() if not check or recorded.compilers.get(each.name) == each.version}
    for name in recorded.compilers.keys() - here.keys():
        note(f"not checked: {recorded.compilers[name]}, which is not installed")
    isas = [isa for isa, target in TARGETS.items() if target.extends is None]
    with Workers() as workers:
        made = {
            name: {isa: workers.submit(shortest_of, compiler, isa) for isa in isas} for name, compiler in here.items()
        }
        figures = Figures()
        for task in [workers.submit(figures_of, *key) for key in keys()]:
            kernel = task.result()
            show(f"{kernel.name} {kernel.isa}")
            figures[kernel.name, kernel.isa, kernel.lanes] = kernel
        shortest = {name: {isa: task.result() for isa, task in each.items()} for name, each in made.items()}
    recorded = msgspec.structs.replace(
        recorded,
        compilers=dict(sorted({**recorded.compilers, **{each.name: each.version for each in here.values()}}.items())),
        shortest=dict(sorted({**recorded.shortest, **shortest}.items())),
    )
    return {**pages(figures.differing, recorded), PATH: text(recorded)}
