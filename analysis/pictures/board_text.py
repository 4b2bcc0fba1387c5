"""Boards in strips as text, with their titles, hexadecimal values and numbering."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from string import ascii_lowercase

from setwise.analysis.run.positions import BOARDS, Input
from setwise.analysis.spec.task import Task
from setwise.analysis.text import counted
from setwise.codegen import board
from setwise.codegen.ir.routine import Contract, Parameter
from setwise.codegen.numbering import LITTLE_ENDIAN, Numbering, direction_name


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


def boards(titled: Sequence[tuple[str, int]], numbering: Numbering = LITTLE_ENDIAN, coordinates: bool = False) -> str:
    """Return boards as text, at most four in a row, each with its title above and its hexadecimal word below."""
    panels = tuple(_turned(Panel(title, word, foot=_foot(word, numbering)), numbering) for title, word in titled)
    return as_text([Strip("", row) for row in Strip("", panels).rows], coordinates)


def turned(strips: Iterable[Strip], numbering: Numbering) -> list[Strip]:
    """Convert the boards of strips from `numbering` to a1 = bit 0, in which they are drawn."""
    return [replace(strip, panels=tuple(_turned(panel, numbering) for panel in strip.panels)) for strip in strips]


def _turned(panel: Panel, numbering: Numbering) -> Panel:
    shown, stopped = numbering.placed(panel.board), numbering.placed(panel.stopped)
    return replace(panel, board=shown, stopped=stopped, squares=numbering)


def _foot(word: int, numbering: Numbering) -> str:
    beside = f" and {counted((word & ~numbering.all).bit_count(), 'bit')} beside" if word & ~numbering.all else ""
    return f"{board.hexadecimal(word)}{beside}"


def mailbox(title: str, content: bytes, pieces: str) -> str:
    """Return a board of bytes as text: the letters of `pieces`, beyond which squares are free, or numbers without it.

    >>> mailbox("board", bytes([12] * 63 + [10]), "pPnNbBrRqQkK").splitlines()[:3]
    ['board', '. . . . . . . k', '. . . . . . . .']
    """
    letters = [pieces[each : each + 1] or "." if pieces else str(each) for each in content]
    wide = max(map(len, letters))
    ranks = [letters[start : start + 8] for start in range(56, -8, -8)]
    return "\n".join([title, *(" ".join(each.rjust(wide) for each in rank) for rank in ranks)])


def squares_lines(numbering: Numbering) -> list[str]:
    """Return one line on the numbering, or no line if it is little-endian rank-file."""
    return [] if numbering == LITTLE_ENDIAN else [f"squares: {numbering}"]


def input_lines(inputs: Iterable[tuple[Input, int]], numbering: Numbering) -> tuple[list[str], list[tuple[str, int]]]:
    """Return a line on each input that is not a board, and the names and words of those that are.

    An input is a parameter and its word.
    """
    lines, drawn = [], []
    for parameter, word in inputs:
        name, kind = parameter.name, parameter.kind
        if kind in BOARDS:
            drawn.append((name, word))
        elif kind == "square":
            lines.append(f"{name}: {numbering.square_name(word)} ({word})")
        elif kind in ("dir8", "direction9"):
            lines.append(f"{name}: {direction_name(kind, word)} ({word})")
        else:
            lines.append(f"{name}: {word}{f' ({word:#x})' if word >> 16 else ''}")
    return lines, drawn


def picture(
    head: Sequence[str], of: Contract | Task, words: Iterable[int], coordinates: bool = False, **results: Sequence[int]
) -> str:
    """Return a call as text: the lines `head`, inputs that are no boards, all boards, and results that are numbers.

    `words` are the inputs; empty arrays have none. Each of several `results` is titled by its keyword, too; missing
    ones are left out.
    """
    found = [
        (
            Parameter(f"{name}, {title}" if len(results) > 1 else name, "number" if name in of.counts else "word"),
            gave[at],
        )
        for at, name in enumerate(map(str, of.results))
        for title, gave in results.items()
        if at < len(gave)
    ]
    lines, given = input_lines(zip(of.words, words, strict=False), of.numbering)
    numbers, drawn = input_lines(found, of.numbering)
    parts = "\n".join([*head, *lines]), boards([*given, *drawn], of.numbering, coordinates), "\n".join(numbers)
    return "\n\n".join(filter(None, parts))
