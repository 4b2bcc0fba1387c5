"""Results that show themselves: as text at the prompt, as HTML and pictures in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from operator import index
from typing import Any

from setwise.codegen.board import parse_board


class Listing(str):
    """Assembly source: text that a prompt and a notebook show as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self)}</pre>"


class Record(dict[str, Any]):
    """What is known of one kernel, by names; a notebook shows it as a table of what is not zero."""

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{_cell(key)}</th><td>{_cell(value)}</td></tr>" for key, value in self.items() if value)
        return f"<table>{rows}</table>"


class Table(list[Record]):
    """Records, a row each; prompt and notebook show some of their columns, and `fine` sums up how they ended."""

    def __init__(self, rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> None:
        super().__init__(map(Record, rows))
        self.columns = tuple(columns)

    @property
    def fine(self) -> bool:
        """Whether there are rows and every one is proved, or passed."""
        return bool(self) and all(row.get("status") in ("proved", "passed") for row in self)

    def __repr__(self) -> str:
        from tabulate import tabulate

        return tabulate([[row.get(key, "") for key in self.columns] for row in self], self.columns)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{_cell(key)}</th>" for key in self.columns)
        rows = ("".join(f"<td>{_cell(row.get(key, ''))}</td>" for key in self.columns) for row in self)
        return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


@dataclass(frozen=True, slots=True)
class Diagram:
    """Boards with their titles: text at a prompt, a picture with coordinates in a notebook."""

    boards: tuple[tuple[str, int], ...]

    def __repr__(self) -> str:
        from setwise.analysis.commands.boards import boards

        return boards(self.boards)

    def _repr_svg_(self) -> str:
        from setwise.analysis.pictures.boards import diagram

        return diagram(self.boards)


def show(*boards: int | str, **titled: int | str) -> Diagram:
    """Boards to look at, by titles or without: integers, squares ("a1,h8") or drawings, as `setwise run` takes them.

    >>> show(king="e1")
    king
    . . . . . . . .
    . . . . . . . .
    . . . . . . . .
    . . . . . . . .
    . . . . . . . .
    . . . . . . . .
    . . . . . . . .
    . . . . 1 . . .
    0x0000_0000_0000_0010
    """
    return Diagram(tuple((title, _word(board)) for title, board in (*(("", b) for b in boards), *titled.items())))


def _word(board: int | str) -> int:
    word = parse_board(board) if isinstance(board, str) else index(board)
    if not 0 <= word < 1 << 64:
        raise ValueError(f"{word} is no board: give a number from 0 to 2**64 - 1")
    return word


def _cell(value: object) -> str:
    return escape(f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value))
