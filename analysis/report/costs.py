"""costs.md: lower bounds on the cycles of every kernel, a table a processor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from setwise.analysis.cost.processors import PROCESSORS, Processor
from setwise.analysis.report.kernels import Figures
from setwise.analysis.report.markdown import ISAS, code, figure, page, table, with_lanes

SHOWN = ("sout", "noEa", "east", "any", "rook", "bishop", "queen", "")
"""The directions that the page shows; the others cost the same as one of them, or stand in the data."""


def costs(figures: Figures) -> str:
    """The page."""
    return page("costs.md", processors="\n\n".join(_of_processor(figures, processor) for processor in PROCESSORS))


def as_json_rows(figures: Figures) -> list[dict[str, Any]]:
    """The same for JSON."""
    return [
        {"name": kernel.name, "isa": kernel.isa, "lanes": kernel.lanes, "processor": processor, **asdict(estimate)}
        for kernel in figures.values()
        for processor, estimate in kernel.bounds.items()
    ]


def _of_processor(figures: Figures, processor: Processor) -> str:
    lines: list[Sequence[object]] = []
    for name in figures.names(lambda kernel: kernel.direction in SHOWN):
        before: Sequence[object] = ()
        for kernel in (kernel for isa in ISAS for kernel in figures.of(isa, name)):
            if bound := kernel.bounds.get(processor.name):
                cells = (kernel.counts.instructions, figure(bound.chained), figure(bound.independent), bound.binds)
                if (kernel.isa, *cells) != before:  # the same with fewer lanes
                    lines.append((code(kernel.name), with_lanes(kernel.isa, kernel.lanes), *cells))
                before = (kernel.isa, *cells)
    head = ("Routine", "", "instructions", "chained", "independent", "by")
    sources = "".join(f"\n* {source}" for source in processor.sources)
    return f"## {processor.title}\n\n{table(head, lines, left=2)}\n\nThe tables' sources:\n{sources}"
