"""SVG output: marks as strings, on a card that follows the reader's light or dark colour scheme.

Pictures are committed and compared, so the same data must give the same bytes everywhere. No plotting library promises
that across versions. Lengths are in pixels, and y grows downwards. Modules beside this one draw specific pictures.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

INK, MUTED, FAINT, PAPER = "#1f2328", "#59636e", "#8c959f", "#ffffff"
# Distinguishable with any colour vision, with a contrast of at least 3 to 1 to paper.
BLUE, OCHRE = "#2b6ca8", "#a86f00"
EDGE, RUN, OTHERS, FLOODED = "#d0d7de", "#f2d9a0", "#b9c0c8", "#9dc3e6"
"""The colours of edges of cards and boards, runs of empty squares, pieces in the way, squares that are flooded."""
SQUARES = "#f6f7f9", "#e9ecf0"
"""The colours of light and dark squares."""
DARK = {
    INK: "#e6edf3",
    MUTED: "#a3adb8",
    FAINT: "#7d8792",
    PAPER: "#0d1117",
    BLUE: "#6fb1f0",
    OCHRE: "#dba63f",
    EDGE: "#3d444d",
    RUN: "#6b5420",
    OTHERS: "#59636e",
    FLOODED: "#30597e",
    SQUARES[0]: "#1c222a",
    SQUARES[1]: "#161b22",
}
"""The colour on a dark page, by the colour on a light one."""

SANS = "-apple-system,'Segoe UI','Liberation Sans',Arial,Helvetica,sans-serif"
MONO = "ui-monospace,'SF Mono','DejaVu Sans Mono','Liberation Mono',Menlo,Consolas,monospace"

MARGIN = 28
HEAD = 74
"""The height of the title and the line below it, in pixels."""

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True)
class Drawing:
    """Marks as SVG elements, and their width and height."""

    width: float
    height: float
    marks: tuple[str, ...]


def picture(title: str, below: str, drawing: Drawing, description: str) -> str:
    """Return the whole SVG file: a card with a title, a line `below` it, and the drawing, whose corner is (0, 0).

    `description` describes the picture in a sentence, for screen readers.
    """
    widest = max(drawing.width, width_of(title, 18), width_of(below, 13))
    width, height = widest + 2 * MARGIN, HEAD + drawing.height + MARGIN
    size = f'width="{number(width)}" height="{number(height)}" viewBox="0 0 {number(width)} {number(height)}"'
    marks = "\n".join(drawing.marks)
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title description" {size}>',
            f'<title id="title">{escape(title)}</title>',
            f'<desc id="description">{escape(description)}</desc>',
            f"<style>text{{font-family:{SANS};fill:{INK}}}.m{{font-family:{MONO}}}{_dark(marks)}</style>",
            rectangle(0.5, 0.5, width - 1, height - 1, PAPER, radius=10, edge=EDGE),
            text(MARGIN, 36, title, size=18, bold=True),
            text(MARGIN, 57, below, size=13, colour=MUTED),
            f'<g transform="translate({MARGIN} {HEAD})">',
            marks,
            "</g>",
            "</svg>\n",
        )
    )


def _dark(marks: str) -> str:
    """Return CSS rules that replace the colours of these marks and of the card by their dark ones."""
    used = {INK, MUTED, PAPER, EDGE, *(colour for colour in DARK if colour in marks)}
    rules = [f"text{{fill:{DARK[INK]}}}"]
    for colour in DARK:
        if colour in used:
            fill = f'[fill="{colour}"],[style="fill:{colour}"]{{fill:{DARK[colour]}!important}}'
            rules.append(f'{fill}[stroke="{colour}"]{{stroke:{DARK[colour]}}}')
    return f"@media(prefers-color-scheme:dark){{{''.join(rules)}}}"


def number(value: float) -> str:
    """Return a length in its shortest form, rounded to a hundredth of a pixel.

    >>> number(3.0), number(2.504), number(-0.001)
    ('3', '2.5', '0')
    """
    written = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if written == "-0" else written


def width_of(content: str, size: float, mono: bool = False) -> float:
    """Estimate the width of a line of text in pixels, rather too wide than too narrow, since readers' fonts differ."""
    if mono:
        return 0.61 * size * len(content)
    narrow = sum(letter in "iljtfr.,:;'|()[] -" for letter in content)
    wide = sum(letter in "mwMW%" or letter.isupper() for letter in content)
    return size * (0.36 * narrow + 0.76 * wide + 0.57 * (len(content) - narrow - wide))


def text(
    x: float,
    y: float,
    content: str,
    size: float = 12,
    colour: str = INK,
    anchor: Anchor = "start",
    bold: bool = False,
    mono: bool = False,
) -> str:
    """Return the mark of a line of text on the base line y; `anchor` says which part of the line is at x."""
    given = [f'x="{number(x)}" y="{number(y)}" font-size="{number(size)}"']
    if mono:
        given.append('class="m"')
    if colour != INK:
        # The CSS rule for all text overrides a presentation attribute, but not a style.
        given.append(f'style="fill:{colour}"')
    if anchor != "start":
        given.append(f'text-anchor="{anchor}"')
    if bold:
        given.append('font-weight="600"')
    return f"<text {' '.join(given)}>{escape(content, quote=False)}</text>"


def rectangle(
    x: float,
    y: float,
    width: float,
    height: float,
    fill: str,
    radius: float = 0,
    edge: str | None = None,
    dashed: bool = False,
) -> str:
    """Return the mark of a filled rectangle; `edge` is the colour of its edge, which None omits."""
    shape = f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}" fill="{fill}"'
    round_corners = f' rx="{number(radius)}"' if radius else ""
    return f"{shape}{round_corners}{_edge(edge, 1, dashed)}/>"


def circle(x: float, y: float, radius: float, fill: str, edge: str | None = None) -> str:
    """Return the mark of a filled circle around (x, y); `edge` is the colour of its edge, which None omits."""
    return f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" fill="{fill}"{_edge(edge, 1)}/>'


def line(points: Sequence[tuple[float, float]], colour: str = INK, thick: float = 1, dashed: bool = False) -> str:
    """Return the mark of a line through points, `thick` pixels wide."""
    places = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    return f'<polyline points="{places}" fill="none"{_edge(colour, thick, dashed)}/>'


def moved(x: float, y: float, marks: Iterable[str]) -> str:
    """Return the marks, moved x pixels to the right and y down, as one mark."""
    return "\n".join((f'<g transform="translate({number(x)} {number(y)})">', *marks, "</g>"))


def explained(drawing: Drawing, *entries: tuple[str, str]) -> Drawing:
    """Return the drawing with a legend below: titles in a row, each behind its mark.

    A mark consists of SVG elements inside the rectangle from (0, -10) to (14, 2).
    """
    legend: list[str] = []
    x = 0.0
    for mark, title in entries:
        legend += [moved(x, 12, [mark]), text(x + 20, 13, title, size=14, colour=MUTED)]
        x += 20 + width_of(title, 14) + 18
    marks = (*drawing.marks, moved(0, drawing.height, legend))
    return Drawing(max(drawing.width, x - 18), drawing.height + 22, marks)


def _edge(colour: str | None, thick: float, dashed: bool = False) -> str:
    if colour is None:
        return ""
    width = f' stroke-width="{number(thick)}"' if thick != 1 else ""
    return f' stroke="{colour}"{width}' + (' stroke-dasharray="3 3"' if dashed else "")
