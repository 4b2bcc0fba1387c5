"""How the squares of the board are numbered: which one is 0, and what a file and a rank further add.

A word that is a set of squares has bit n set for the square of number n. Everything that draws boards, reads squares or
names directions knows them little-endian rank-file, as setwise.codegen.board does, and comes here for the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from setwise.codegen import board
from setwise.codegen.board import DIR8, EAST, NOEA, NORT, NOWE, SOEA, SOUT, SOWE, WEST, Direction

DIRECTION9 = (None, EAST, NOEA, NORT, NOWE, WEST, SOWE, SOUT, SOEA)
"""The directions around a square, which stands for 0, in the order of the seeds' numbers: 4 3 2 / 5 0 1 / 6 7 8."""

DIRECTIONS_AROUND = ", ".join(f"{number} {to}" for number, to in enumerate(DIRECTION9) if to) + "; any other: none"
"""The same in words: 1 east, 2 noEa, ..."""

_KINDS: Mapping[str, tuple[Direction | None, ...]] = {"dir8": DIR8, "direction9": DIRECTION9}
_NONE = "none"


@dataclass(frozen=True, slots=True)
class Numbering:
    """A numbering of the squares: the number of a1, and what one file and one rank further add to it.

    >>> h1 = NUMBERINGS["h1"]
    >>> str(h1), h1.square("d4"), h1.square_name(28)
    ('h1 = 0, a1 = 7, a8 = 63', 28, 'd4')
    """

    name: str
    a1: int
    file_step: int
    rank_step: int

    @property
    def numbers(self) -> tuple[int, ...]:
        """The number of each square, as little-endian rank-file has them in order: a1, b1, ... h8."""
        steps = (self.file_step * file + self.rank_step * rank for rank in range(8) for file in range(8))
        return tuple(self.a1 + step for step in steps)

    def __str__(self) -> str:
        return ", ".join(f"{self.square_name(number)} = {number}" for number in (0, 7, 63))

    @property
    def bits(self) -> str:
        """The same of a board's bits.

        >>> LITTLE_ENDIAN.bits
        'a1 = bit 0, h1 = bit 7, h8 = bit 63'
        """
        return str(self).replace("= ", "= bit ")

    def numbered(self, placed: int) -> int:
        """The board that holds these squares, which are given as little-endian rank-file has them.

        >>> hex(NUMBERINGS["a1-by-files"].numbered(board.RANK_1))
        '0x101010101010101'
        """
        numbers = self.numbers
        return sum(1 << numbers[square] for square in board.squares(placed))

    def placed(self, numbered: int) -> int:
        """The squares of a board, as little-endian rank-file has them: what is drawn."""
        return sum(1 << square for square, number in enumerate(self.numbers) if numbered >> number & 1)

    def square(self, name: str) -> int:
        """The number of a square; ValueError for what is none."""
        return self.numbers[board.square(name)]

    def square_name(self, number: int) -> str:
        """The name of square 0 to 63."""
        return board.square_name(self.numbers.index(number))

    def parse_board(self, text: str) -> int:
        """A board from a number, which is taken as it is, or from squares or a drawing; ValueError for anything else.

        >>> hex(NUMBERINGS["h1"].parse_board("a1,b1")), NUMBERINGS["h1"].parse_board("7")
        ('0xc0', 7)
        """
        number = board.parse_number(text)
        return self.numbered(board.parse_board(text)) if number is None else number

    def step(self, direction: Direction) -> int:
        """What one step adds to a square's number."""
        return self.file_step * direction.file_step + self.rank_step * direction.rank_step

    def seen_in(self, other: Numbering, direction: Direction) -> Direction:
        """The direction on the other's board of what is `direction` on this one's: the same numbers are added.

        >>> LITTLE_ENDIAN.seen_in(NUMBERINGS["h1"], EAST), LITTLE_ENDIAN.seen_in(NUMBERINGS["a1-by-files"], EAST)
        (west, nort)
        """
        return next(each for each in DIR8 if other.step(each) == self.step(direction))


_CORNERS = {"a1": (1, 1), "h1": (-1, 1), "a8": (1, -1), "h8": (-1, -1)}


def _numberings(ending: str, file: int, rank: int) -> dict[str, Numbering]:
    """By each of the corners as square 0, with these steps away from it."""
    steps = {corner + ending: (file * files, rank * ranks) for corner, (files, ranks) in _CORNERS.items()}
    return {name: Numbering(name, -7 * (min(0, f) + min(0, r)), f, r) for name, (f, r) in steps.items()}


NUMBERINGS: Mapping[str, Numbering] = {**_numberings("", 1, 8), **_numberings("-by-files", 8, 1)}
"""All eight by their names, the square of number 0: along the ranks, or along the files (a1 = 0, a2 = 1)."""

LITTLE_ENDIAN = NUMBERINGS["a1"]
BIG_ENDIAN_FILES = NUMBERINGS["h1"]


def numbering(name: str) -> Numbering:
    """The numbering of that name, matched without regard to case; ValueError names the eight."""
    if name.lower() not in NUMBERINGS:
        raise ValueError(f"no numbering of squares '{name}': write one of {' '.join(NUMBERINGS)} (which square is 0)")
    return NUMBERINGS[name.lower()]


def named_number(kind: str, name: str, own: Numbering, shown: Numbering) -> int:
    """The number that a name stands for in a parameter of kind square, dir8 or direction9; ValueError for none.

    `own` is the numbering of the routine's squares, `shown` the one on whose board the name is meant.

    >>> named_number("direction9", "west", LITTLE_ENDIAN, LITTLE_ENDIAN)
    5
    """
    if kind == "square":
        return shown.square(name)
    if kind == "direction9" and name.lower() == _NONE:
        return 0
    return _KINDS[kind].index(shown.seen_in(own, board.direction(name)))


def direction_name(kind: str, number: int, own: Numbering, shown: Numbering) -> str:
    """The name of that direction on the board that is shown; `none` where the number stands for none.

    >>> direction_name("dir8", 7, LITTLE_ENDIAN, LITTLE_ENDIAN), direction_name("direction9", 9, *[LITTLE_ENDIAN] * 2)
    ('nort', 'none')
    """
    known = _KINDS[kind]
    direction = known[number] if number < len(known) else None
    return own.seen_in(shown, direction).name if direction else _NONE
