"""Latency against throughput: a point a kernel, cycles between chained calls across, independent ones upwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from setwise.analysis.pictures import svg
from setwise.analysis.pictures.svg import Anchor, Drawing

_WIDTH, _HEIGHT, _SIZE, _RADIUS = 430, 300, 11, 4.5
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Point:
    """A kernel: its cycles, what stands beside it, its colour, whether it is ours (filled) or another's (hollow)."""

    chained: float
    independent: float
    words: str
    colour: str
    ours: bool = True


def latency_and_throughput(
    panels: Sequence[tuple[str, Sequence[Point]]],
    colours: Sequence[tuple[str, str]],
    title: str,
    below: str,
    across: str = "cycles a call, chained: each waits for the one before",
    upwards: str = "cycles a call, independent",
) -> str:
    """A panel with axes of its own for each title and its points; two panels stand in a row.

    `colours` are the colours and their titles for the legend, which shows those of some point.
    """
    shown = {point.colour for _, points in panels for point in points}
    others = any(not point.ours for _, points in panels for point in points)
    entries = [(svg.circle(7, -4, _RADIUS, colour), name) for colour, name in colours if colour in shown]
    if others:
        entries.append((svg.circle(7, -4, _RADIUS, svg.PAPER, svg.MUTED, 2), "hollow: made by a compiler"))
    explained = svg.legend(entries)
    marks = [svg.moved(46, 0, explained.marks)]
    for at, (heading, points) in enumerate(panels):
        x, y = 46 + at % 2 * (_WIDTH + 84), 46 + at // 2 * (_HEIGHT + 100)
        marks.append(svg.text(x, y, heading, size=14, bold=True))
        marks.append(svg.moved(x, y + 18, _panel(points)))
        marks.append(svg.text(x + _WIDTH / 2, y + 18 + _HEIGHT + 38, across, colour=svg.MUTED, anchor="middle"))
        marks.append(svg.text(x - 36, y + 18 + _HEIGHT / 2, upwards, colour=svg.MUTED, anchor="middle", turned=True))
    rows = -(-len(panels) // 2)
    width = 46 + min(len(panels), 2) * (_WIDTH + 84) - 84
    height = 46 + rows * (_HEIGHT + 100) - 44
    number = sum(len(points) for _, points in panels)
    drawing = Drawing(max(width, 46 + explained.width), height, tuple(marks))
    return svg.picture(
        title, below, drawing, f"{number} points in {len(panels)} panels; nearer to the lower left is faster."
    )


def _panel(points: Sequence[Point]) -> list[str]:
    across = svg.steps(max((point.chained for point in points), default=1) * 1.08, 6)
    upwards = svg.steps(max((point.independent for point in points), default=1) * 1.08)
    wide, high = _WIDTH / across[-1], _HEIGHT / upwards[-1]
    marks = [svg.line([(0, _HEIGHT - high * tick), (_WIDTH, _HEIGHT - high * tick)], svg.GRID) for tick in upwards[1:]]
    marks += [svg.line([(wide * tick, 0), (wide * tick, _HEIGHT)], svg.GRID) for tick in across[1:]]
    marks += [svg.text(-7, _HEIGHT - high * tick + 4, str(tick), 11, svg.MUTED, "end") for tick in upwards]
    marks += [svg.text(wide * tick, _HEIGHT + 17, str(tick), 11, svg.MUTED, "middle") for tick in across]
    marks.append(svg.line([(0, 0), (0, _HEIGHT), (_WIDTH, _HEIGHT)], svg.MUTED))
    places = [(wide * point.chained, _HEIGHT - high * point.independent) for point in points]
    marks += _labels(points, places)
    for at, (point, (x, y)) in enumerate(zip(points, places, strict=True)):
        # What later points would hide shows around them.
        radius = _RADIUS + 3 * sum(abs(x - other) + abs(y - under) < 1.5 for other, under in places[at + 1 :])
        fill, edge = (point.colour, svg.PAPER) if point.ours else (svg.PAPER, point.colour)
        marks.append(svg.circle(x, y, radius, fill, edge, 1 if point.ours else 2))
    return marks


def _labels(points: Sequence[Point], places: Sequence[tuple[float, float]]) -> Iterator[str]:
    """The words beside the points, each where it covers neither another point nor other words."""
    taken: list[Box] = [(x - _RADIUS, y - _RADIUS, x + _RADIUS, y + _RADIUS) for x, y in places]
    for point, (x, y) in zip(points, places, strict=True):
        wide = svg.width_of(point.words, _SIZE)
        at, anchor = min(_choices(x, y), key=lambda choice: _covered(_box(wide, *choice), taken))
        taken.append(_box(wide, at, anchor))
        dx, dy = at[0] - x, at[1] - 4 - y
        if dx * dx + dy * dy > 24**2:
            yield svg.line([(x, y), (at[0], at[1] - 4)], svg.FAINT, 0.8)
        yield svg.text(*at, point.words, _SIZE, point.colour, anchor)


def _choices(x: float, y: float) -> Iterator[tuple[tuple[float, float], Anchor]]:
    """Places for words near (x, y), the best first: where they begin, end or have their middle."""
    for far in (9, 16, 26, 38, 52):
        for dy in (-far, far) if far > 9 else (0, -far, far):
            dx = 9 if abs(dy) < 12 else 6
            yield (x + dx, y + dy + 4), "start"
            yield (x - dx, y + dy + 4), "end"
        yield (x, y - far - 2), "middle"
        yield (x, y + far + 9), "middle"


def _box(wide: float, at: tuple[float, float], anchor: Anchor) -> Box:
    """The space that words take."""
    left = at[0] - {"start": 0, "middle": wide / 2, "end": wide}[anchor]
    return left, at[1] - 10, left + wide, at[1] + 3


def _covered(box: Box, taken: Sequence[Box]) -> float:
    """How much of the space is taken by others or lies outside the panel, in square pixels."""
    left, top, right, bottom = box
    outside = max(0.0, -left + 3) + max(0.0, right - _WIDTH) + max(0.0, -top) + max(0.0, bottom - _HEIGHT + 2)
    overlaps = (
        max(0.0, min(right, other[2]) - max(left, other[0])) * max(0.0, min(bottom, other[3]) - max(top, other[1]))
        for other in taken
    )
    return 50 * outside + sum(overlaps)
