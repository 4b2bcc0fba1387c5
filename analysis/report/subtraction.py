"""Whether subtracting in SIMD registers is the fastest way east, as the literature says (Isenberg, CCC, 2005)."""

from __future__ import annotations

from collections.abc import Sequence

from setwise.analysis.report.kernels import Figures, KernelFigures
from setwise.analysis.report.markdown import FAMILIES, ISAS, code, figure, span, table, with_lanes
from setwise.analysis.report.measurements import Measured
from setwise.analysis.report.verdict import CYCLES, Duel, duels, tallies
from setwise.codegen.targets import SCALARS, VECTORS

RIVALS = ("push", "kogge-stone", "dumb7")
_NAMES = (
    "subtraction.attacks.east",
    "subtraction.attacks-cleared.east",
    *(f"{family}.attacks.east" for family in RIVALS),
)


def judged(figures: Figures, medians: Figures, measured: Measured | None) -> dict[str, str | None]:
    """The section's fields; `medians` are the kernels with measured figures in the place of bounds."""
    groups = {FAMILIES[rival]: _duels(figures, rival, VECTORS) for rival in RIVALS}
    groups["push, one board"] = _duels(figures, "push", SCALARS)
    groups |= {
        f"{FAMILIES[rival]}, measured": [duel for duel in _duels(medians, rival, VECTORS) if duel.processor]
        for rival in RIVALS
    }
    beside = tallies(groups)
    return {"beside": beside, "eastward": _table(figures, measured) if beside else None}


def _duels(figures: Figures, rival: str, isas: Sequence[str]) -> list[Duel]:
    """A rival against the subtraction, with these instruction sets."""
    return [duel for duel in duels(figures, rival, "subtraction") if duel.isa in isas]


def _table(figures: Figures, measured: Measured | None) -> str:
    """A line a kernel: bounds over the processors, and what was measured."""
    lines = []
    for isa in ISAS:
        title = isa
        for name in _NAMES:
            if kernel := figures.usual(isa, name):
                lines.append((title and with_lanes(isa, kernel.lanes), code(name), *_figures(kernel, measured)))
                title = ""
    head = ("", "kernel", "instructions", *(f"cycles {way}" for way in CYCLES))
    return table((*head, *(f"measured, {way}" for way in CYCLES if measured)), lines, left=2)


def _figures(kernel: KernelFigures, measured: Measured | None) -> list[str]:
    bounds = kernel.bounds.values()
    spans = [[b.chained for b in bounds if b.chained is not None], [b.independent for b in bounds]]
    times = [figure(measured.ours(kernel.key, way)) for way in CYCLES] if measured else []
    return [str(kernel.counts.instructions), *(span(numbers) if numbers else "-" for numbers in spans), *times]
