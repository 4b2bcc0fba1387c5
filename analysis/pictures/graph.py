"""The dependency graph of a kernel: an instruction below all that it waits for, the critical path set off.

Layers from above to below, in each layer an order that lets few edges cross (sweeps by the neighbours' mean, after
Sugiyama, Tagawa and Toda 1981), then places as straight above each other as the order allows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Literal

from setwise.analysis.code.count import classify
from setwise.analysis.code.decode import Binary, decode
from setwise.analysis.cost.bounds import cost
from setwise.analysis.cost.dependence import BEFORE
from setwise.analysis.cost.processors import Processor
from setwise.analysis.pictures import svg
from setwise.analysis.pictures.svg import Drawing
from setwise.analysis.run.task import Task
from setwise.analysis.text import counted

BoxKind = Literal["input", "operation", "move", "load", "output"]

_HIGH, _LAYER, _APART, _SIZE = 22, 44, 16, 11.5
_SWEEPS, _PLACINGS = 12, 200
_BETWEEN = 56  # graphs


@dataclass(frozen=True, slots=True)
class Node:
    """A box: what stands in it, the cycle in which its value is there (None: not told), the nodes that it waits for.

    `last` is the one of these on the critical path, where the node itself lies on that.
    """

    words: str
    kind: BoxKind
    ready: int | None = None
    critical: bool = False
    waits_for: tuple[int, ...] = ()
    last: int | None = None


Diagram = tuple[str, str, Sequence[Node]]


def diagram(binary: Binary, task: Task, on: Processor, heading: str) -> Diagram:
    """Return a kernel's instructions as boxes, its arguments above and its first result below, with what it costs."""
    decoded = decode(binary.text)[:-1]
    bounds = cost(decoded, on)
    read = {arrival.name for step in bounds.steps for arrival in step.inputs if arrival.producer == BEFORE}
    arguments = [argument for argument in task.arguments if argument.place.register in read]
    nodes = [Node(argument.name, "input") for argument in arguments]
    at_entry = {argument.place.register: at for at, argument in enumerate(arguments)}
    first, critical = len(nodes), set(bounds.critical)
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
        kind: BoxKind = "move" if classify(instruction) == "move" else "operation"
        ready = round(step.ready)
        nodes.append(Node(instruction.text(), kind, ready, at in critical, tuple(dict.fromkeys(waits)), last))
    end = first + bounds.critical[-1]
    nodes.append(Node(task.results[0].name, "output", None, True, (end,), end))
    return (
        heading,
        f"{counted(len(decoded), 'instruction')}; the result after {bounds.latency:g} cycles at least",
        nodes,
    )


def dependencies(graphs: Sequence[Diagram], title: str, below: str) -> str:
    """Graphs next to each other, each with a heading and a line below that."""
    x, height = 0.0, 0.0
    marks: list[str] = []
    for heading, words, nodes in graphs:
        drawn = _graph(nodes)
        wide = max(drawn.width, svg.width_of(heading, 14), svg.width_of(words, 12))
        marks += [svg.text(x, 16, heading, size=14, bold=True), svg.text(x, 34, words, colour=svg.MUTED)]
        marks.append(svg.moved(x + (wide - drawn.width) / 2, 52, drawn.marks))
        x += wide + _BETWEEN
        height = max(height, 52 + drawn.height)
    explained = svg.legend(
        (
            (svg.rectangle(0, -10, 14, 12, svg.TINT, radius=3, edge=svg.BRICK), "on the critical path"),
            (svg.rectangle(0, -10, 14, 12, svg.PAPER, radius=3, edge=svg.FAINT), "not on it"),
            (svg.rectangle(0, -10, 14, 12, svg.PAPER, radius=3, edge=svg.FAINT, dashed=True), "a move"),
            (svg.text(7, 0, "7", 11, svg.MUTED, "middle"), "the cycle in which the value is there"),
        )
    )
    marks.append(svg.moved(0, height + 16, explained.marks))
    drawing = Drawing(max(x - _BETWEEN, explained.width), height + 16 + explained.height, tuple(marks))
    count = sum(len(nodes) for _, _, nodes in graphs)
    return svg.picture(title, below, drawing, f"{len(graphs)} graphs with {count} boxes, joined by arrows.")


def _graph(nodes: Sequence[Node]) -> Drawing:
    layers, chains = _layered(nodes)
    above, below = _neighbours(nodes, chains)
    ordered = _ordered(layers, above, below)
    widths = {at: _width(nodes[at]) if at < len(nodes) else 8.0 for layer in layers for at in layer}
    places = _placed(ordered, above, below, widths)
    left = min(places[at] - widths[at] / 2 for at in places)
    right = max(places[at] + widths[at] / 2 for at in places)
    level = {at: depth for depth, layer in enumerate(ordered) for at in layer}
    # Those of the critical path last, and so on top.
    drawn = sorted(chains.values(), key=lambda chain: _is_critical(nodes, chain))
    edges = [_edge(nodes, chain, places, level, left) for chain in drawn]
    boxes = [_box(node, places[at] - left, level[at] * _LAYER, widths[at]) for at, node in enumerate(nodes)]
    return Drawing(right - left, (len(ordered) - 1) * _LAYER + _HIGH, (*edges, *boxes))


Chains = Mapping[tuple[int, int], tuple[int, ...]]
"""For each edge its ends and the places between them, one a layer that it passes."""
Neighbours = Mapping[int, Sequence[tuple[int, float]]]
"""The places that each place is joined with, and how straight each of these joints wants to be."""


def _layered(nodes: Sequence[Node]) -> tuple[list[list[int]], dict[tuple[int, int], tuple[int, ...]]]:
    """Each node as far up as what it waits for allows, and then inputs down to their first reader."""
    depth: list[int] = []
    for node in nodes:
        depth.append(max((depth[earlier] + 1 for earlier in node.waits_for), default=0))
    deepest = max(depth)
    for at in reversed(range(len(nodes))):
        readers = [depth[other] for other, node in enumerate(nodes) if at in node.waits_for]
        if nodes[at].kind == "output":
            depth[at] = deepest
        elif readers and (not nodes[at].waits_for or nodes[at].kind == "move"):
            # A copy stands where it is needed, not where it could be made.
            depth[at] = min(readers) - 1
    layers: list[list[int]] = [[] for _ in range(deepest + 1)]
    for at, level in enumerate(depth):
        layers[level].append(at)
    chains = {}
    free = len(nodes)
    for at, node in enumerate(nodes):
        for source in dict.fromkeys(node.waits_for):
            between = tuple(range(free, free + depth[at] - depth[source] - 1))
            free += len(between)
            for level, dummy in enumerate(between, depth[source] + 1):
                layers[level].append(dummy)
            chains[source, at] = (source, *between, at)
    return layers, chains


def _is_critical(nodes: Sequence[Node], chain: Sequence[int]) -> bool:
    """Whether an edge lies on the critical path."""
    return nodes[chain[-1]].last == chain[0]


def _neighbours(nodes: Sequence[Node], chains: Chains) -> tuple[Neighbours, Neighbours]:
    """Those above and those below."""
    above, below = defaultdict(list), defaultdict(list)
    for chain in chains.values():
        for upper, lower in pairwise(chain):
            pull = _pull(nodes, chain, upper, lower)
            above[lower].append((upper, pull))
            below[upper].append((lower, pull))
    return above, below


def _ordered(layers: Sequence[Sequence[int]], above: Neighbours, below: Neighbours) -> list[list[int]]:
    """The layers in the order with the fewest crossings that the sweeps come by."""
    now = [list(layer) for layer in layers]
    best, least = now, _crossings(now, below)
    for sweep in range(_SWEEPS):
        downwards = sweep % 2 == 0
        turn = range(1, len(now)) if downwards else range(len(now) - 2, -1, -1)
        now = [list(layer) for layer in now]
        for depth in turn:
            fixed = {at: place for place, at in enumerate(now[depth - 1 if downwards else depth + 1])}
            seen = above if downwards else below
            means = {}
            for place, at in enumerate(now[depth]):
                places = [fixed[neighbour] for neighbour, _ in seen[at]]
                means[at] = sum(places) / len(places) if places else float(place)
            now[depth].sort(key=means.__getitem__)
        crossings = _crossings(now, below)
        if crossings < least:
            best, least = now, crossings
    return best


def _crossings(layers: Sequence[Sequence[int]], below: Neighbours) -> int:
    crossings = 0
    for layer, following in pairwise(layers):
        edges = [(place, following.index(lower)) for place, upper in enumerate(layer) for lower, _ in below[upper]]
        crossings += sum((first - x) * (second - y) < 0 for (first, second), (x, y) in combinations(edges, 2))
    return crossings


def _placed(
    layers: Sequence[Sequence[int]], above: Neighbours, below: Neighbours, widths: Mapping[int, float]
) -> dict[int, float]:
    """The middle of each box: in its layer's order, apart from its neighbours, near those that it is joined with."""
    joined = {at: [*above[at], *below[at]] for layer in layers for at in layer}
    places: dict[int, float] = {}
    for layer in layers:
        x = 0.0
        for at in layer:
            places[at] = x + widths[at] / 2
            x += widths[at] + _APART
    for sweep in range(_PLACINGS):
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            weights = [sum(weight for _, weight in joined[at]) for at in layer]
            wanted = [
                sum(weight * places[neighbour] for neighbour, weight in joined[at]) / all_of_it
                for at, all_of_it in zip(layer, weights, strict=True)
            ]
            places |= zip(layer, _spread(wanted, weights, [widths[at] for at in layer]), strict=True)
    return places


def _pull(nodes: Sequence[Node], chain: Sequence[int], upper: int, lower: int) -> float:
    """How straight a piece of an edge wants to be: the critical path above all, then the middle of long edges."""
    if _is_critical(nodes, chain):
        return 60
    return {0: 1, 1: 2, 2: 10}[(upper >= len(nodes)) + (lower >= len(nodes))]


def _spread(wanted: Sequence[float], weights: Sequence[float], widths: Sequence[float]) -> list[float]:
    """Places in this order, as near to those wanted as their widths allow (least squares, by pooling neighbours)."""
    # With the room to the left of each taken away, only the order is left to keep.
    shifts = [0.0]
    for one, other in pairwise(widths):
        shifts.append(shifts[-1] + (one + other) / 2 + _APART)
    pools: list[tuple[float, float, int]] = []
    for want, weight, shift in zip(wanted, weights, shifts, strict=True):
        pool: tuple[float, float, int] = weight * (want - shift), weight, 1
        while pools and pools[-1][0] / pools[-1][1] >= pool[0] / pool[1]:
            before = pools.pop()
            pool = pool[0] + before[0], pool[1] + before[1], pool[2] + before[2]
        pools.append(pool)
    free = [total / weight for total, weight, number in pools for _ in range(number)]
    return [place + shift for place, shift in zip(free, shifts, strict=True)]


def _edge(
    nodes: Sequence[Node], chain: Sequence[int], places: Mapping[int, float], level: Mapping[int, int], left: float
) -> str:
    critical = _is_critical(nodes, chain)
    colour = svg.BRICK if critical else svg.FAINT
    x, y = places[chain[0]] - left, float(level[chain[0]] * _LAYER + _HIGH)
    commands = [f"M{x:.1f} {y:.1f}"]
    for at in chain[1:]:
        to_x, to_y = places[at] - left, float(level[at] * _LAYER)
        last = at == chain[-1]
        end = to_y - 5 if last else to_y
        middle = (y + end) / 2
        commands.append(f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {end:.1f}")
        if not last:
            commands.append(f"V{to_y + _HIGH:.1f}")
        x, y = to_x, to_y + _HIGH
    tip = svg.arrow_head(places[chain[-1]] - left, level[chain[-1]] * _LAYER, colour, 3.5)
    return svg.path("".join(commands), colour, 2 if critical else 1.2) + tip


def _width(node: Node) -> float:
    number = 14 if node.ready is not None else 0
    return svg.width_of(node.words, _SIZE, mono=node.kind not in ("input", "output")) + 14 + number


def _box(node: Node, x: float, y: float, width: float) -> str:
    edge = svg.BRICK if node.critical else svg.FAINT
    left = x - width / 2
    if node.kind in ("input", "output"):
        words = svg.text(x, y + 15, node.words, _SIZE, svg.INK, "middle", bold=True)
        return svg.rectangle(left, y, width, _HIGH, svg.BOX, radius=_HIGH / 2) + words
    fill = svg.TINT if node.critical and node.kind != "move" else svg.PAPER
    marks = [
        svg.rectangle(left, y, width, _HIGH, fill, radius=4, edge=edge, dashed=node.kind == "move"),
        svg.text(left + 7, y + 15, node.words, _SIZE, mono=True),
    ]
    if node.ready is not None:
        marks.append(svg.text(left + width - 5, y + 15, str(node.ready), 10.5, svg.MUTED, "end"))
    return "".join(marks)
