"""Boards on the screen, and the numbers that go with them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest

from setwise.analysis.pictures.drawing import Panel, Strip, as_text
from setwise.analysis.run.positions import BOARDS
from setwise.codegen import board
from setwise.codegen.ir.routine import Contract
from setwise.codegen.numbering import LITTLE_ENDIAN, Numbering, direction_name

_TITLES = ("expected", "got")


def boards(titled: Sequence[tuple[str, int]], numbering: Numbering = LITTLE_ENDIAN, coordinates: bool = False) -> str:
    """Boards in rows of four at most, each with its title over it and its number under it."""
    panels = tuple(Panel(title, numbering.placed(word), foot=board.hexadecimal(word)) for title, word in titled)
    return as_text([Strip("", row) for row in Strip("", panels).rows], coordinates)


def turned(strips: Iterable[Strip], numbering: Numbering) -> list[Strip]:
    """Strips whose boards are in that numbering, as they are drawn."""
    return [replace(strip, panels=tuple(_turned(panel, numbering) for panel in strip.panels)) for strip in strips]


def _turned(panel: Panel, numbering: Numbering) -> Panel:
    return replace(panel, board=numbering.placed(panel.board), stopped=numbering.placed(panel.stopped))


def squares_lines(contract: Contract, shown: Numbering) -> list[str]:
    """What is said of the squares' numbering where it is not the usual one, and where directions get other names."""
    own, name = contract.numbering, contract.direction
    meant = board.DIRECTION_SETS.get(name, tuple(filter(None, [board.DIRECTIONS.get(name)])))
    seen = [own.seen_in(shown, direction) for direction in meant]
    other = f"; {name} is {' '.join(map(str, seen))} there" if {*seen} != {*meant} else ""
    return [] if shown == LITTLE_ENDIAN == own else [f"squares: {shown}{other}"]


def result_titles(contract: Contract, shown: Numbering) -> list[str]:
    """The results' names; those that are named by a direction, by what it is on the board that is shown."""
    named = {each.name: contract.numbering.seen_in(shown, each).name for each in board.DIR8}
    return [named.get(result, result) for result in contract.results]


def input_lines(
    inputs: Iterable[tuple[str, str, int]], own: Numbering, shown: Numbering | None = None
) -> tuple[list[str], list[tuple[str, int]]]:
    """Of inputs, each a name, a kind and a word: a line on each number that selects something, and what is drawn.

    `own` is the numbering of the routine's squares, `shown` the one that is meant instead.
    """
    lines, drawn = [], []
    shown = shown or own
    for name, kind, word in inputs:
        if kind in BOARDS:
            drawn.append((name, word))
        elif kind == "square":
            lines.append(f"{name}: {shown.square_name(word)} ({word})")
        elif kind in ("dir8", "direction9"):
            lines.append(f"{name}: {direction_name(kind, word, own, shown)} ({word})")
        else:
            lines.append(f"{name}: {word}")
    return lines, drawn


def expected_and_got(names: Sequence[str], expected: Sequence[int], got: Sequence[int]) -> list[tuple[str, int]]:
    """Results by their names, each as it should be and as it is, as far as that is known.

    >>> expected_and_got(["orthogonal", "diagonal"], [1, 2], [1])
    [('orthogonal, expected', 1), ('orthogonal, got', 1), ('diagonal, expected', 2)]
    """
    pairs = zip_longest(names, expected, got)
    titled = ((f"{name}, {title}", word) for name, *pair in pairs for title, word in zip(_TITLES, pair, strict=True))
    return [(title, word) for title, word in titled if word is not None]
