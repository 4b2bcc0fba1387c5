"""Boards on the screen, and the numbers that go with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from setwise.analysis.commands.positions import BOARDS
from setwise.analysis.run.drawing import Panel, Strip, as_text
from setwise.codegen import board

_TITLES = ("expected", "got")


def boards(titled: Sequence[tuple[str, int]]) -> str:
    """Boards in rows of four at most, each with its title over it and its number under it."""
    panels = tuple(Panel(title, word, foot=board.hexadecimal(word)) for title, word in titled)
    return as_text([Strip("", row) for row in Strip("", panels).rows])


def input_lines(inputs: Iterable[tuple[str, str, int]]) -> tuple[list[str], list[tuple[str, int]]]:
    """Of inputs, each a name, a kind and a word: a line on each number that selects something, and what is drawn."""
    lines, drawn = [], []
    for name, kind, word in inputs:
        if kind in BOARDS:
            drawn.append((name, word))
        elif kind == "square":
            lines.append(f"{name}: {board.square_name(word)} ({word})")
        else:
            lines.append(f"{name}: {board.DIR8[word].name} ({word})" if kind == "dir8" else f"{name}: {word}")
    return lines, drawn


def expected_and_got(names: Sequence[str], expected: Sequence[int], got: Sequence[int]) -> list[tuple[str, int]]:
    """Results by their names, each as it should be and as it is, as far as that is known.

    >>> expected_and_got(["orthogonal", "diagonal"], [1, 2], [1])
    [('orthogonal, expected', 1), ('orthogonal, got', 1), ('diagonal, expected', 2)]
    """
    pairs = zip_longest(names, expected, got)
    titled = ((f"{name}, {title}", word) for name, *pair in pairs for title, word in zip(_TITLES, pair, strict=True))
    return [(title, word) for title, word in titled if word is not None]
