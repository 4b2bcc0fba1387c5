"""The pictures of the reports, from the data: which kernels each shows, under which title."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from setwise.analysis.code.count import classify
from setwise.analysis.code.decode import decode
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.cost.bounds import cost
from setwise.analysis.cost.dependence import BEFORE
from setwise.analysis.cost.processors import Processor, processor
from setwise.analysis.measure.compilers import FOR_SCALE
from setwise.analysis.measure.trials import OURS
from setwise.analysis.pictures.bars import Bar, Groups, moves_and_operations
from setwise.analysis.pictures.boards import slow_motion
from setwise.analysis.pictures.graph import Node, dependencies
from setwise.analysis.pictures.network import prefix_network
from setwise.analysis.pictures.scatter import Point, latency_and_throughput
from setwise.analysis.pictures.svg import BLUE, BRICK, INK, MUTED, OCHRE, PLUM, TEAL
from setwise.analysis.pictures.svg import FAMILIES as COLOURS
from setwise.analysis.report.compilers import Compilers
from setwise.analysis.report.costs import Estimates
from setwise.analysis.report.kernels import Figures
from setwise.analysis.report.markdown import FAMILIES, ISAS, LONG, figure
from setwise.analysis.report.measurements import Measured
from setwise.analysis.report.races import EXPORTED
from setwise.analysis.run.contracts import task_of
from setwise.analysis.run.slow_motion import EMPTY, SLIDERS, fill
from setwise.analysis.text import counted
from setwise.codegen.catalogue import find
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.targets import PACKED, TARGETS
from setwise.codegen.targets.vector import AVX512

Titles = Mapping[str, str]

TITLES: Titles = {
    "pictures/moves-and-operations.svg": "Moves and operations by variant and instruction set",
    "pictures/union.svg": "A whole side: latency against throughput",
    "pictures/one-direction.svg": "One direction: latency against throughput",
    "pictures/slow-motion.svg": "A fill in slow motion",
    "pictures/prefix-network.svg": "The prefix network of Kogge-Stone",
    "pictures/dependencies.svg": "What waits for what: dumb7 and Kogge-Stone",
    "pictures/dependencies-push.svg": "What waits for what: push",
    "pictures/dependencies-union.svg": "What waits for what: a whole side with AVX-512",
}
MEASURED = "pictures/measured.svg", "Measured: latency against throughput"
"""Path and title of the picture that there is where there is a measurement."""

_BY_ISA = dict(zip(TARGETS, (BRICK, OCHRE, BLUE, TEAL, PLUM, INK), strict=False))
_ON = "zen4"
"""The processor whose latencies the graphs show."""


def pictures(
    figures: Figures, estimates: Estimates, processors: Titles, compilers: Compilers, measured: Measured | None
) -> dict[str, str]:
    """Every picture by its path."""
    made = (
        _bars(figures),
        _union(figures, estimates, processors, compilers),
        _one_direction(figures, estimates, processors),
        slow_motion(fill("dumb7", "sout", SLIDERS, EMPTY), fill("kogge-stone", "sout", SLIDERS, EMPTY)),
        prefix_network(),
        _graphs([("dumb7.attacks.sout", "x86-64"), ("kogge-stone.attacks.sout", "x86-64")]),
        _graphs([("push.attacks.sout", "x86-64"), ("push.attacks.sout", "bmi2")]),
        _graphs([("sliders.union", AVX512.name)]),
    )
    held = dict(zip(TITLES, made, strict=True))
    return {**held, MEASURED[0]: _measured(measured)} if measured else held


def titles(measured: Measured | None) -> Titles:
    """The pictures' titles by their paths."""
    return {**TITLES, MEASURED[0]: MEASURED[1]} if measured else TITLES


def _bars(figures: Figures) -> str:
    families = [family for family in ("dumb7", "kogge-stone", "push", "subtraction") if family in COLOURS]
    panels: list[tuple[str, Groups]] = []
    for direction in ("sout", "noEa", "east"):
        groups = []
        for isa in ISAS:
            lanes = max((kernel.lanes for kernel in figures.values() if kernel.isa == isa), default=1)
            bars = (figures.get((f"{family}.attacks.{direction}", isa, lanes)) for family in families)
            groups.append(
                (isa, [Bar(kernel.family, kernel.counts.moves, kernel.counts.operations) for kernel in bars if kernel])
            )
        title = LONG[direction] + (" (push: an addition)" if direction == "east" else "")
        panels.append((title, groups))
    titles: dict[str, str] = {family: FAMILIES[family] for family in families}
    below = "Attacks in one direction, System V; the final ret is not counted. A vector holds 2, 4 or 8 boards."
    return moves_and_operations(panels, titles, below)


def _union(figures: Figures, estimates: Estimates, processors: Titles, compilers: Compilers) -> str:
    panels = []
    for name, title in processors.items():
        points = []
        for kernel in figures.values():
            bound = estimates.get((kernel.key, name))
            if kernel.name == "sliders.union" and bound and bound.chained is not None:
                lanes = f", {kernel.lanes} lanes" if _has_choice(kernel.isa) else ""
                points.append(Point(bound.chained, bound.independent, kernel.isa + lanes, _BY_ISA[kernel.isa]))
        points += _of_compilers(compilers, name)
        panels.append((title, points))
    used = [(colour, isa) for isa, colour in _BY_ISA.items() if isa in PACKED]
    below = "sliders.union, and what compilers make of C for it: lower bounds of the code alone. Lower left is faster."
    return latency_and_throughput(panels, used, "All that one side's sliders attack: latency against throughput", below)


def _of_compilers(compilers: Compilers, processor: str) -> list[Point]:
    """The best that each compiler makes for each instruction set; one point for those that are the same."""
    places: dict[tuple[tuple[float, float], str], list[str]] = {}
    for compiler in compilers.versions:
        for isa in _BY_ISA:
            bounded = [
                (counts.bounds[processor], counts.kind)
                for counts in compilers.counts
                if (counts.routine, counts.compiler, counts.isa) == ("sliders.union", compiler, isa)
                and counts.kind != FOR_SCALE
                and processor in counts.bounds
            ]
            if bounded:
                cycles, kind = min(bounded, key=lambda pair: sum(pair[0]))
                places.setdefault((cycles, f"{compiler}, {kind}"), []).append(isa)
    return [
        Point(*cycles, words, _BY_ISA[isas[0]], ours=False)
        if len(isas) == 1
        else Point(*cycles, f"{words} ({', '.join(isas)})", MUTED, ours=False)
        for (cycles, words), isas in places.items()
    ]


def _one_direction(figures: Figures, estimates: Estimates, processors: Titles) -> str:
    families = ("dumb7", "kogge-stone", "push", "subtraction")
    panels = []
    for name, title in processors.items():
        held: dict[tuple[float, float, str], list[str]] = {}
        for kernel in figures.values():
            bound = estimates.get((kernel.key, name))
            single = kernel.direction == ("east" if kernel.family == "subtraction" else "sout")
            if (
                kernel.family in families
                and kernel.form == "attacks"
                and single
                and bound
                and bound.chained is not None
            ):
                held.setdefault((bound.chained, bound.independent, kernel.family), []).append(kernel.isa)
        points = [
            Point(chained, independent, ", ".join(isas), COLOURS[family])
            for (chained, independent, family), isas in held.items()
        ]
        panels.append((title, points))
    used = [(COLOURS[family], FAMILIES[family] + (" (east)" if family == "subtraction" else "")) for family in families]
    below = "Attacks to the south: lower bounds of the code alone. A vector's call does 2, 4 or 8 boards."
    return latency_and_throughput(panels, used, "One direction: latency against throughput", below)


def _has_choice(isa: str) -> bool:
    """Whether rays may lie in registers of several widths."""
    return len(TARGETS[isa].spread) > 1


def _measured(measured: Measured) -> str:
    """A whole side, and south, as they were measured; of each compiler the best that it makes of C for a whole side."""
    whole: list[Point] = []
    shown: set[str] = set()
    merged: dict[tuple[str, int, int], list[tuple[float, float, str]]] = {}
    for key in dict.fromkeys(one.key for one in measured.timed):
        chained, independent = (measured.timings(key, mode) for mode in ("chained", "independent"))
        both = {maker: (chained[maker], independent[maker]) for maker in chained if maker in independent}
        name, isa, lanes = key
        if OURS in both and name == "sliders.union":
            words = f"{isa}, {lanes} lanes" if _has_choice(isa) else isa
            whole.append(Point(*both[OURS], words, _BY_ISA[isa]))
            # With fewer lanes the compilers' code is the same.
            whole += [] if isa in shown else _best(both, _BY_ISA[isa])
            shown.add(isa)
        elif OURS in both and name in _SOUTH:
            # What lies within about a third of a cycle is one point.
            place = name, round(3 * both[OURS][0]), round(3 * both[OURS][1])
            merged.setdefault(place, []).append((*both[OURS], isa))
    south = [
        Point(*near[0][:2], f"{FAMILIES[find(name).family]}: {', '.join(isa for *_, isa in near)}", _SOUTH[name])
        for (name, _, _), near in merged.items()
    ]
    panels = [("A whole side: sliders.union", whole), ("South, one direction", south)]
    used = [(colour, isa) for isa, colour in _BY_ISA.items() if isa in PACKED]
    below = f"{measured.machine}, {measured.date}: whole calls. A vector's call to the south does 2, 4 or 8 boards."
    return latency_and_throughput(panels, used, "Measured: latency against throughput", below)


_SOUTH = {f"{family}.attacks.sout": COLOURS[family] for family in ("dumb7", "kogge-stone", "push")}


def _best(both: Mapping[str, tuple[float, float]], colour: str) -> list[Point]:
    """The fastest code of each compiler."""
    points = []
    makers = [maker for maker in both if maker != OURS and FOR_SCALE not in maker and EXPORTED not in maker]
    for compiler in dict.fromkeys(maker.split()[0] for maker in makers):
        best = min((maker for maker in makers if maker.split()[0] == compiler), key=lambda maker: sum(both[maker]))
        kind = best.rpartition("(")[2].rstrip(")")
        points.append(Point(*both[best], f"{compiler}, {kind}", colour, ours=False))
    return points


def _graphs(wanted: Sequence[tuple[str, str]]) -> str:
    on = processor(_ON)
    graphs = []
    for name, isa in wanted:
        kernel = lower(find(name), isa, "sysv")
        nodes, told = graph(kernel, on)
        lanes = f", {kernel.layout.lanes} lanes" if kernel.layout.lanes > 1 else ""
        graphs.append((f"{name}, {isa}{lanes}", told, nodes))
    below = f"Every instruction below those that it waits for, from the decoded bytes; latencies of {on.title}."
    return dependencies(graphs, "What waits for what", below)


def graph(kernel: Kernel, on: Processor) -> tuple[list[Node], str]:
    """A kernel's instructions as boxes, with its arguments above and its results below, and what it costs in words."""
    decoded = decode(binary_of(kernel).text)[:-1]
    made = cost(decoded, on)
    task = task_of(kernel)
    inputs = {argument.place.register: argument.name for argument in task.arguments}
    at_entry: dict[str, int] = {}
    nodes: list[Node] = []
    needed = {one.name for step in made.steps for one in step.inputs if one.producer == BEFORE}
    for register, name in inputs.items():
        if register in needed:
            at_entry[register] = len(nodes)
            nodes.append(Node(name, "input"))
    first = len(nodes)
    critical = set(made.critical)
    for at, (instruction, step) in enumerate(zip(decoded, made.steps, strict=True)):
        waits: list[int] = []
        last, latest = None, -1.0
        for one in step.inputs:
            source = at_entry.get(one.name) if one.producer == BEFORE else first + one.producer
            if source is None:
                continue
            waits.append(source)
            there = (0.0 if one.producer == BEFORE else made.steps[one.producer].ready) + one.latency
            on_path = one.producer == BEFORE or one.producer in critical
            if at in critical and on_path and there > latest:
                last, latest = source, there
        kind: Literal["move", "operation"] = "move" if classify(instruction) == "move" else "operation"
        ready = round(step.ready)
        nodes.append(Node(instruction.text(), kind, ready, at in critical, tuple(dict.fromkeys(waits)), last))
    end = first + made.critical[-1]
    nodes.append(Node(task.results[0].name, "output", None, True, (end,), end))
    told = f"{counted(len(decoded), 'instruction')}; the result after {figure(made.latency)} cycles at least"
    return nodes, told
