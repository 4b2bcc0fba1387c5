"""Numberings of the squares: the number of a1, and the steps of one file and one rank.

In a routine with a numbering, bit n of a board is the square with number n. Diagrams, square names and direction names
use little-endian rank-file, as setwise.codegen.board does. This module converts between the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from setwise.codegen import board
from setwise.codegen.board import DIR8, EAST, NOEA, NORT, NOWE, SOEA, SOUT, SOWE, WEST, Direction

DIRECTION9 = (None, EAST, NOEA, NORT, NOWE, WEST, SOWE, SOUT, SOEA)
"""The direction of each `direction9` number of the seeds. Around the square, which is 0: 4 3 2 / 5 0 1 / 6 7 8."""

DIRECTIONS_AROUND = ", ".join(f"{number} {to}" for number, to in enumerate(DIRECTION9) if to) + "; any other: none"
"""The numbers of DIRECTION9 in words: 1 east, 2 noEa, ..."""

_KINDS: Mapping[str, tuple[Direction | None, ...]] = {"dir8": DIR8, "direction9": DIRECTION9}
_NONE = "none"


@dataclass(frozen=True, slots=True)
class Numbering:
    """A numbering of the squares: the number of a1, and the steps of one file and one rank.

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
        """The numbers of the squares a1, b1, ... h8."""
        steps = (self.file_step * file + self.rank_step * rank for rank in range(8) for file in range(8))
        return tuple(self.a1 + step for step in steps)

    def __str__(self) -> str:
        return ", ".join(f"{self.square_name(number)} = {number}" for number in (0, 7, 63))

    @property
    def bits(self) -> str:
        """The bit positions of a1, h1 and h8, as text.

        >>> LITTLE_ENDIAN.bits
        'a1 = bit 0, h1 = bit 7, h8 = bit 63'
        """
        return str(self).replace("= ", "= bit ")

    def numbered(self, placed: int) -> int:
        """Convert a little-endian rank-file board to this numbering.

        >>> hex(NUMBERINGS["a1-by-files"].numbered(board.RANK_1))
        '0x101010101010101'
        """
        numbers = self.numbers
        return sum(1 << numbers[square] for square in board.squares(placed))

    def placed(self, numbered: int) -> int:
        """Convert a board in this numbering to little-endian rank-file."""
        return sum(1 << square for square, number in enumerate(self.numbers) if numbered >> number & 1)

    def square(self, name: str) -> int:
        """Return the number of a square. Raise ValueError for a text that names no square."""
        return self.numbers[board.square(name)]

    def square_name(self, number: int) -> str:
        """Return the name of the square with this number, 0 to 63."""
        return board.square_name(self.numbers.index(number))

    def parse_board(self, text: str) -> int:
        """Return the board that a text denotes, in this numbering.

        A number is taken as it is. Squares and drawings are converted. Raise ValueError for other text.

        >>> hex(NUMBERINGS["h1"].parse_board("a1,b1")), NUMBERINGS["h1"].parse_board("7")
        ('0xc0', 7)
        """
        number = board.parse_number(text)
        return self.numbered(board.parse_board(text)) if number is None else number

    def step(self, direction: Direction) -> int:
        """Return the difference that one step makes to a square's number."""
        return self.file_step * direction.file_step + self.rank_step * direction.rank_step

    def seen_in(self, other: Numbering, direction: Direction) -> Direction:
        """Return the direction in `other` whose step changes the square number as `direction` does in this numbering.

        >>> LITTLE_ENDIAN.seen_in(NUMBERINGS["h1"], EAST), LITTLE_ENDIAN.seen_in(NUMBERINGS["a1-by-files"], EAST)
        (west, nort)
        """
        return next(each for each in DIR8 if other.step(each) == self.step(direction))


_CORNERS = {"a1": (1, 1), "h1": (-1, 1), "a8": (1, -1), "h8": (-1, -1)}


def _numberings(ending: str, file: int, rank: int) -> dict[str, Numbering]:
    """Return four numberings, one with each corner as square 0, by corner name plus `ending`."""
    steps = {corner + ending: (file * files, rank * ranks) for corner, (files, ranks) in _CORNERS.items()}
    return {name: Numbering(name, -7 * (min(0, f) + min(0, r)), f, r) for name, (f, r) in steps.items()}


NUMBERINGS: Mapping[str, Numbering] = {**_numberings("", 1, 8), **_numberings("-by-files", 8, 1)}
"""The eight numberings by name. The name gives square 0; "-by-files" counts along the files (a1 = 0, a2 = 1)."""

LITTLE_ENDIAN = NUMBERINGS["a1"]
BIG_ENDIAN_FILES = NUMBERINGS["h1"]


def numbering(name: str) -> Numbering:
    """Return the numbering with this name, in any case. Raise ValueError with the eight names if there is none."""
    if name.lower() not in NUMBERINGS:
        raise ValueError(
            f"unknown numbering of squares '{name}': write one of {' '.join(NUMBERINGS)} (the square with number 0)"
        )
    return NUMBERINGS[name.lower()]


def named_number(kind: str, name: str, own: Numbering, shown: Numbering) -> int:
    """Return the number that a name denotes in a parameter of kind square, dir8 or direction9.

    `own` is the numbering of the routine, `shown` that of the board on which the user reads the name. Raise ValueError
    for an unknown name.

    >>> named_number("direction9", "west", LITTLE_ENDIAN, LITTLE_ENDIAN)
    5
    """
    if kind == "square":
        return shown.square(name)
    if kind == "direction9" and name.lower() == _NONE:
        return 0
    return _KINDS[kind].index(shown.seen_in(own, board.direction(name)))


def direction_name(kind: str, number: int, own: Numbering, shown: Numbering) -> str:
    """Return the name of a direction number on the board that is shown, or `none` if the number has no direction.

    `own` is the numbering of the routine, `shown` that of the board.

    >>> direction_name("dir8", 7, LITTLE_ENDIAN, LITTLE_ENDIAN), direction_name("direction9", 9, *[LITTLE_ENDIAN] * 2)
    ('nort', 'none')
    """
    known = _KINDS[kind]
    direction = known[number] if number < len(known) else None
    return own.seen_in(shown, direction).name if direction else _NONE
