"""Boards as text, with their titles, hexadecimal values and numbering."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from setwise.analysis.pictures.drawing import Panel, Strip, as_text
from setwise.analysis.run.positions import BOARDS, Input
from setwise.analysis.spec.task import Task
from setwise.analysis.text import counted
from setwise.codegen import board
from setwise.codegen.ir.routine import Contract, Parameter
from setwise.codegen.numbering import LITTLE_ENDIAN, Numbering, direction_name


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
