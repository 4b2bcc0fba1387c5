"""Moves and operations as bars, a panel a direction, a group an instruction set, a bar a family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from setwise.analysis.pictures import svg
from setwise.analysis.pictures.svg import Drawing

_BAR, _BETWEEN, _APART = 13, 2, 16
_HEIGHT = 190


@dataclass(frozen=True, slots=True)
class Bar:
    """A family's counts in one group."""

    family: str
    moves: int
    operations: int

    @property
    def total(self) -> int:
        """Moves and operations together."""
        return self.moves + self.operations


Groups = Sequence[tuple[str, Sequence[Bar]]]


def moves_and_operations(panels: Sequence[tuple[str, Groups]], families: Mapping[str, str], below: str) -> str:
    """Bars for each panel, side by side; `families` gives the families' titles in the order of the legend."""
    most = max(bar.total for _, groups in panels for _, bars in groups for bar in bars)
    marks = svg.legend(
        [
            *(
                (svg.rectangle(1, -10, 12, 12, svg.FAMILIES[family], radius=2), title)
                for family, title in families.items()
            ),
            (
                svg.rectangle(1, -10, 12, 12, svg.TINTS[svg.INK], radius=2),
                "lighter top: moves from register to register",
            ),
        ]
    ).marks
    marks = (svg.moved(34, 0, marks),)
    x, top = 34.0, 44.0
    for at, (title, groups) in enumerate(panels):
        panel = _panel(groups, most, scale=at == 0)
        marks = (*marks, svg.text(x, top + 4, title, size=14, bold=True), svg.moved(x, top + 22, panel.marks))
        x += panel.width + 26
    marks = (
        *marks,
        svg.text(-2, top + 22 + _HEIGHT / 2, "instructions", colour=svg.MUTED, anchor="middle", turned=True),
    )
    return svg.picture(
        "Moves and operations of a fill in one direction",
        below,
        Drawing(x - 26, top + 22 + _HEIGHT + 26, marks),
        "Bars: moves and operations of each family for each instruction set, a panel for each of three directions.",
    )


def _panel(groups: Groups, most: int, scale: bool) -> Drawing:
    ticks = svg.steps(most)
    high = _HEIGHT / ticks[-1]
    widths = [_BAR * len(bars) + _BETWEEN * (len(bars) - 1) for _, bars in groups]
    width = sum(widths) + _APART * len(groups)
    marks = [svg.line([(0, _HEIGHT - high * tick), (width, _HEIGHT - high * tick)], svg.GRID) for tick in ticks[1:]]
    if scale:
        marks += [svg.text(-6, _HEIGHT - high * tick + 4, str(tick), 11, svg.MUTED, "end") for tick in ticks]
    x = _APART / 2
    for (title, bars), wide in zip(groups, widths, strict=True):
        marks.append(svg.text(x + wide / 2, _HEIGHT + 18, title, colour=svg.MUTED, anchor="middle"))
        for at, bar in enumerate(bars):
            marks += _bar(x + at * (_BAR + _BETWEEN), bar, high)
        x += wide + _APART
    return Drawing(width, _HEIGHT + 26, (*marks, svg.line([(0, _HEIGHT), (width, _HEIGHT)], svg.MUTED)))


def _bar(x: float, bar: Bar, high: float) -> list[str]:
    colour = svg.FAMILIES[bar.family]
    operations = high * bar.operations
    marks = [svg.rectangle(x, _HEIGHT - operations, _BAR, operations, colour)]
    if bar.moves:
        marks.append(svg.rectangle(x, _HEIGHT - high * bar.total, _BAR, high * bar.moves, svg.TINTS[colour]))
    return [*marks, svg.text(x + _BAR / 2, _HEIGHT - high * bar.total - 4, str(bar.total), 10.5, anchor="middle")]
