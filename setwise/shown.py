"""Results that show themselves at a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import index
from typing import Any

from setwise.codegen.board import parse_board


class Text(str):
    """Text that a prompt shows as it is: a listing, or boards."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Table(list[dict[str, Any]]):
    """Rows; a prompt shows some of their columns, and `fine` sums up how they ended."""

    def __init__(self, rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> None:
        super().__init__(map(dict, rows))
        self.columns = tuple(columns)

    @property
    def fine(self) -> bool:
        """Whether there are rows and every one is proved, or passed."""
        return bool(self) and all(row.get("status") in ("proved", "passed") for row in self)

    def __repr__(self) -> str:
        from tabulate import tabulate

        return tabulate([[row.get(key, "") for key in self.columns] for row in self], self.columns)


def show(*boards: int | str, **titled: int | str) -> Text:
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
    from setwise.analysis.pictures.board_text import boards as drawn

    given = (*(("", board) for board in boards), *titled.items())
    return Text(drawn([(title, _word(board)) for title, board in given]))


def _word(board: int | str) -> int:
    word = parse_board(board) if isinstance(board, str) else index(board)
    if not 0 <= word < 1 << 64:
        raise ValueError(f"{word} is no board: give a number from 0 to 2**64 - 1")
    return word
