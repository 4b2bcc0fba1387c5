"""Numberings of the squares: the literature's two, and the base of those of other boards.

In a routine's numbering, bit n of a board is the square with number n. Drawings number the squares along the ranks:
little-endian rank-file on a chess board. This module converts boards between that and a numbering.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from setwise.codegen import board
from setwise.codegen.board import DIR8, EAST, NOEA, NORT, NOWE, SOEA, SOUT, SOWE, WEST, Direction

DIRECTION9 = (None, EAST, NOEA, NORT, NOWE, WEST, SOWE, SOUT, SOEA)
"""By `direction9` number of the literature: the direction, none for 0. With north on top: 4 3 2 / 5 0 1 / 6 7 8."""

DIRECTIONS_AROUND = ", ".join(f"{number} {to}" for number, to in enumerate(DIRECTION9) if to) + "; any other: none"
"""The numbers of DIRECTION9 in words: 1 east, 2 noEa, ..."""

_KINDS: Mapping[str, tuple[Direction | None, ...]] = {"dir8": DIR8, "direction9": DIRECTION9}
_NONE = "none"


@dataclass(frozen=True)
class Numbering:
    """A numbering of the squares: a name, and the numbers of a1, b1, ... h8.

    A board may have other `files` and `ranks`, and places without a square, whose number is -1. `wrap` says whether the
    last file is next to the first (files), the last rank (ranks), or both.

    >>> str(BIG_ENDIAN_FILES), BIG_ENDIAN_FILES.square("d4"), BIG_ENDIAN_FILES.square_name(28)
    ('h1 = 0, a1 = 7, a8 = 63', 28, 'd4')
    """

    name: str
    numbers: tuple[int, ...] = field(hash=False, repr=False)
    files: int = 8
    ranks: int = 8
    wrap: str = ""

    @cached_property
    def all(self) -> int:
        """The board of all squares."""
        return sum(1 << number for number in self.numbers if number >= 0)

    def at(self, file: int, rank: int) -> int:
        """Return the number of the square at a file and a rank, both from 0, or -1 if there is none.

        >>> LITTLE_ENDIAN.at(4, 3), LITTLE_ENDIAN.at(8, 0)
        (28, -1)
        """
        file = file % self.files if self.wrap in ("files", "both") else file
        rank = rank % self.ranks if self.wrap in ("ranks", "both") else rank
        inside = 0 <= file < self.files and 0 <= rank < self.ranks
        return self.numbers[file + self.files * rank] if inside else -1

    def __str__(self) -> str:
        return ", ".join(f"{self.square_name(number)} = {number}" for number in (0, 7, 63))

    @property
    def bits(self) -> str:
        """The bit positions of three corners, as text.

        >>> LITTLE_ENDIAN.bits
        'a1 = bit 0, h1 = bit 7, h8 = bit 63'
        """
        return str(self).replace("= ", "= bit ")

    def numbered(self, placed: int) -> int:
        """Convert a board that is numbered along the ranks to this numbering.

        Raise ValueError for a place without a square.

        >>> hex(BIG_ENDIAN_FILES.numbered(board.FILE_A))
        '0x8080808080808080'
        """
        return sum(1 << self._number(place) for place in board.squares(placed))

    def placed(self, numbered: int) -> int:
        """Convert a board in this numbering to one that is numbered along the ranks."""
        return sum(1 << square for square, number in enumerate(self.numbers) if number >= 0 and numbered >> number & 1)

    def square(self, name: str) -> int:
        """Return the number of the square with this name. Raise ValueError for a text that names no square."""
        return self._number(board.square(name, self.files, self.ranks))

    def _number(self, place: int) -> int:
        if self.numbers[place] < 0:
            raise ValueError(f"no square {board.square_name(place, self.files, self.ranks)}: squares are {self}")
        return self.numbers[place]

    def square_name(self, number: int) -> str:
        """Return the name of the square with this number. Raise ValueError for a number that no square has."""
        if not 0 <= number < 64 or not self.all >> number & 1:
            raise ValueError(f"no square {number}: squares are {self}")
        return board.square_name(self.numbers.index(number), self.files, self.ranks)

    def parse_board(self, text: str) -> int:
        """Return the board that a text denotes, in this numbering.

        A number is taken as it is. Squares and drawings are converted. Raise ValueError for other text.

        >>> hex(BIG_ENDIAN_FILES.parse_board("a1,b1")), BIG_ENDIAN_FILES.parse_board("7")
        ('0xc0', 7)
        """
        number = board.parse_number(text)
        if number is not None and number & ~self.all:
            raise ValueError(f"{board.hexadecimal(number)} has bits without a square: squares are {self}")
        return self.numbered(board.parse_board(text, self.files, self.ranks)) if number is None else number


LITTLE_ENDIAN = Numbering("a1", tuple(range(64)))
BIG_ENDIAN_FILES = Numbering("h1", tuple(square ^ 7 for square in range(64)))


def named_number(kind: str, name: str, numbering: Numbering) -> int:
    """Return the number that a name denotes in a parameter of kind square, dir8 or direction9.

    `none` is 0, as a direction9 only. Raise ValueError for an unknown name.

    >>> named_number("direction9", "west", LITTLE_ENDIAN)
    5
    """
    if kind == "square":
        return numbering.square(name)
    if kind == "direction9" and name.lower() == _NONE:
        return 0
    return _KINDS[kind].index(board.direction(name))


def direction_name(kind: str, number: int) -> str:
    """Return the name of a number of kind dir8 or direction9, or `none` if the number has no direction.

    >>> direction_name("dir8", 7), direction_name("direction9", 9)
    ('nort', 'none')
    """
    known = _KINDS[kind]
    direction = known[number] if number < len(known) else None
    return direction.name if direction else _NONE
