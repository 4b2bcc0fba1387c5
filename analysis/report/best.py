"""best.md: of every routine the kernel to take on one processor, by objective, as `setwise best` chooses it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setwise.analysis.cost.processors import Processor
from setwise.analysis.report.markdown import code, figure, page, table, with_lanes

PAGE = "best.md"


def best(rows: Sequence[Mapping[str, Any]], on: Processor) -> str:
    """The page, from rows as `setwise best --json` prints them."""
    lines = [
        (
            *(code(row["name"]), row["for"], with_lanes(row["isa"], row["lanes"]), row["variant"] or "-"),
            *(row["instructions"], figure(row["latency"]), figure(row["throughput"])),
        )
        for row in rows
    ]
    head = ("Routine", "for", "", "variant", "instructions", "latency", "throughput")
    return page(PAGE, title=on.title, cpu=on.name, kernels=table(head, lines, left=4))
