"""reports/README.md: which kernel to use, on the first screen; then what was found, and what is where."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from setwise.analysis.measure.objective import WAYS
from setwise.analysis.report.bounds import TITLES, Estimate
from setwise.analysis.report.choices import NEEDS, Choice, Choices, Need, arrays
from setwise.analysis.report.compilers import Compilers, best
from setwise.analysis.report.crossing import Crossing
from setwise.analysis.report.findings import Finding
from setwise.analysis.report.kernels import Figures, KernelFigures
from setwise.analysis.report.markdown import ISAS, code, figure, listed, page, table, table_if_any
from setwise.analysis.report.measurements import Measured, agreement
from setwise.analysis.report.races import outcomes, races
from setwise.analysis.report.subtraction import judged
from setwise.analysis.report.verdict import CYCLES, duels, tallies, verdict_table
from setwise.codegen.targets import SCALARS, TARGETS

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
    findings: Sequence[Finding] = (),
) -> str:
    """The page; `pictures` are titles by path, `pages` the others that there are."""
    fought = list(duels(figures, "dumb7", "kogge-stone"))
    medians = _with_medians(figures, measured) if measured else Figures()
    timed = [duel for duel in duels(medians, "dumb7", "kogge-stone") if duel.processor]
    return page(
        "README.md",
        which=_which(figures, choices, crossed),
        chosen_on=f"{TITLES[choices.processor]}, {choices.date}" if choices else None,
        cpu=choices.processor if choices else None,
        **(arrays(choices, findings) if choices else {}),
        crossing_on=f"{TITLES.get(crossed.processor, crossed.machine)}, {crossed.date}" if crossed else None,
        processors=listed([*TITLES.values()]),
        machine=f"{measured.machine}, {measured.date}" if measured else None,
        doubling=tallies({"at least": fought, "measured": timed}),
        verdict=verdict_table(fought, "dumb7", "kogge-stone"),
        few=_few(figures, measured),
        **judged(figures, medians, measured),
        push=_of_push(figures),
        compilers=listed([*compilers.versions], "or"),
        lengths=_of_compilers(figures, compilers),
        speeds=_of_union(measured) if measured else None,
        outcomes=outcomes(measured) if measured else None,
        agreement=agreement(measured) if measured else None,
        **{f"{name.removesuffix('.md')}_page": name for name in pages},
        pictures="\n\n".join(f"### {title}\n\n![{title}]({path})" for path, title in pictures.items()),
    )


def chosen(need: Need, isa: str, figures: Figures) -> KernelFigures | None:
    """The kernel with the least bounds, chained and independent, over all processors; of equals the shortest."""

    def cycles(kernel: KernelFigures) -> tuple[float, int]:
        total = sum((bound.chained or 0) + bound.independent for bound in kernel.bounds.values()) / kernel.boards
        return round(total, 3), kernel.counts.instructions

    return min(figures.of(isa, *need.routines), key=cycles, default=None)


def shown(figures: Figures, choices: Choices | None = None) -> dict[tuple[Need, str], KernelFigures]:
    """The kernels of the first screen."""
    pairs = {(need, isa): _shown(need, isa, figures, choices) for need in NEEDS for isa in need.isas}
    return {pair: kernel for pair, kernel in pairs.items() if kernel}


def _shown(need: Need, isa: str, figures: Figures, choices: Choices | None) -> KernelFigures | None:
    """The kernel chosen; where its shortest code is that of an older set, only if another variant is taken."""
    kernel, older = chosen(need, isa, figures), TARGETS[isa].extends
    if kernel or not older or not choices:
        return kernel
    taken, before = (choices.taken(need, each, "throughput") for each in (isa, older.name))
    kernel = chosen(need, older.name, figures) if taken and before and taken.variant != before.variant else None
    return kernel and replace(kernel, isa=isa)


_HEAD = ("You need", "Kernel", "instructions", "latency", "throughput", "ahead of tables from")


def _which(figures: Figures, choices: Choices | None, crossed: Crossing | None) -> str:
    lines = []
    before = None
    for (need, isa), kernel in shown(figures, choices).items():
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


_FEW = tuple(f"{family}.attacks.{way}" for way in ("sout", "east") for family in ("dumb7", "kogge-stone", "push"))


def _few(figures: Figures, measured: Measured | None) -> str | None:
    """One direction in general registers: instructions, moves, what chained calls take at least, and took."""
    lines = []
    for name in _FEW:
        for kernel in filter(None, (figures.get((name, isa, 1)) for isa in SCALARS)):
            held = map(kernel.bounds.get, TITLES)
            bounds = (figure(bound.chained if bound else None) for bound in held)
            times = (figure(measured.ours(kernel.key, mode)) for mode in CYCLES) if measured else ()
            lines.append((code(name), kernel.isa, kernel.counts.instructions, kernel.counts.moves, *bounds, *times))
    ways = [f"{mode}, measured" for mode in CYCLES] if measured else []
    return table_if_any(("", "", "instructions", "moves", *TITLES.values(), *ways), lines, left=2)


def _of_push(figures: Figures) -> str | None:
    """Beside Kogge-Stone; in all directions but east, which is an addition."""
    fought = [duel for duel in duels(figures, "kogge-stone", "push") if duel.direction != "east"]
    return tallies({isa: [duel for duel in fought if duel.isa == isa] for isa in SCALARS})


def _of_compilers(figures: Figures, compilers: Compilers) -> str | None:
    """A whole side in instructions, a line a set."""
    lines = []
    for isa in ISAS:
        kernels = figures.of(isa, "sliders.union")
        theirs = [best(compilers, kernel.key, name) for kernel in kernels for name in compilers.versions]
        least = min((counts.instructions for counts in theirs if counts and counts.instructions), default=None)
        if least:
            lines.append((isa, min(kernel.counts.instructions for kernel in kernels), least))
    return table_if_any(("", "setwise", "compilers' shortest"), lines)


def _of_union(measured: Measured) -> str | None:
    """A whole side in cycles: ours, the compilers' fastest, and what they make of it as it is first written."""
    lines = []
    for race in races(measured):
        if race.key[0] in ("sliders.union", "sliders.union.batch"):
            timings = measured.timings(race.key, race.mode)
            plain = min((cycles for maker, cycles in timings.items() if maker.endswith("(plain)")), default=None)
            of_plain = "-" if plain is None else f"{plain / race.ours:.2f}"
            cycles = figure(race.ours), figure(race.theirs), f"{race.speed:.2f}", of_plain
            lines.append((code(race.key[0]), race.title, race.mode, *cycles))
    head = ("", "", "calls", "setwise", "compilers' fastest", "speed", "speed, plain C")
    return table_if_any(head, lines, left=3)


def _with_medians(figures: Figures, measured: Measured) -> Figures:
    """The kernels with their measured medians in the place of bounds."""
    timed = Figures()
    for key, kernel in figures.items():
        chained, independent = (measured.ours(key, mode) for mode in CYCLES)
        if independent is not None:
            timed[key] = replace(kernel, bounds={"measured": Estimate(chained, independent, "", 0, "", 0, 0, 0)})
    return timed
