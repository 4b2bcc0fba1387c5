"""Boards on the screen, and the numbers that go with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from setwise.analysis.commands.positions import BOARDS
from setwise.codegen import board

_TITLES = ("expected", "got")


def boards(titled: Sequence[tuple[str, int]]) -> str:
    """Boards in rows of four at most, each with its title over it and its number under it."""
    rows = []
    for start in range(0, len(titled), 4):
        titles, words = zip(*titled[start : start + 4], strict=True)
        numbers = [board.hexadecimal(word) for word in words]
        width = max(map(len, numbers))
        lines = board.draw_side_by_side([title.ljust(width) for title in titles], words, gap=4)
        rows.append(lines + "\n" + "    ".join(numbers))
    return "\n\n".join(rows)


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
