"""SVG pictures of dependence graphs: each instruction below all its operands, with the critical path highlighted.

Layers follow the longest path from the inputs, but inputs and moves are just above their first reader. Sweeps order
each layer by the mean of its neighbours (barycentres, Sugiyama, Tagawa and Toda 1981), the critical path in a column.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from setwise.analysis.code.count import classify
from setwise.analysis.code.decode import Binary, decode
from setwise.analysis.cost.bounds import cost
from setwise.analysis.cost.dependence import BEFORE
from setwise.analysis.cost.processors import Processor
from setwise.analysis.pictures import svg
from setwise.analysis.pictures.svg import Drawing
from setwise.analysis.spec.task import Task
from setwise.analysis.text import counted

_HIGH, _LAYER, _APART, _BETWEEN, _SIZE = 22, 44, 16, 56, 11.5
_SWEEPS = 60
_ORDERED = 12  # only this many first sweeps may change the order of a layer


@dataclass(frozen=True, slots=True)
class Node:
    """A box: its text, the numbers of its operands' nodes, and the cycle in which an instruction's value is ready."""

    text: str
    kind: Literal["value", "operation", "move"]
    waits_for: tuple[int, ...] = ()
    ready: int | None = None


@dataclass(frozen=True, slots=True)
class DependencePicture:
    """Nodes in topological order, below two lines of text. `path` is the critical path, by the numbers of nodes."""

    heading: str
    below: str
    nodes: Sequence[Node]
    path: Sequence[int]


def graph(heading: str, binary: Binary, task: Task, on: Processor) -> DependencePicture:
    """Return the dependence graph of a kernel with one result and no branches: used arguments, instructions, result."""
    decoded = decode(binary.text)[:-1]
    bounds = cost(decoded, on)
    read = {arrival.name for step in bounds.steps for arrival in step.inputs if arrival.producer == BEFORE}
    arguments = [argument for argument in task.arguments if argument.place.register in read]
    at_entry = {argument.place.register: at for at, argument in enumerate(arguments)}
    nodes = [Node(argument.name, "value") for argument in arguments]
    first = len(nodes)
    for instruction, step in zip(decoded, bounds.steps, strict=True):
        waits = [at_entry.get(each.name) if each.producer == BEFORE else first + each.producer for each in step.inputs]
        kind: Literal["move", "operation"] = "move" if classify(instruction) == "move" else "operation"
        known = dict.fromkeys(each for each in waits if each is not None)
        nodes.append(Node(instruction.text(), kind, (*known,), round(step.ready)))
    path, start = [first + at for at in bounds.critical], bounds.steps[bounds.critical[0]]
    latest = [each.name for each in start.inputs if each.producer == BEFORE and each.latency == start.ready]
    entry = [at_entry[name] for name in latest if name in at_entry][:1]
    nodes.append(Node(task.results[0].name, "value", (path[-1],)))
    below = f"{counted(len(decoded), 'instruction')}; the result after {bounds.latency:g} cycles at least"
    return DependencePicture(heading, below, nodes, (*entry, *path, len(nodes) - 1))


def dependences(graphs: Sequence[DependencePicture], on: Processor) -> str:
    """Return a picture (SVG) of graphs for one processor, side by side, each below its two lines of text."""
    x, height = 0.0, 0.0
    marks: list[str] = []
    for shown in graphs:
        drawn = _drawn(shown)
        wide = max(drawn.width, svg.width_of(shown.heading, 14), svg.width_of(shown.below, 12))
        marks += [svg.text(x, 16, shown.heading, size=14, bold=True), svg.text(x, 34, shown.below, colour=svg.MUTED)]
        marks.append(svg.moved(x + (wide - drawn.width) / 2, 52, drawn.marks))
        x += wide + _BETWEEN
        height = max(height, 68 + drawn.height)
    drawing = svg.explained(
        Drawing(x - _BETWEEN, height, tuple(marks)),
        (svg.rectangle(0, -10, 14, 12, svg.RUN, radius=3, edge=svg.OCHRE), "on the critical path"),
        (svg.rectangle(0, -10, 14, 12, svg.PAPER, radius=3, edge=svg.FAINT), "not on it"),
        (svg.rectangle(0, -10, 14, 12, svg.PAPER, radius=3, edge=svg.FAINT, dashed=True), "a move"),
        (svg.text(7, 0, "7", 11, svg.MUTED, "middle"), "the cycle in which the value is ready"),
    )
    boxes = sum(len(shown.nodes) for shown in graphs)
    below = f"Each instruction lies below those that it waits for, read off the bytes; latencies of {on.title}."
    described = f"{counted(len(graphs), 'graph')} of {boxes} boxes, joined by arrows."
    return svg.picture("Dependence graphs", below, drawing, described)


def _drawn(shown: DependencePicture) -> Drawing:
    layers, chains = _layered(shown.nodes)
    widths = {at: _width(shown.nodes[at]) if at < len(shown.nodes) else 8.0 for layer in layers for at in layer}
    level = {at: depth for depth, layer in enumerate(layers) for at in layer}
    places = _placed(layers, chains, widths, set(shown.path))
    left = min(places[at] - widths[at] / 2 for at in places)
    right = max(places[at] + widths[at] / 2 for at in places)
    corners = {at: (places[at] - left, level[at] * _LAYER) for at in places}
    critical = {*pairwise(shown.path)}
    edges = [_edge([corners[at] for at in chain], (chain[0], chain[-1]) in critical) for chain in chains]
    edges.sort(key=lambda edge: svg.OCHRE in edge)  # the critical path on top
    boxes = [_box(node, *corners[at], widths[at], at in shown.path) for at, node in enumerate(shown.nodes)]
    return Drawing(right - left, (len(layers) - 1) * _LAYER + _HIGH, (*edges, *boxes))


def _layered(nodes: Sequence[Node]) -> tuple[list[list[int]], list[tuple[int, ...]]]:
    """Return the nodes and bends of each layer, and edges as chains: their ends, and bends in all layers between."""
    depth: list[int] = []
    for node in nodes:
        depth.append(max((depth[source] + 1 for source in node.waits_for), default=0))
    for at, node in reversed([*enumerate(nodes)]):
        readers = [depth[other] for other, each in enumerate(nodes) if at in each.waits_for]
        if readers and (not node.waits_for or node.kind == "move"):
            depth[at] = min(readers) - 1  # inputs and moves go just above their first reader
    layers = [[at for at in range(len(nodes)) if depth[at] == level] for level in range(max(depth) + 1)]
    chains: list[tuple[int, ...]] = []
    bends = len(nodes)
    for at, node in enumerate(nodes):
        for source in node.waits_for:
            between = range(bends, bends + depth[at] - depth[source] - 1)
            for level, bend in enumerate(between, depth[source] + 1):
                layers[level].append(bend)
            chains.append((source, *between, at))
            bends += len(between)
    return layers, chains


def _placed(
    layers: Sequence[list[int]], chains: Sequence[Sequence[int]], widths: Mapping[int, float], path: set[int]
) -> dict[int, float]:
    """Return the x coordinate of the middle of each node or bend, and sort each layer from left to right in place."""
    joined = defaultdict(list)
    for chain in chains:
        for upper, lower in pairwise(chain):
            pull = 8 if upper != chain[0] and lower != chain[-1] else 1  # bends attract: long edges are straight
            joined[upper].append((lower, pull))
            joined[lower].append((upper, pull))
    places = {at: float(60 * (place - len(layer) // 2)) for layer in layers for place, at in enumerate(layer)}
    for sweep in range(_SWEEPS):
        for layer in layers[:: 1 if sweep % 2 == 0 else -1]:
            # The critical path is pulled to the middle, 0, much more strongly than other nodes to their neighbours.
            weight = {at: sum(pull for _, pull in joined[at]) + 1e5 * (at in path) for at in layer}
            wanted = {at: sum(places[other] * pull for other, pull in joined[at]) / weight[at] for at in layer}
            if sweep < _ORDERED:
                layer.sort(key=wanted.__getitem__)
            places |= _spread([(at, widths[at], weight[at], wanted[at]) for at in layer])
    return places


def _spread(layer: Sequence[tuple[int, float, float, float]]) -> dict[int, float]:
    """Return the places of nodes' middles, by number: in this order, without overlap, near the preferred places.

    The weighted sum of squared distances is minimized by pooling adjacent nodes. A node is given by its number, width,
    weight, and the preferred place of its middle.
    """
    pools: list[tuple[float, float, list[tuple[int, float]]]] = []
    shift = 0.0  # of a node's middle from the left edge of the first node, if all are packed
    for at, width, weight, wanted in layer:
        shift += width / 2
        pool = weight * (wanted - shift), weight, [(at, shift)]
        while pools and pools[-1][0] / pools[-1][1] >= pool[0] / pool[1]:
            before = pools.pop()
            pool = before[0] + pool[0], before[1] + pool[1], before[2] + pool[2]
        pools.append(pool)
        shift += width / 2 + _APART
    return {at: total / weight + shift for total, weight, members in pools for at, shift in members}


def _edge(points: Sequence[tuple[float, float]], critical: bool) -> str:
    """Return an arrow (SVG) from the first box's bottom through the bends to the last box's top; points are tops."""
    (x, y), *bends, (to_x, to_y) = points
    through = [end for bend_x, bend_y in bends for end in ((bend_x, bend_y), (bend_x, bend_y + _HIGH))]
    tip = [(to_x, to_y), (to_x - 3, to_y - 6), (to_x, to_y), (to_x + 3, to_y - 6)]
    thick = 2 if critical else 1.2
    return svg.line([(x, y + _HIGH), *through, *tip], svg.OCHRE if critical else svg.FAINT, thick)


def _width(node: Node) -> float:
    return svg.width_of(node.text, _SIZE, mono=node.kind != "value") + 14 + (14 if node.ready is not None else 0)


def _box(node: Node, x: float, y: float, width: float, critical: bool) -> str:
    left = x - width / 2
    if node.kind == "value":
        words = svg.text(x, y + 15, node.text, _SIZE, svg.INK, "middle", bold=True)
        return svg.rectangle(left, y, width, _HIGH, svg.SQUARES[1], radius=_HIGH / 2) + words
    edge, fill = (svg.OCHRE, svg.RUN) if critical else (svg.FAINT, svg.PAPER)
    marks = [
        svg.rectangle(left, y, width, _HIGH, fill, radius=4, edge=edge, dashed=node.kind == "move"),
        svg.text(left + 7, y + 15, node.text, _SIZE, mono=True),
        svg.text(left + width - 5, y + 15, "" if node.ready is None else str(node.ready), 10.5, svg.MUTED, "end"),
    ]
    return "".join(marks)
