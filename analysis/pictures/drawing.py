"""Boards in strips, drawn as text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from string import ascii_lowercase

from setwise.codegen.numbering import LITTLE_ENDIAN, Numbering


@dataclass(frozen=True, slots=True)
class Panel:
    """A board with its title above and an optional foot below. A `stopped` square that is not set is drawn as 0."""

    title: str
    board: int
    stopped: int = 0
    foot: str = ""
    squares: Numbering = LITTLE_ENDIAN
    """The files and ranks, and the places without a square, which are drawn as -. Bits run along the ranks."""


@dataclass(frozen=True, slots=True)
class Strip:
    """Boards side by side, with a heading above them and a note behind the heading."""

    heading: str
    panels: tuple[Panel, ...] = ()
    note: str = ""

    @property
    def rows(self) -> list[tuple[Panel, ...]]:
        """The boards in rows of at most four."""
        return [self.panels[start : start + _PER_ROW] for start in range(0, len(self.panels), _PER_ROW)]


_GAP = 4
_PER_ROW = 4


def as_text(strips: Sequence[Strip], coordinates: bool = False) -> str:
    """Return strips as text, with an empty line between them, and at most four boards in a row.

    With `coordinates` each rank has its number before it, and the files have their letters below.

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
    return "\n\n".join("\n".join(_lines(strip, coordinates)) for strip in strips)


def _lines(strip: Strip, coordinates: bool) -> Iterator[str]:
    if strip.heading or strip.note:
        yield f"{strip.heading}   {strip.note}".strip()
    for row in strip.rows:
        columns = [[panel.title, *_drawn(panel, coordinates), *filter(None, [panel.foot])] for panel in row]
        widths = [max(map(len, column)) for column in columns]
        for cells in zip_longest(*columns, fillvalue=""):
            yield (" " * _GAP).join(cell.ljust(wide) for cell, wide in zip(cells, widths, strict=True)).rstrip()


def _drawn(panel: Panel, coordinates: bool) -> Iterator[str]:
    files, ranks, numbers = panel.squares.files, panel.squares.ranks, panel.squares.numbers
    marks = [
        "-" if number < 0 else "1" if panel.board >> at & 1 else "0" if panel.stopped >> at & 1 else "."
        for at, number in enumerate(numbers)
    ]
    for rank in range(ranks - 1, -1, -1):
        label = [str(rank + 1).ljust(2)] if coordinates else []
        yield " ".join([*label, *marks[files * rank : files * rank + files]])
    if coordinates:
        yield " ".join(["  ", *ascii_lowercase[:files]])
