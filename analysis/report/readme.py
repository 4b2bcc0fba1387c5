"""reports/README.md: which kernel to use, on the first screen; then what was found, and what is where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from setwise.analysis.report.compilers import Compilers, best
from setwise.analysis.report.costs import Estimate, Estimates
from setwise.analysis.report.kernels import Figures, KernelFigures
from setwise.analysis.report.markdown import ISAS, code, figure, listed, page, span, table
from setwise.analysis.report.measurements import Measured
from setwise.analysis.report.pictures import Titles
from setwise.analysis.report.races import Race, outcomes, races
from setwise.analysis.report.verdict import CYCLES, MEASURES, Duel, duels, sentence, verdict_table
from setwise.analysis.text import counted
from setwise.codegen.machine.processors import BASELINE
from setwise.codegen.targets import PACKED, SCALARS, TARGETS, VECTORS

_HAS = {isa: target.title if target.features - BASELINE else "any x86-64" for isa, target in TARGETS.items()}
"""What a processor for it has."""


@dataclass(frozen=True, slots=True)
class Need:
    """What somebody wants, in words; the routines that give it; for which instruction sets, the newest first."""

    words: str
    routines: tuple[str, ...]
    isas: tuple[str, ...]


_SOUTH = ("push.attacks.sout", "kogge-stone.attacks.sout", "dumb7.attacks.sout")
NEEDS = (
    Need("all that **one side's sliders** attack", ("sliders.union",), PACKED[::-1]),
    Need("**one direction**, as south, one board", _SOUTH, SCALARS[::-1]),
    Need("east alone, by an addition", ("push.attacks.east", "subtraction.attacks.east"), SCALARS[:1]),
    Need("one direction, a register of boards", _SOUTH, VECTORS[::-1]),
    Need("one side's sliders, **arrays of boards**", ("sliders.union.batch",), VECTORS[::-1]),
)


def readme(
    figures: Figures,
    estimates: Estimates,
    processors: Titles,
    measured: Measured | None,
    compilers: Compilers,
    pictures: Titles,
) -> str:
    """The page; `processors` and `pictures` are titles by name; a picture's name is its path."""
    fought = list(duels(figures, estimates, list(processors), "dumb7", "kogge-stone"))
    pushed = list(duels(figures, estimates, list(processors), "kogge-stone", "push"))
    return page(
        "Which kernel should I use?",
        _which(figures, estimates, processors, measured),
        "## dumb7 or Kogge-Stone?",
        *_verdict(fought, figures, estimates, processors, measured),
        "## Findings",
        "\n".join(
            f"* {finding}"
            for finding in (
                *_of_push(pushed),
                *_of_moves(figures, estimates, processors),
                *_of_compilers(figures, compilers, measured),
                *_of_model(measured),
            )
        ),
        "## What is where",
        _pages(measured),
        "## Pictures",
        *(f"### {title}\n\n![{title}]({path})" for path, title in pictures.items()),
    )


def chosen(need: Need, isa: str, figures: Figures, estimates: Estimates, processors: Titles) -> KernelFigures | None:
    """The kernel with the least bounds, chained and independent, over all processors; of equals the shortest."""

    def cycles(kernel: KernelFigures) -> tuple[float, int]:
        bounds = (estimates.get((kernel.key, name)) for name in processors)
        total = sum((one.chained or 0) + one.independent for one in bounds if one) / kernel.boards
        return round(total, 3), kernel.counts.instructions

    return min(
        (kernel for kernel in figures.values() if kernel.isa == isa and kernel.name in need.routines),
        key=cycles,
        default=None,
    )


def _which(figures: Figures, estimates: Estimates, processors: Titles, measured: Measured | None) -> str:
    lines = []
    for need in NEEDS:
        for at, isa in enumerate(need.isas):
            kernel = chosen(need, isa, figures, estimates, processors)
            if kernel is None:
                continue
            arrays = kernel.shape == "arrays"
            bounds = [_both(estimates.get((kernel.key, name))) for name in processors]
            length = figure(kernel.per_board) if arrays else kernel.counts.instructions
            cells = [length, *([_measured(measured, kernel)] if measured else []), *bounds]
            lines.append(("" if at else need.words, _HAS[isa], _named(kernel), *cells))
    here = [f"measured, {processors.get(measured.processor, measured.machine)}"] if measured else []
    bounds_on = (f"{title}, bound" for title in processors.values())
    head = ("You need", "CPU with", "Kernel", "instructions", *here, *bounds_on)
    return (
        f"{table(head, lines, left=3)}\n\n"
        "Cycles: *independent* calls / *chained* ones (each waits for the one before); a single number where nothing "
        f"can be chained. {_of_calls(measured)}The last columns are lower bounds of the code alone, as when it stands "
        "inline; - where the processor lacks the instructions. Of arrays all figures are a board, loop control "
        "included. `setwise listing NAME --isa I --lanes N` prints a kernel, `setwise export` brings it into your "
        "engine. Each takes all sliders of a set at once; where you want one piece's attacks, see [when not to use one]"
        "(compilers.md#when-not-to-use-a-set-wise-kernel)."
    )


def _named(kernel: KernelFigures) -> str:
    lanes = f" --lanes {kernel.lanes}" if kernel.lanes != TARGETS[kernel.isa].widths[0] else ""
    boards = f", {kernel.boards} boards a call" if kernel.boards > 1 and kernel.shape != "arrays" else ""
    return code(f"{kernel.name} --isa {kernel.isa}{lanes}") + boards


def _both(one: Estimate | None) -> str:
    if one is None:
        return "-"
    return figure(one.independent) + ("" if one.chained is None else f" / {figure(one.chained)}")


def _measured(measured: Measured | None, kernel: KernelFigures) -> str:
    cycles = [measured.ours(kernel.key, mode) for mode in ("independent", "chained")] if measured else []
    return " / ".join(figure(median) for median in cycles if median is not None) or "-"


def _of_calls(measured: Measured | None) -> str:
    if measured is None or measured.empty is None:
        return ""
    return f"Measured figures hold the call itself: an empty routine takes {figure(measured.empty)} cycles. "


def _verdict(
    fought: Sequence[Duel], figures: Figures, estimates: Estimates, processors: Titles, measured: Measured | None
) -> Iterator[str]:
    left, right = "dumb7", "kogge-stone"
    south = [figures.get((f"{family}.attacks.sout", "x86-64", 1)) for family in (left, right)]
    yield (
        f"**{_headline(fought)}** Counted over {listed([*processors.values()])}, each of the eight directions, and all "
        "eight of a queen at once:"
    )
    yield "\n".join(
        (
            f"* Instructions: {sentence(fought, 'instructions', left, right)}.",
            f"* Chained calls, where the latency counts: {sentence(fought, 'chained', left, right)}.",
            f"* Independent calls, where the throughput counts: {sentence(fought, 'independent', left, right)}.",
        )
    )
    one, other = south
    if one and other:
        latencies = [
            [bound.chained for name in processors if (bound := estimates.get((kernel.key, name))) and bound.chained]
            for kernel in (one, other)
        ]
        moves = other.counts.moves - one.counts.moves
        yield (
            f"The literature counts {one.counts.instructions} instructions against {other.counts.instructions} for "
            f"one direction on x86-64, Kogge-Stone's with {counted(moves, 'move')} more, and finds dumb7 not that bad. "
            f"In cycles of chained calls it is at least {span(latencies[0])} against {span(latencies[1])}"
            f"{_measured_south(measured, one, other)}."
        )
    if measured:
        timed = list(duels(figures, _as_estimates(measured), ["measured"], left, right))
        said = [f"{measure}: {sentence(timed, measure, left, right)}" for measure in CYCLES]
        if timed:
            yield f"Measured on {measured.machine}, calls and all: {'; '.join(said)}."
    yield "Figures are dumb7 : Kogge-Stone, over these processors and, for one direction, over the eight directions."
    yield verdict_table(fought, left, right)


def _as_estimates(measured: Measured) -> Estimates:
    """The medians of our kernels in the place of bounds."""
    medians = {}
    for key in dict.fromkeys(one.key for one in measured.timed):
        chained, independent = (measured.ours(key, mode) for mode in CYCLES)
        if independent is not None:
            medians[key, "measured"] = Estimate(chained, independent, "", 0, "", 0, 0, 0)
    return medians


def _headline(fought: Sequence[Duel]) -> str:
    """The verdict in a sentence, as far as the bounds carry it."""
    cycles = [duel for duel in fought if duel.measure != "instructions"]
    wins, losses = (sum(duel.winner == sign for duel in cycles) for sign in (1, -1))
    if wins and not losses:
        return "Kogge-Stone: on no processor, with no instruction set does dumb7 have the lower bound."
    if losses and not wins:
        return "dumb7: on no processor, with no instruction set does Kogge-Stone have the lower bound."
    ahead, few = ("Kogge-Stone", "dumb7") if wins >= losses else ("dumb7", "Kogge-Stone")
    level = len(cycles) - wins - losses
    return (
        f"{ahead}, mostly: its bound is the lower one in {max(wins, losses)} of {len(cycles)} comparisons, {few}'s in "
        f"{min(wins, losses)}, and they are level in {level}."
    )


def _measured_south(measured: Measured | None, one: KernelFigures, other: KernelFigures) -> str:
    if measured is None:
        return ""
    cycles = [[measured.ours(kernel.key, mode) for kernel in (one, other)] for mode in ("chained", "independent")]
    (chained, chained_other), (free, free_other) = cycles
    if chained is None or chained_other is None or free is None or free_other is None:
        return ""
    return (
        f", measured {chained:.1f} against {chained_other:.1f}; independent calls {free:.1f} against {free_other:.1f}"
    )


def _of_push(fought: Sequence[Duel]) -> Iterator[str]:
    of_fills = [duel for duel in fought if duel.direction != "east"]  # which push does by an addition
    how = ", which masks the square that is left in place of the one that is reached,"
    for isa in SCALARS:
        here = [duel for duel in of_fills if duel.isa == isa]
        said = [f"{name}: {sentence(here, name, 'kogge-stone', 'push')}" for name in MEASURES]
        if here:
            yield f"**push on {isa}**{how} beside Kogge-Stone, east aside: {'; '.join(said)}."
        how = ""
    east = [duel for duel in fought if duel.direction == "east" and duel.measure == "chained" and duel.lanes == 1]
    if east:
        yield (
            f"**East is an addition**: at least {span([duel.right for duel in east])} cycles chained, Kogge-Stone "
            f"at least {span([duel.left for duel in east])}."
        )


def _of_moves(figures: Figures, estimates: Estimates, processors: Titles) -> Iterator[str]:
    """Whether Kogge-Stone's moves cost latency: x86-64 has them, BMI2 does without."""
    with_moves, without = (figures.get(("kogge-stone.attacks.sout", isa, 1)) for isa in SCALARS)
    if not with_moves or not without or with_moves.counts.moves == without.counts.moves:
        return
    free: list[str] = []
    paid: list[str] = []
    for name, title in processors.items():
        one, other = estimates.get((with_moves.key, name)), estimates.get((without.key, name))
        if one and other and one.chained is not None and other.chained is not None:
            more = one.chained - other.chained
            (paid if more > 0 else free).append(title if more <= 0 else f"{title} ({figure(more)} cycles)")
    words = [
        f"cost no latency on {listed(free)}" if free else "",
        f"cost some on {listed(paid)}" if paid else "",
    ]
    yield (
        f"**Moves**: the {with_moves.counts.moves} of Kogge-Stone on x86-64 (with BMI2 it has "
        f"{without.counts.moves}) {listed([one for one in words if one], 'but')}."
    )


def _of_compilers(figures: Figures, compilers: Compilers, measured: Measured | None) -> Iterator[str]:
    shorter = []
    for isa in ISAS:
        mine = [kernel for kernel in figures.values() if kernel.name == "sliders.union" and kernel.isa == isa]
        theirs = [best(compilers, kernel.key, name) for kernel in mine for name in compilers.versions]
        lengths = [one.instructions for one in theirs if one and one.instructions is not None]
        if mine and lengths:
            shorter.append(f"{min(kernel.counts.instructions for kernel in mine)} against {min(lengths)} ({isa})")
    if shorter:
        yield (
            "**`sliders.union` in instructions**, ours against the shortest that "
            f"{listed([*compilers.versions], 'or')} make of C or intrinsics: {listed(shorter)}."
        )
    run = list(races(measured)) if measured else []
    if measured and run:
        union = [race for race in run if race.key[0] in ("sliders.union", "sliders.union.batch")]
        speeds = listed([f"{race.speed:.2f} ({_briefly(race)})" for race in union])
        own = list(races(measured, exported=True))
        yield (
            f"**Beside the compilers**, the fastest that they make of C after the literature: {outcomes(run)}; of "
            f"setwise's own C export: {outcomes(own)}; [each of them](compilers.md). Their cycles over ours for a "
            f"whole side: {speeds}."
        )
        yield from _of_plain(measured)


def _of_plain(measured: Measured) -> Iterator[str]:
    """A whole side beside what compilers make of it as it is first written: a board a word, ray after ray."""
    ratios = []
    for isa in PACKED[::-1]:
        for mode in ("chained", "independent"):
            key = "sliders.union", isa, 4
            ours = measured.ours(key, mode)
            plain = [cycles for maker, cycles in measured.timings(key, mode).items() if maker.endswith("(plain)")]
            if ours and plain:
                ratios.append(f"{min(plain) / ours:.2f} ({_HAS[isa]}, {mode})")
    if ratios:
        yield (
            "**Beside plain C**, a word a board and ray after ray, `sliders.union` in four lanes takes their cycles "
            f"divided by {listed(ratios)}."
        )


def _briefly(race: Race) -> str:
    return f"{race.title}, " + ("arrays" if race.key[0].endswith(".batch") else race.mode)


def _of_model(measured: Measured | None) -> Iterator[str]:
    if measured is None or measured.agreement is None:
        return
    more = "[each of them](measurements.md#the-model-beside-the-measurement)"
    yield f"**Model and measurement**: {measured.agreement}; {more}."


def _pages(measured: Measured | None) -> str:
    lines = [
        ("[comparison.md](comparison.md)", "moves and operations of every family, direction and instruction set"),
        ("[costs.md](costs.md)", "lower bounds on the cycles, a table a processor, each row of it with its source"),
        ("[compilers.md](compilers.md)", "beside gcc and clang, losses as plainly as wins"),
        ("[measurements.md](measurements.md)", "cycles measured, the machine, the day and the method"),
        ("[SOUNDNESS.md](SOUNDNESS.md)", "what a proof says, and what it stands on (written by hand)"),
        ("[data/](data)", "the same as JSON"),
        ("[pictures/](pictures)", "the pictures below"),
    ]
    kept = [line for line in lines if measured or "measurements.md" not in line[0]]
    return table(("", ""), kept, left=2)
