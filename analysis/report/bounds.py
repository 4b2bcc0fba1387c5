"""Lower bounds on what a kernel costs, as the reports show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from setwise.analysis.code.decode import Decoded
from setwise.analysis.cost.bounds import cost, round_cost
from setwise.analysis.cost.processors import PROCESSORS, Processor

Shape = Literal["straight", "branches", "arrays"]

TITLES = {processor.name: processor.title.replace(", ", " / ") for processor in PROCESSORS}


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


def estimates_of(executed: Sequence[Decoded], shape: Shape, boards: int) -> dict[str, Estimate]:
    """The bounds on each processor that has the instructions; none for code whose branches depend on its arguments."""
    if shape == "branches":
        return {}
    return {
        processor.name: _estimate(executed, processor, shape, boards)
        for processor in PROCESSORS
        if not processor.lacking(executed)
    }


def _estimate(executed: Sequence[Decoded], processor: Processor, shape: Shape, boards: int) -> Estimate:
    arrays = shape == "arrays"
    bounds = round_cost(executed, processor) if arrays else cost(executed, processor)
    units = boards if arrays else 1

    def rounded(cycles: float) -> float:
        return round(cycles / units, 3)

    return Estimate(
        chained=None if arrays else rounded(bounds.latency),
        independent=rounded(bounds.bound),
        limit=bounds.limit,
        pressure=rounded(bounds.pressure.cycles),
        ports=bounds.pressure.named,
        issue=rounded(bounds.issue),
        depth=bounds.depth,
        registers=bounds.registers,
    )
