"""The pictures of the reports, from the data: which kernels each shows, under which title."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from setwise.analysis.code.count import classify
from setwise.analysis.code.decode import decode
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.cost.bounds import cost
from setwise.analysis.cost.dependence import BEFORE
from setwise.analysis.cost.processors import Processor, processor
from setwise.analysis.measure.compilers import FOR_SCALE
from setwise.analysis.pictures.bars import Bar, Groups, moves_and_operations
from setwise.analysis.pictures.boards import slow_motion
from setwise.analysis.pictures.graph import Node, dependencies
from setwise.analysis.pictures.network import prefix_network
from setwise.analysis.pictures.scatter import Point, latency_and_throughput
from setwise.analysis.pictures.svg import BLUE, BRICK, INK, MUTED, OCHRE, PLUM, TEAL
from setwise.analysis.pictures.svg import FAMILIES as COLOURS
from setwise.analysis.report.bounds import TITLES as PROCESSORS
from setwise.analysis.report.compilers import Compilers
from setwise.analysis.report.kernels import Figures, KernelFigures
from setwise.analysis.report.markdown import FAMILIES, ISAS, LONG, figure
from setwise.analysis.run.contracts import task_of
from setwise.analysis.run.slow_motion import EMPTY, SLIDERS, fill
from setwise.analysis.text import counted
from setwise.codegen.catalogue import find
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.targets import TARGETS
from setwise.codegen.targets.vector import AVX512

TITLES = {
    "pictures/moves-and-operations.svg": "Moves and operations by variant and instruction set",
    "pictures/union.svg": "A whole side: latency against throughput",
    "pictures/one-direction.svg": "One direction: latency against throughput",
    "pictures/slow-motion.svg": "A fill in slow motion",
    "pictures/prefix-network.svg": "The prefix network of Kogge-Stone",
    "pictures/dependencies.svg": "What waits for what: dumb7 and Kogge-Stone",
    "pictures/dependencies-push.svg": "What waits for what: push",
    "pictures/dependencies-union.svg": "What waits for what: a whole side with AVX-512",
}
_BY_ISA = dict(zip(TARGETS, (BRICK, OCHRE, BLUE, TEAL, PLUM, INK), strict=False))
_SETS = [(colour, isa) for isa, colour in _BY_ISA.items()]
_FAMILIES = ("dumb7", "kogge-stone", "push", "subtraction")
_ON = "zen4"
"""The processor whose latencies the graphs show."""


def pictures(figures: Figures, compilers: Compilers) -> dict[str, str]:
    """Every picture by its path."""
    drawn = (
        _bars(figures),
        _union(figures, compilers),
        _one_direction(figures),
        slow_motion(*(fill(find(f"{family}.occluded.sout"), (SLIDERS, EMPTY)) for family in ("dumb7", "kogge-stone"))),
        prefix_network(),
        _graphs([("dumb7.attacks.sout", "x86-64"), ("kogge-stone.attacks.sout", "x86-64")]),
        _graphs([("push.attacks.sout", "x86-64"), ("push.attacks.sout", "bmi2")]),
        _graphs([("sliders.union", AVX512.name)]),
    )
    return dict(zip(TITLES, drawn, strict=True))


def _bars(figures: Figures) -> str:
    panels: list[tuple[str, Groups]] = []
    for direction in ("sout", "noEa", "east"):
        groups = []
        for isa in ISAS:
            kernels = (figures.usual(isa, f"{family}.attacks.{direction}") for family in _FAMILIES)
            bars = [Bar(kernel.family, kernel.counts.moves, kernel.counts.operations) for kernel in kernels if kernel]
            if bars:
                groups.append((isa, bars))
        panels.append((LONG[direction] + (" (push: an addition)" if direction == "east" else ""), groups))
    below = "Attacks in one direction, System V; the final ret is not counted. A vector holds 2, 4 or 8 boards."
    return moves_and_operations(panels, {family: FAMILIES[family] for family in _FAMILIES}, below)


def _bounded(figures: Figures, processor: str) -> Iterator[tuple[KernelFigures, tuple[float, float]]]:
    """The kernels that can be chained, with their bounds on a processor, chained and independent."""
    for kernel in figures.values():
        bound = kernel.bounds.get(processor)
        if bound and bound.chained is not None:
            yield kernel, (bound.chained, bound.independent)


def _union(figures: Figures, compilers: Compilers) -> str:
    panels = []
    for name, title in PROCESSORS.items():
        whole = (pair for pair in _bounded(figures, name) if pair[0].name == "sliders.union")
        points = [_of_set(kernel.isa, kernel.lanes, cycles) for kernel, cycles in whole]
        panels.append((title, [*points, *_of_compilers(compilers, name)]))
    below = "sliders.union, and what compilers make of C for it: lower bounds of the code alone. Lower left is faster."
    title = "All that one side's sliders attack: latency against throughput"
    return latency_and_throughput(panels, _SETS, title, below)


def _of_set(isa: str, lanes: int, cycles: tuple[float, float]) -> Point:
    has_choice = len(TARGETS[isa].spread) > 1  # rays may lie in registers of several widths
    return Point(*cycles, f"{isa}, {lanes} lanes" if has_choice else isa, _BY_ISA[isa])


def _of_compilers(compilers: Compilers, processor: str) -> list[Point]:
    """The best that each compiler makes for each instruction set; one point for those that are the same."""
    places: dict[tuple[tuple[float, float], str], list[str]] = {}
    for compiler in compilers.versions:
        for isa in _BY_ISA:
            bounded = [
                (counts.bounds[processor], counts.kind)
                for counts in compilers.counts
                if (counts.routine, counts.compiler, counts.isa) == ("sliders.union", compiler, isa)
                and FOR_SCALE not in counts.kind
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


def _one_direction(figures: Figures) -> str:
    panels = []
    for name, title in PROCESSORS.items():
        isas: dict[tuple[tuple[float, float], str], list[str]] = {}
        for kernel, cycles in _bounded(figures, name):
            direction = "east" if kernel.family == "subtraction" else "sout"
            if kernel.family in _FAMILIES and (kernel.form, kernel.direction) == ("attacks", direction):
                chained, independent = cycles
                isas.setdefault(((chained, independent / kernel.lanes), kernel.family), []).append(kernel.isa)
        points = [Point(*cycles, ", ".join(names), COLOURS[family]) for (cycles, family), names in isas.items()]
        panels.append((title, points))
    used = [
        (COLOURS[family], FAMILIES[family] + (" (east)" if family == "subtraction" else "")) for family in _FAMILIES
    ]
    below = "Attacks to the south: lower bounds of the code alone. A call with vectors does 2, 4 or 8 boards."
    upwards = "cycles a board, independent"
    return latency_and_throughput(panels, used, "One direction: latency against throughput", below, upwards=upwards)


def _graphs(wanted: Sequence[tuple[str, str]]) -> str:
    on = processor(_ON)
    graphs = []
    for name, isa in wanted:
        kernel = lower(find(name), isa, "sysv")
        nodes, words = graph(kernel, on)
        lanes = f", {kernel.layout.lanes} lanes" if kernel.layout.lanes > 1 else ""
        graphs.append((f"{name}, {isa}{lanes}", words, nodes))
    below = f"Every instruction below those that it waits for, from the decoded bytes; latencies of {on.title}."
    return dependencies(graphs, "What waits for what", below)


def graph(kernel: Kernel, on: Processor) -> tuple[list[Node], str]:
    """A kernel's instructions as boxes, with its arguments above and its results below, and what it costs in words."""
    decoded = decode(binary_of(kernel).text)[:-1]
    bounds = cost(decoded, on)
    task = task_of(kernel)
    read = {arrival.name for step in bounds.steps for arrival in step.inputs if arrival.producer == BEFORE}
    arguments = [argument for argument in task.arguments if argument.place.register in read]
    nodes = [Node(argument.name, "input") for argument in arguments]
    at_entry = {argument.place.register: at for at, argument in enumerate(arguments)}
    first = len(nodes)
    critical = set(bounds.critical)
    for at, (instruction, step) in enumerate(zip(decoded, bounds.steps, strict=True)):
        waits: list[int] = []
        last, latest = None, -1.0
        for arrival in step.inputs:
            before = arrival.producer == BEFORE
            source = at_entry.get(arrival.name) if before else first + arrival.producer
            if source is None:
                continue
            waits.append(source)
            there = (0.0 if before else bounds.steps[arrival.producer].ready) + arrival.latency
            if at in critical and (before or arrival.producer in critical) and there > latest:
                last, latest = source, there
        kind: Literal["move", "operation"] = "move" if classify(instruction) == "move" else "operation"
        ready = round(step.ready)
        nodes.append(Node(instruction.text(), kind, ready, at in critical, tuple(dict.fromkeys(waits)), last))
    end = first + bounds.critical[-1]
    nodes.append(Node(task.results[0].name, "output", None, True, (end,), end))
    words = f"{counted(len(decoded), 'instruction')}; the result after {figure(bounds.latency)} cycles at least"
    return nodes, words
