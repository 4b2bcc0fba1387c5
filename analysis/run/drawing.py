"""Boards in strips, a row of them at a time, as text and as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, slots=True)
class Panel:
    """A board under its title; squares that are `stopped` are drawn as 0."""

    title: str
    board: int
    stopped: int = 0


@dataclass(frozen=True, slots=True)
class Strip:
    """Boards next to each other, a heading over them and a note behind it."""

    heading: str
    panels: tuple[Panel, ...] = ()
    note: str = ""


_GAP = 4
_PER_ROW = 4
_CELL, _SPACE, _TITLE, _HEADING, _MARGIN = 16, 40, 20, 26, 16
_BOARD = 8 * _CELL


def as_text(strips: Sequence[Strip]) -> str:
    """The strips under each other, with an empty line between them; four boards at most in a row.

    >>> print(as_text([Strip("1. fill", (Panel("gen", 0x0100), Panel("a2", 0, 0x0100)))]))
    1. fill
    gen                a2
    . . . . . . . .    . . . . . . . .
    . . . . . . . .    . . . . . . . .
    . . . . . . . .    . . . . . . . .
    . . . . . . . .    . . . . . . . .
    . . . . . . . .    . . . . . . . .
    . . . . . . . .    . . . . . . . .
    1 . . . . . . .    0 . . . . . . .
    . . . . . . . .    . . . . . . . .
    """
    return "\n\n".join("\n".join(_lines(strip)) for strip in strips)


def as_svg(strips: Sequence[Strip], title: str) -> str:
    """The strips under each other as an SVG picture of its own background, so that it reads on any page."""
    rows = [(strip, at, row) for strip in strips for at, row in enumerate(_rows(strip))]
    widest = max((_width(row) for _, _, row in rows), default=0)
    characters = max((len(_headed(strip)) for strip in strips), default=0)
    width = 2 * _MARGIN + max(widest, 8 * max(characters, len(title)))
    body: list[str] = []
    y = _MARGIN + _HEADING
    for strip, at, row in rows:
        if at == 0 and _headed(strip):
            note = f' <tspan class="n">{escape(strip.note)}</tspan>' if strip.note else ""
            body.append(f'<text class="h" x="{_MARGIN}" y="{y + 14}">{escape(strip.heading)}{note}</text>')
            y += _HEADING
        x = _MARGIN
        for panel in row:
            body += _panel(panel, x, y)
            x += max(_BOARD, 7 * len(panel.title)) + _SPACE
        y += (_TITLE + _BOARD + _MARGIN) if row else 0
    size = f'width="{width}" height="{y}" viewBox="0 0 {width} {y}"'
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>',
            f"<title>{escape(title)}</title>",
            f"<style>{_STYLE}</style>",
            f'<rect class="p" x="0.5" y="0.5" width="{width - 1}" height="{y - 1}" rx="8"/>',
            f'<text class="h" x="{_MARGIN}" y="{_MARGIN + 12}">{escape(title)}</text>',
            *body,
            "</svg>\n",
        )
    )


_STYLE = (
    "text{font-family:monospace;font-size:12px;fill:#24292f}.h{font-weight:bold;font-size:13px}.n{fill:#9a3412}"
    ".p{fill:#fff;stroke:#8c959f}.l{fill:#f3f4f6}.d{fill:#d8dee4}.s{fill:#0b5cad}"
    ".z{fill:none;stroke:#9a3412;stroke-width:2}"
)


def _headed(strip: Strip) -> str:
    return f"{strip.heading}   {strip.note}".strip()


def _rows(strip: Strip) -> Iterator[tuple[Panel, ...]]:
    if not strip.panels:
        yield ()
    for start in range(0, len(strip.panels), _PER_ROW):
        yield strip.panels[start : start + _PER_ROW]


def _lines(strip: Strip) -> Iterator[str]:
    if _headed(strip):
        yield _headed(strip)
    for row in _rows(strip):
        columns = [[panel.title, *_drawn(panel)] for panel in row]
        widths = [max(map(len, column)) for column in columns]
        for cells in zip(*columns, strict=True):
            yield (" " * _GAP).join(cell.ljust(wide) for cell, wide in zip(cells, widths, strict=True)).rstrip()


def _drawn(panel: Panel) -> Iterator[str]:
    for rank in range(7, -1, -1):
        yield " ".join(_mark(panel, 8 * rank + file) for file in range(8))


def _mark(panel: Panel, square: int) -> str:
    return "1" if panel.board >> square & 1 else "0" if panel.stopped >> square & 1 else "."


def _width(row: Sequence[Panel]) -> int:
    return sum(max(_BOARD, 7 * len(panel.title)) for panel in row) + _SPACE * max(0, len(row) - 1)


def _panel(panel: Panel, x: int, y: int) -> Iterator[str]:
    yield f'<text x="{x}" y="{y + 12}">{escape(panel.title)}</text>'
    top = y + _TITLE
    yield f'<rect class="l" x="{x}" y="{top}" width="{_BOARD}" height="{_BOARD}"/>'
    dark = "".join(
        f"M{x + file * _CELL} {top + row * _CELL}h{_CELL}v{_CELL}h-{_CELL}z"
        for row in range(8)
        for file in range(8)
        if (row + file) % 2  # the last row is rank 1, whose first square is dark
    )
    yield f'<path class="d" d="{dark}"/>'
    for square in range(64):
        mark = _mark(panel, square)
        if mark != ".":
            across, down = x + square % 8 * _CELL + _CELL // 2, top + (7 - square // 8) * _CELL + _CELL // 2
            yield f'<circle class="{"s" if mark == "1" else "z"}" cx="{across}" cy="{down}" r="5"/>'
