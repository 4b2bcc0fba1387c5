"""Results that display themselves at a Python prompt."""

from collections.abc import Iterable, Mapping, Sequence
from operator import index
from typing import Any

from setwise.codegen.numbering import LITTLE_ENDIAN, Numbering


class Text(str):
    """Text that a prompt displays unquoted: a listing, or boards."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Table(list[dict[str, Any]]):
    """A list of rows, which are dictionaries. A prompt displays them as a table of `columns`, not of all keys."""

    def __init__(self, rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> None:
        super().__init__(map(dict, rows))
        self.columns = tuple(columns)

    @property
    def fine(self) -> bool:
        """Whether there are rows and the `status` of each is proved or passed."""
        return bool(self) and all(row.get("status") in ("proved", "passed") for row in self)

    def __repr__(self) -> str:
        from setwise.analysis.text import table

        return table([[row.get(key, "") for key in self.columns] for row in self], self.columns)


def show(*boards: int | str, grid: Numbering = LITTLE_ENDIAN, **titled: int | str) -> Text:
    """Return drawings of boards as text, up to four side by side, each above its number. Keywords are titles.

    A board is an integer or a text as `parse_board` takes it, such as "a1,h8". Raises ValueError for any other. `grid`
    is the `Grid` of the boards, by default that of chess.

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
    if not isinstance(grid, Numbering):
        raise TypeError(f"grid={grid!r} is not a grid: give a setwise.Grid")
    return Text(drawn([(title, _word(board, grid)) for title, board in given], grid))


def _word(board: int | str, grid: Numbering) -> int:
    word = grid.parse_board(board) if isinstance(board, str) else index(board)
    if not 0 <= word < 1 << 64:
        raise ValueError(f"{word} is not a board: give a number from 0 to 2**64 - 1")
    return word
