"""costs.md: lower bounds on the cycles of every kernel, a table a processor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from setwise.analysis.code.decode import Decoded
from setwise.analysis.cost.bounds import cost, round_cost
from setwise.analysis.cost.processors import PROCESSORS, Processor
from setwise.analysis.report.kernels import FigureKey, Figures, Shape
from setwise.analysis.report.markdown import ISAS, code, figure, page, table, with_lanes

SHOWN = ("sout", "noEa", "east", "any", "rook", "bishop", "queen", "")
"""The directions that the page shows; the others cost the same as one of them, or stand in the data."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A kernel's lower bounds on a processor, in cycles a call, or for arrays a board.

    `chained` is the latency from the arguments to the result (None for arrays). `independent` binds calls that wait for
    nothing; `limit` says what it comes from: ports (`pressure`, on those of `ports`), issue, jumps or latency.
    """

    chained: float | None
    independent: float
    limit: str
    pressure: float
    ports: str
    issue: float
    depth: int
    registers: int

    @property
    def binds(self) -> str:
        """What binds independent calls, in words."""
        return f"ports {self.ports}" if self.limit == "ports" else self.limit


Estimates = Mapping[tuple[FigureKey, str], Estimate]
"""By kernel and processor."""


def estimates_of(executed: Sequence[Decoded], shape: Shape, boards: int) -> dict[str, Estimate]:
    """The bounds on each processor that has the instructions; none for code whose branches depend on its arguments."""
    if shape == "branches":
        return {}
    return {
        processor.name: _estimate(executed, processor, shape, boards)
        for processor in PROCESSORS
        if not processor.lacking(executed)
    }


def costs(figures: Figures, estimates: Estimates) -> str:
    """The page."""
    return page(
        "Cycles, as the model has them",
        _INTRODUCTION,
        *(_of_processor(figures, estimates, processor) for processor in PROCESSORS),
    )


_INTRODUCTION = """\
**These are lower bounds**, worked out from the decoded bytes: the code alone, as if it stood inline, all operands in
registers or in the first-level cache. No call, no misprediction, nothing that the tables do not know of makes them
faster; all of that may make the code slower. Measured figures, which include a call, are in
[measurements.md](measurements.md).

*Chained* is the latency of the critical path from the arguments to the result. *Independent* is what calls that wait
for nothing take at least: the pressure on the busiest ports, or the width of issue, whichever is more; *by* says which.
For arrays both are cycles a board. `setwise cost NAME --cpu CPU` shows a kernel instruction by instruction with its
critical path. All kernels, and all directions, are in [data/costs.json](data/costs.json)."""


def as_json_rows(estimates: Estimates) -> list[dict[str, Any]]:
    """The same for JSON."""
    return [
        {"name": name, "isa": isa, "lanes": lanes, "processor": processor, **asdict(estimate)}
        for ((name, isa, lanes), processor), estimate in estimates.items()
    ]


def _estimate(executed: Sequence[Decoded], processor: Processor, shape: Shape, boards: int) -> Estimate:
    arrays = shape == "arrays"
    made = round_cost(executed, processor) if arrays else cost(executed, processor)
    units = boards if arrays else 1

    def rounded(cycles: float) -> float:
        return round(cycles / units, 3)

    return Estimate(
        chained=None if arrays else rounded(made.latency),
        independent=rounded(made.bound),
        limit=made.limit,
        pressure=rounded(made.pressure.cycles),
        ports=made.pressure.named,
        issue=rounded(made.issue),
        depth=made.depth,
        registers=made.registers,
    )


def _of_processor(figures: Figures, estimates: Estimates, processor: Processor) -> str:
    lines: list[Sequence[object]] = []
    for name in dict.fromkeys(kernel.name for kernel in figures.values() if kernel.direction in SHOWN):
        mine = sorted(
            (kernel for kernel in figures.values() if kernel.name == name),
            key=lambda kernel: (ISAS.index(kernel.isa), -kernel.lanes),
        )
        before: Sequence[object] = ()
        for kernel in mine:
            estimate = estimates.get((kernel.key, processor.name))
            if estimate is None:
                continue
            cells = (kernel.counts.instructions, figure(estimate.chained), figure(estimate.independent), estimate.binds)
            if (kernel.isa, *cells) != before:  # the same with fewer lanes
                lines.append((code(kernel.name), with_lanes(kernel.isa, kernel.lanes), *cells))
            before = (kernel.isa, *cells)
    head = ("Routine", "", "instructions", "chained", "independent", "by")
    sources = "".join(f"\n* {source}" for source in processor.sources)
    return f"## {processor.title}\n\n{table(head, lines, left=2)}\n\nThe tables' sources:\n{sources}"
