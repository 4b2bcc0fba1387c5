"""Whether subtracting in SIMD registers is the fastest way east, as the literature says (Isenberg, CCC, 2005)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from setwise.analysis.report.kernels import Figures, KernelFigures
from setwise.analysis.report.markdown import FAMILIES, ISAS, code, figure, listed, span, table, with_lanes
from setwise.analysis.report.measurements import Measured
from setwise.analysis.report.verdict import CYCLES, MEASURES, Duel, Measure, duels, sentence
from setwise.codegen.targets import SCALARS, VECTORS

RIVALS = ("push", "kogge-stone", "dumb7")
_NAMES = (
    "subtraction.attacks.east",
    "subtraction.attacks-cleared.east",
    *(f"{family}.attacks.east" for family in RIVALS),
)


def judged(figures: Figures, medians: Figures, measured: Measured | None) -> dict[str, str]:
    """The section's fields; `medians` are the kernels with measured figures in the place of bounds."""
    fought = {rival: _duels(figures, rival, VECTORS) for rival in RIVALS}
    if not any(fought.values()):
        return {}
    lines = [f"* Beside {FAMILIES[rival]}: {_sentences(of, rival, MEASURES)}" for rival, of in fought.items() if of]
    if single := _duels(figures, "push", SCALARS):
        lines.append(f"* One board in a general register, beside push: {_sentences(single, 'push', MEASURES)}")
    for rival in RIVALS:
        if timed := _duels(medians, rival, VECTORS):
            lines.append(f"* Measured beside {FAMILIES[rival]}, including the call: {_sentences(timed, rival, CYCLES)}")
    return {"fastest": headline(fought), "beside": "\n".join(lines), "eastward": _table(figures, measured)}


def _duels(figures: Figures, rival: str, isas: Sequence[str]) -> list[Duel]:
    """A rival against the subtraction, with these instruction sets."""
    return [duel for duel in duels(figures, rival, "subtraction") if duel.isa in isas]


def _sentences(fought: Sequence[Duel], rival: str, measures: Sequence[Measure]) -> str:
    return "; ".join(f"{measure}: {sentence(fought, measure, rival, 'subtraction')}" for measure in measures) + "."


def headline(fought: Mapping[str, Sequence[Duel]]) -> str:
    """The verdict in a sentence, by the bounds on cycles beside each rival."""
    cycles = {rival: Counter(duel.winner for duel in of if duel.measure in CYCLES) for rival, of in fought.items()}
    total = sum(counts.total() for counts in cycles.values())
    ahead, level = (
        listed([f"{counts[sign]} {to} {FAMILIES[rival]}" for rival, counts in cycles.items() if counts[sign]])
        for sign, to in ((-1, "to"), (0, "with"))
    )
    if ahead:
        return f"Not always: of {total} comparisons of bounds on cycles it loses {ahead}."
    if level:
        return f"Yes, but not alone: of {total} comparisons of bounds on cycles it loses none and ties {level}."
    return f"Yes: it is ahead in all {total} comparisons of bounds on cycles."


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
