"""reports/README.md: which kernel to use, on the first screen; then what was found, and what is where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from setwise.analysis.measure.objective import WAYS
from setwise.analysis.measure.trials import OURS
from setwise.analysis.report.bounds import TITLES, Estimate
from setwise.analysis.report.choices import NEEDS, Choice, Choices, Need
from setwise.analysis.report.compilers import Compilers, best
from setwise.analysis.report.crossing import HAS, Crossing, said
from setwise.analysis.report.kernels import Figures, KernelFigures
from setwise.analysis.report.markdown import ISAS, code, figure, listed, page, span, table
from setwise.analysis.report.measurements import Measured
from setwise.analysis.report.races import Race, outcomes, races
from setwise.analysis.report.subtraction import judged
from setwise.analysis.report.verdict import CYCLES, MEASURES, Duel, duels, sentence, tally, verdict_table
from setwise.analysis.text import counted
from setwise.codegen.targets import PACKED, SCALARS, TARGETS

FORECAST = "\\*"
"""What stands behind figures that are forecast, as Markdown has an asterisk."""


def readme(
    figures: Figures,
    measured: Measured | None,
    compilers: Compilers,
    pictures: Mapping[str, str],
    pages: Collection[str] = (),
    crossed: Crossing | None = None,
    choices: Choices | None = None,
) -> str:
    """The page; `pictures` are titles by path, `pages` the others that there are."""
    fought = list(duels(figures, "dumb7", "kogge-stone"))
    return page(
        "README.md",
        which=_which(figures, choices, crossed),
        chosen_on=f"{TITLES[choices.processor]}, {choices.date}" if choices else None,
        cpu=choices.processor if choices else None,
        crossing_said=said(crossed) if crossed else None,
        crossing_on=f"{TITLES.get(crossed.processor, crossed.machine)}, {crossed.date}" if crossed else None,
        headline=_headline(fought),
        processors=listed([*TITLES.values()]),
        **{measure: sentence(fought, measure, "dumb7", "kogge-stone") for measure in MEASURES},
        **_of_south(figures, measured),
        verdict=verdict_table(fought, "dumb7", "kogge-stone"),
        **judged(figures, _with_medians(figures, measured) if measured else Figures(), measured),
        **_of_push(list(duels(figures, "kogge-stone", "push"))),
        **_of_moves(figures),
        compilers=listed([*compilers.versions], "or"),
        union_lengths=_of_compilers(figures, compilers),
        **_of_measurement(measured, figures),
        **{f"{name.removesuffix('.md')}_page": name for name in pages},
        pictures="\n\n".join(f"### {title}\n\n![{title}]({path})" for path, title in pictures.items()),
    )


def chosen(need: Need, isa: str, figures: Figures) -> KernelFigures | None:
    """The kernel with the least bounds, chained and independent, over all processors; of equals the shortest."""

    def cycles(kernel: KernelFigures) -> tuple[float, int]:
        total = sum((bound.chained or 0) + bound.independent for bound in kernel.bounds.values()) / kernel.boards
        return round(total, 3), kernel.counts.instructions

    return min(figures.of(isa, *need.routines), key=cycles, default=None)


def shown(figures: Figures) -> dict[tuple[Need, str], KernelFigures]:
    """The kernels of the first screen."""
    pairs = {(need, isa): chosen(need, isa, figures) for need in NEEDS for isa in need.isas}
    return {pair: kernel for pair, kernel in pairs.items() if kernel}


_HEAD = ("You need", "Kernel", "instructions", "latency", "throughput", "ahead of tables from")


def _which(figures: Figures, choices: Choices | None, crossed: Crossing | None) -> str:
    lines = []
    before = None
    for (need, isa), kernel in shown(figures).items():
        cells = [_taken(choices.taken(need, isa, way), kernel) if choices else "-" for way in WAYS]
        tables = crossed.starts(kernel.name, isa) if crossed else "-"
        words = need.words if need != before else ""
        lines.append((words, _named(kernel), figure(kernel.per_board), *cells, tables))
        before = need
    return table(_HEAD, lines, left=2)


def _taken(choice: Choice | None, kernel: KernelFigures) -> str:
    """The cycles of what is taken, and its name where it is another routine."""
    if choice is None:
        return "-"
    cycles = f"{choice.forecast:.1f} {FORECAST}" if choice.measured is None else f"{choice.measured:.1f}"
    return cycles if choice.name == kernel.name else f"{cycles} ({code(choice.name)})"


def _named(kernel: KernelFigures) -> str:
    lanes = f" --lanes {kernel.lanes}" if kernel.lanes != TARGETS[kernel.isa].widths[0] else ""
    boards = f", {kernel.boards} boards a call" if kernel.boards > 1 and kernel.shape != "arrays" else ""
    return code(f"{kernel.name} --isa {kernel.isa}{lanes}") + boards


def _headline(fought: Sequence[Duel]) -> str:
    """The verdict in a sentence, as far as the bounds carry it."""
    counts = sum((tally(fought, measure) for measure in CYCLES), Counter[int]())
    ahead, few, sign = ("Kogge-Stone", "dumb7", 1) if counts[1] >= counts[-1] else ("dumb7", "Kogge-Stone", -1)
    if counts[sign] and not counts[-sign]:
        return f"{ahead}: {few} has the lower bound on no processor, with no instruction set."
    return (
        f"{ahead}, mostly: its bound is the lower one in {counts[sign]} of {counts.total()} comparisons, {few}'s in "
        f"{counts[-sign]}, and they are level in {counts[0]}."
    )


def _of_south(figures: Figures, measured: Measured | None) -> dict[str, str]:
    """The literature's two listings, which are for one direction on x86-64."""
    dumb7, doubling = (figures.get((f"{family}.attacks.sout", "x86-64", 1)) for family in ("dumb7", "kogge-stone"))
    if dumb7 is None or doubling is None:
        return {}
    chained = (
        span([bound.chained for bound in kernel.bounds.values() if bound.chained]) for kernel in (dumb7, doubling)
    )
    pairs = [[measured.ours(kernel.key, mode) for kernel in (dumb7, doubling)] for mode in CYCLES] if measured else []
    times = [f"{left:.1f} against {right:.1f}" for left, right in pairs if left and right]
    return {
        "shorter": f"{dumb7.counts.instructions} instructions against {doubling.counts.instructions}",
        "moves": counted(doubling.counts.moves - dumb7.counts.moves, "move"),
        "latencies": " against ".join(chained),
    } | ({"south_chained": times[0], "south_independent": times[1]} if len(times) == 2 else {})


def _of_push(fought: Sequence[Duel]) -> dict[str, str]:
    fields = {}
    for isa in SCALARS:
        fills = [duel for duel in fought if duel.isa == isa and duel.direction != "east"]  # an addition there
        sentences = (f"{measure}: {sentence(fills, measure, 'kogge-stone', 'push')}" for measure in MEASURES)
        if fills:
            fields["push_" + isa.replace("-", "_")] = "; ".join(sentences)
    east = [duel for duel in fought if (duel.direction, duel.measure, duel.lanes) == ("east", "chained", 1)]
    if east:
        fields["push_east"] = span([duel.right for duel in east])
        fields["kogge_stone_east"] = span([duel.left for duel in east])
    return fields


def _of_moves(figures: Figures) -> dict[str, object]:
    """What Kogge-Stone's moves cost in latency: x86-64 has them, BMI2 does without."""
    with_moves, without = (figures.get(("kogge-stone.attacks.sout", isa, 1)) for isa in SCALARS)
    if not with_moves or not without or with_moves.counts.moves == without.counts.moves:
        return {}
    costs: dict[float, list[str]] = {}
    for name, title in TITLES.items():
        more = (with_moves.bounds[name].chained or 0) - (without.bounds[name].chained or 0)
        costs.setdefault(more, []).append(title)
    return {
        "moves_there": with_moves.counts.moves,
        "moves_left": without.counts.moves,
        "moves_cost": "; ".join(f"{figure(more)} on {listed(costs[more])}" for more in sorted(costs)),
    }


def _of_compilers(figures: Figures, compilers: Compilers) -> str | None:
    lengths = []
    for isa in ISAS:
        kernels = figures.of(isa, "sliders.union")
        theirs = [best(compilers, kernel.key, name) for kernel in kernels for name in compilers.versions]
        least = min((counts.instructions for counts in theirs if counts and counts.instructions), default=None)
        if least:
            lengths.append(f"{min(kernel.counts.instructions for kernel in kernels)} against {least} ({isa})")
    return listed(lengths) or None


def _of_measurement(measured: Measured | None, figures: Figures) -> dict[str, str | None]:
    if measured is None:
        return {}
    fields: dict[str, str | None] = {
        "machine": measured.machine,
        "agreement": measured.agreement,
    }
    timed = list(duels(_with_medians(figures, measured), "dumb7", "kogge-stone"))
    if timed:
        fields["timed"] = "; ".join(f"{way}: {sentence(timed, way, 'dumb7', 'kogge-stone')}" for way in CYCLES)
    run = list(races(measured))
    union = [race for race in run if race.key[0] in ("sliders.union", "sliders.union.batch")]
    if run:
        fields["outcomes"], fields["exported"] = outcomes(run), outcomes(list(races(measured, exported=True)))
        fields["union_speeds"] = listed([f"{race.speed:.2f} ({_briefly(race)})" for race in union])
        fields["plain"] = _of_plain(measured)
    return fields


def _with_medians(figures: Figures, measured: Measured) -> Figures:
    """The kernels with their measured medians in the place of bounds."""
    timed = Figures()
    for key, kernel in figures.items():
        chained, independent = (measured.ours(key, mode) for mode in CYCLES)
        if independent is not None:
            timed[key] = replace(kernel, bounds={"measured": Estimate(chained, independent, "", 0, "", 0, 0, 0)})
    return timed


def _of_plain(measured: Measured) -> str | None:
    """A whole side beside what compilers make of it as it is first written: a board a word, ray after ray."""
    ratios = []
    for isa in PACKED[::-1]:
        for mode in CYCLES:
            timings = measured.timings(("sliders.union", isa, 4), mode)
            plain = [cycles for maker, cycles in timings.items() if maker.endswith("(plain)")]
            if OURS in timings and plain:
                ratios.append(f"{min(plain) / timings[OURS]:.2f} ({HAS[isa]}, {mode})")
    return listed(ratios) or None


def _briefly(race: Race) -> str:
    return f"{race.title}, " + ("arrays" if race.key[0].endswith(".batch") else race.mode)
