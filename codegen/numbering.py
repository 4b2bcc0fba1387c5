"""The literature's two numberings of the squares.

In a routine's numbering, bit n of a board is the square with number n. Diagrams and setwise.codegen.board use
little-endian rank-file. This module converts boards between that and a numbering.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from setwise.codegen import board
from setwise.codegen.board import DIR8, EAST, NOEA, NORT, NOWE, SOEA, SOUT, SOWE, WEST, Direction

DIRECTION9 = (None, EAST, NOEA, NORT, NOWE, WEST, SOWE, SOUT, SOEA)
"""By `direction9` number of the literature: the direction, none for 0. With north on top: 4 3 2 / 5 0 1 / 6 7 8."""

DIRECTIONS_AROUND = ", ".join(f"{number} {to}" for number, to in enumerate(DIRECTION9) if to) + "; any other: none"
"""The numbers of DIRECTION9 in words: 1 east, 2 noEa, ..."""

_KINDS: Mapping[str, tuple[Direction | None, ...]] = {"dir8": DIR8, "direction9": DIRECTION9}
_NONE = "none"


@dataclass(frozen=True, slots=True)
class Numbering:
    """A numbering of the squares along the ranks: the name of square 0, the number of a1, the step to the next file.

    >>> str(BIG_ENDIAN_FILES), BIG_ENDIAN_FILES.square("d4"), BIG_ENDIAN_FILES.square_name(28)
    ('h1 = 0, a1 = 7, a8 = 63', 28, 'd4')
    """

    name: str
    a1: int
    file_step: int

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the squares a1, b1, ... h8."""
        return tuple(self.a1 + self.file_step * file + 8 * rank for rank in range(8) for file in range(8))

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
        """Convert a little-endian rank-file board to this numbering.

        >>> hex(BIG_ENDIAN_FILES.numbered(board.FILE_A))
        '0x8080808080808080'
        """
        numbers = self.numbers
        return sum(1 << numbers[square] for square in board.squares(placed))

    def placed(self, numbered: int) -> int:
        """Convert a board in this numbering to little-endian rank-file."""
        return sum(1 << square for square, number in enumerate(self.numbers) if numbered >> number & 1)

    def square(self, name: str) -> int:
        """Return the number of the square with this name. Raise ValueError for a text that names no square."""
        return self.numbers[board.square(name)]

    def square_name(self, number: int) -> str:
        """Return the name of the square with this number. Raise ValueError for a number that is not 0 to 63."""
        return board.square_name(self.numbers.index(number))

    def parse_board(self, text: str) -> int:
        """Return the board that a text denotes, in this numbering.

        A number is taken as it is. Squares and drawings are converted. Raise ValueError for other text.

        >>> hex(BIG_ENDIAN_FILES.parse_board("a1,b1")), BIG_ENDIAN_FILES.parse_board("7")
        ('0xc0', 7)
        """
        number = board.parse_number(text)
        return self.numbered(board.parse_board(text)) if number is None else number


LITTLE_ENDIAN = Numbering("a1", 0, 1)
BIG_ENDIAN_FILES = Numbering("h1", 7, -1)


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
