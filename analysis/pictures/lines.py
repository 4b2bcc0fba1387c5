"""Cost by length as lines: lengths across, nanoseconds a board upwards, both by powers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from setwise.analysis.pictures import svg
from setwise.analysis.pictures.svg import Drawing

_WIDTH, _HEIGHT, _SIZE = 560, 300, 11


@dataclass(frozen=True, slots=True)
class Line:
    """Figures by length, what stands at their end, and their colour."""

    words: str
    colour: str
    figures: Sequence[tuple[int, float]]


def by_length(lines: Sequence[Line], title: str, below: str, across: str, upwards: str) -> str:
    """A line each; lengths and figures are above 0."""
    lengths = sorted({length for line in lines for length, _ in line.figures})
    figures = [figure for line in lines for _, figure in line.figures]
    least, most = floor(log10(min(figures))), max(ceil(log10(max(figures))), floor(log10(min(figures))) + 1)
    wide, high = _WIDTH / max(log10(lengths[-1] / lengths[0]), 1), _HEIGHT / (most - least)

    def place(length: int, figure: float) -> tuple[float, float]:
        return wide * log10(length / lengths[0]), _HEIGHT - high * (log10(figure) - least)

    marks = []
    for power in range(least, most + 1):
        y = place(lengths[0], 10.0**power)[1]
        marks.append(svg.line([(0, y), (_WIDTH, y)], svg.GRID))
        marks.append(svg.text(-7, y + 4, f"{10.0**power:,g}", _SIZE, svg.MUTED, "end"))
    free = -1.0
    for length in lengths:
        x = place(length, 1)[0]
        marks.append(svg.line([(x, _HEIGHT), (x, _HEIGHT + 4)], svg.MUTED))
        half = svg.width_of(f"{length:,}", _SIZE) / 2
        if x - half > free:  # where two would touch, the first one stands
            marks.append(svg.text(x, _HEIGHT + 17, f"{length:,}", _SIZE, svg.MUTED, "middle"))
            free = x + half + 6
    marks.append(svg.line([(0, 0), (0, _HEIGHT), (_WIDTH, _HEIGHT)], svg.MUTED))
    for line in lines:
        places = [place(*figure) for figure in line.figures]
        marks.append(svg.line(places, line.colour, 2))
        marks += [svg.circle(x, y, 3, line.colour) for x, y in places]
        marks.append(svg.text(places[-1][0] + 9, places[-1][1] + 4, line.words, _SIZE, line.colour))
    marks.append(svg.text(_WIDTH / 2, _HEIGHT + 38, across, colour=svg.MUTED, anchor="middle"))
    marks.append(svg.text(-52, _HEIGHT / 2, upwards, colour=svg.MUTED, anchor="middle", turned=True))
    right = max(svg.width_of(line.words, _SIZE) + place(*line.figures[-1])[0] + 9 for line in lines)
    drawing = Drawing(62 + max(_WIDTH, right), _HEIGHT + 54, (svg.moved(62, 10, marks),))
    return svg.picture(title, below, drawing, f"{len(lines)} lines: {', '.join(line.words for line in lines)}.")
