"""Squares, directions and masks of the chess board; boards and FEN as text.

A board is an `int` of 64 bits, little-endian rank-file: a1 = bit 0, h1 = bit 7, a8 = bit 56, h8 = bit 63.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Literal

ALL = 0xFFFF_FFFF_FFFF_FFFF
FILE_A, FILE_B, FILE_C, FILE_D, FILE_E, FILE_F, FILE_G, FILE_H = (0x0101_0101_0101_0101 << file for file in range(8))
RANK_1, RANK_2, RANK_3, RANK_4, RANK_5, RANK_6, RANK_7, RANK_8 = (0xFF << 8 * rank for rank in range(8))
NOT_A = ALL ^ FILE_A
NOT_H = ALL ^ FILE_H
INNER_FILES = 0x7E7E_7E7E_7E7E_7E7E
"""Files B to G: enough as the horizontal propagator of an attack getter. A blocker on an edge file hides nothing."""


@dataclass(frozen=True, slots=True)
class Direction:
    """One of the eight directions of the compass rose, or a leap.

    A step adds `file_step` to the file and `rank_step` to the rank, so it adds `shift` to the number of the square.

    >>> SOWE.name, SOWE.shift, SOWE.opposite.name
    ('soWe', -9, 'noEa')
    """

    name: str
    shift: int
    file_step: int
    rank_step: int

    @property
    def opposite(self) -> Direction:
        """The opposite direction."""
        return _direction_of(-self.file_step, -self.rank_step)

    @property
    def mirrored(self) -> Direction:
        """The direction after a vertical flip of the board: north and south swapped.

        >>> NOEA.mirrored.name, WEST.mirrored.name
        ('soEa', 'west')
        """
        return _direction_of(self.file_step, -self.rank_step)

    def reach_files(self, steps: int) -> int:
        """Return all squares of the files that `steps` steps can reach."""
        return (_shifted(0xFF, self.file_step * steps) & 0xFF) * FILE_A

    def reach(self, steps: int) -> int:
        """Return the squares that `steps` steps from some square of the board can reach.

        This mask of one step, the literature's `avoidWrap`, clears all wrapped bits, so the shift may be a rotate.

        >>> hexadecimal(NOEA.reach(1)), hexadecimal(NOEA.reach(5))
        ('0xfefe_fefe_fefe_fe00', '0xe0e0_e000_0000_0000')
        """
        return self.reach_files(steps) & _shifted(ALL, 8 * self.rank_step * steps)

    def __repr__(self) -> str:
        return self.name


def _shifted(bits: int, left: int) -> int:
    return bits << left if left >= 0 else bits >> -left


NOEA = Direction("noEa", 9, 1, 1)
EAST = Direction("east", 1, 1, 0)
SOEA = Direction("soEa", -7, 1, -1)
SOUT = Direction("sout", -8, 0, -1)
SOWE = Direction("soWe", -9, -1, -1)
WEST = Direction("west", -1, -1, 0)
NOWE = Direction("noWe", 7, -1, 1)
NORT = Direction("nort", 8, 0, 1)

DIR8 = (NOEA, EAST, SOEA, SOUT, SOWE, WEST, NOWE, NORT)
"""The eight directions in the literature's order. A parameter `dir8` is an index into it."""
VERTICAL = (SOUT, NORT)
EASTWARD = (NOEA, EAST, SOEA)
WESTWARD = (NOWE, WEST, SOWE)
ROOK = (EAST, SOUT, WEST, NORT)
BISHOP = (NOEA, SOEA, SOWE, NOWE)
QUEEN = DIR8
"""ROOK, BISHOP and QUEEN keep the order of DIR8. EASTWARD and WESTWARD run from north to south."""

DIRECTIONS: Mapping[str, Direction] = {direction.name: direction for direction in DIR8}
DIRECTION_SETS: Mapping[str, tuple[Direction, ...]] = {
    "vertical": VERTICAL,
    "eastward": EASTWARD,
    "westward": WESTWARD,
    "rook": ROOK,
    "bishop": BISHOP,
    "queen": QUEEN,
}


def leap(*directions: Direction) -> Direction:
    """Return the sum of steps as one leap.

    Raise TypeError for other arguments than directions, and ValueError for none or if they lead back to the origin.

    >>> leap(NORT, NORT, EAST).shift, leap(NORT, EAST)
    (17, noEa)
    """
    for given in directions:
        if not isinstance(given, Direction):
            said = repr(given) if isinstance(given, int | str) else type(given).__name__
            several = "for n steps write ray(NORT).step(board, n), for one Dir8 ray(dir8)"
            raise TypeError(f"{said} is not a direction: write NORT or NORT, EAST; {several}")
    return _direction_of(sum(d.file_step for d in directions), sum(d.rank_step for d in directions))


def _direction_of(files: int, ranks: int) -> Direction:
    if not files and not ranks:
        raise ValueError(
            "these directions cancel out or are missing: name a step that changes the square, as in step(NORT)"
        )
    compass = (d for d in DIR8 if (d.file_step, d.rank_step) == (files, ranks))
    return next(compass, None) or Direction(f"{files:+}{ranks:+}", files + 8 * ranks, files, ranks)


def direction(text: str) -> Direction:
    """Return the direction with this name, in any case. Raise ValueError with the eight names if there is none.

    >>> direction("NOEA")
    noEa
    """
    for known in DIR8:
        if known.name.casefold() == text.casefold():
            return known
    raise ValueError(f"no direction {_quoted(text)}: write one of {' '.join(DIRECTIONS)}")


def square(name: str, files: int = 8, ranks: int = 8) -> int:
    """Return the number of a square, 0 for a1 to 63 for h8. Raise ValueError for another text.

    On a board of other files and ranks, numbers run along each rank, too.

    >>> square("a1"), square("h1"), square("e4"), square("e4", 7, 6)
    (0, 7, 28, 25)
    """
    if not _is_square(name, files, ranks):
        to = f"a file a to {ascii_lowercase[files - 1]} and a rank 1 to {ranks}"
        example = square_name(min(4, files - 1) + files * min(3, ranks - 1), files, ranks)
        raise ValueError(f"no square {_quoted(name)}: write {to}, as in {example}")
    return ascii_lowercase.index(name[0].lower()) + files * (int(name[1:]) - 1)


def _is_square(name: str, files: int, ranks: int) -> bool:
    named = re.fullmatch("([a-zA-Z])([1-9][0-9]?)", name, re.ASCII)
    return bool(named) and name[0].lower() in ascii_lowercase[:files] and int(name[1:]) <= ranks


def square_name(number: int, files: int = 8, ranks: int = 8) -> str:
    """Return the name of a square from 0 to 63. Raise ValueError for another number.

    >>> square_name(28), square_name(25, 7, 6)
    ('e4', 'e4')
    """
    if not 0 <= number < files * ranks:
        last = square_name(files * ranks - 1, files, ranks)
        raise ValueError(f"no square {number}: squares are 0 (a1) to {files * ranks - 1} ({last})")
    return ascii_lowercase[number % files] + str(number // files + 1)


def squares(board: int) -> Iterator[int]:
    """Yield the numbers of a board's squares in ascending order, a1 first.

    >>> [square_name(number) for number in squares(0x8100_0000_0000_0081)]
    ['a1', 'h1', 'a8', 'h8']
    """
    while board:
        yield (board & -board).bit_length() - 1
        board &= board - 1


def parse_board(text: str, files: int = 8, ranks: int = 8) -> int:
    """Return the board that a text denotes: a number, a list of squares, or a drawing of a line for each rank.

    Numbers are decimal, or hexadecimal after 0x, and may have underscores. Spaces or commas separate squares. A drawing
    has rank 8 on top, `1` or `x` for a square in the set and `.` for any other. It may have spaces, and labels as
    `setwise run --coordinates` prints them. A board of other files and ranks is numbered as by `square`. Raise a
    one-line ValueError for other text, and for a number that is negative or exceeds 64 bits.

    >>> parse_board("0x8000_0000_0000_0001") == parse_board("a1,h8") == parse_board("9223372036854775809")
    True
    >>> parse_board("-1")
    Traceback (most recent call last):
    ValueError: -1 is negative: give a number from 0 to 0xffff_ffff_ffff_ffff
    """
    number = parse_number(text)
    if number is not None:
        return number
    stripped = text.strip()
    names = re.split(r"[\s,]+", stripped)
    if len(stripped.splitlines()) > 1 and not _is_square(names[0], files, ranks):
        return _parse_drawing(stripped, files, ranks)
    if all(_is_square(name, files, ranks) for name in names):
        return sum(1 << number for number in {square(name, files, ranks) for name in names})
    last = square_name(files * ranks - 1, files, ranks)
    raise ValueError(
        f"{_quoted(text)} is not a board: write 0x and hexadecimal digits, a decimal number, "
        f"squares as in a1,{last}, or {ranks} drawn lines of 1 and ."
    )


def parse_number(text: str) -> int | None:
    """Return the 64-bit number that a hexadecimal or decimal text denotes, or None for other text.

    Raise ValueError for a number that is negative or exceeds 64 bits.
    """
    stripped = text.strip()
    if re.fullmatch(r"-(0[xX][0-9a-fA-F_]+|[0-9][0-9_]*)", stripped):
        raise ValueError(f"{_shortened(stripped)} is negative: give a number from 0 to {hexadecimal(ALL)}")
    if re.fullmatch(r"0[xX](_?[0-9a-fA-F])+", stripped):
        return _within_64_bits(int(stripped, 16), stripped)
    if re.fullmatch(r"[0-9](_?[0-9])*", stripped):
        digits = stripped.replace("_", "").lstrip("0") or "0"
        # int() refuses very long decimals with a message of its own, which does not fit here.
        return _within_64_bits(int(digits) if len(digits) <= 20 else ALL + 1, stripped)
    return None


def _within_64_bits(number: int, text: str) -> int:
    if number > ALL:
        raise ValueError(f"{_shortened(text)} is over 64 bits: give a number from 0 to {hexadecimal(ALL)}")
    return number


def _parse_drawing(text: str, files: int, ranks: int) -> int:
    lines = ["".join(line.split()) for line in text.splitlines() if line.strip()]
    if lines[-1].lower() == ascii_lowercase[:files]:
        del lines[-1]
    if len(lines) != ranks:
        raise ValueError(f"the drawn board has {len(lines)} lines: draw {ranks}, rank {ranks} on top")
    board = 0
    for rank, line in zip(range(ranks - 1, -1, -1), lines, strict=True):
        cells = line if len(line) == files else line.removeprefix(str(rank + 1))
        if not re.fullmatch(f"[1xX.-]{{{files}}}", cells):
            drawn = f"rank {rank + 1} of the drawn board is {_quoted(line)}"
            raise ValueError(f"{drawn}: draw {files} squares, each 1 or .")
        board |= sum(1 << files * rank + file for file, cell in enumerate(cells) if cell not in ".-")
    return board


def hexadecimal(board: int) -> str:
    """Return a board as 0x and sixteen hexadecimal digits in groups of four.

    >>> hexadecimal(INNER_FILES)
    '0x7e7e_7e7e_7e7e_7e7e'
    """
    return f"0x{board:019_x}"


Side = Literal["w", "b"]
STARTPOS = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
_PIECES = "PNBRQKpnbrqk"


@dataclass(frozen=True, slots=True)
class Position:
    """The piece placement and the side to move.

    `boards` holds one board per piece letter, in the order PNBRQKpnbrqk.
    """

    boards: tuple[int, ...]
    side: Side

    def pieces(self, side: str, letters: str) -> int:
        """Return the squares of one side's pieces of some types, given as letters of PNBRQK.

        >>> rooks_and_queen = parse_fen("8/8/8/8/8/5Q2/4B3/R6R w").pieces("w", "RQ")
        >>> [square_name(number) for number in squares(rooks_and_queen)]
        ['a1', 'h1', 'f3']
        """
        return sum(self.boards[_PIECES.index(letter if side == "w" else letter.lower())] for letter in letters)

    @property
    def occupied(self) -> int:
        """All squares with a piece."""
        return sum(self.boards)

    @property
    def empty(self) -> int:
        """All squares without a piece."""
        return ALL ^ self.occupied


def parse_fen(text: str) -> Position:
    """Return the position that a FEN describes.

    Piece placement and side to move are required. Up to four more fields are validated and dropped. `startpos` is the
    initial position, as in the Universal Chess Interface (Meyer-Kahlen, 2000). The rules of chess are not checked: a
    board without kings is accepted. Raise a one-line ValueError for invalid text.

    >>> parse_fen("8/8/8/3r4/8/8/8/R6R b").side
    'b'
    >>> parse_fen("8/8/8/8/8/8/R6R w")
    Traceback (most recent call last):
    ValueError: FEN with 7 ranks: write 8, rank 8 first, with / between them
    """
    fields = (STARTPOS if text.strip() == "startpos" else text).split()
    if not fields:
        raise ValueError("an empty FEN: write piece placement and side to move, as in 8/8/8/3r4/8/8/8/R6R w")
    boards = _parse_placement(fields[0])
    if len(fields) == 1:
        raise ValueError("FEN without a side to move: add w or b after the piece placement")
    if len(fields) > 6:
        raise ValueError(f"FEN with {len(fields)} fields: it has at most 6, piece placement to move number")
    if fields[1] not in ("w", "b"):
        raise ValueError(f"FEN with side to move {_quoted(fields[1])}: write w or b")
    side: Side = "w" if fields[1] == "w" else "b"
    castling, en_passant, *clocks = fields[2:] + ["-"] * (4 - len(fields))
    # Chess960 may name a castling rook by its file, a to h.
    if castling != "-" and (not re.fullmatch("[KQkqA-Ha-h]{1,4}", castling) or len(set(castling)) != len(castling)):
        raise ValueError(f"FEN with castling rights {_quoted(castling)}: write - or one to four of KQkq, each once")
    if not re.fullmatch("-|[a-h]6" if side == "w" else "-|[a-h]3", en_passant):
        rank = 6 if side == "w" else 3
        raise ValueError(f"FEN with en passant square {_quoted(en_passant)}: write - or a square of rank {rank}")
    for name, clock in zip(("half-move clock", "move number"), clocks, strict=False):
        if not re.fullmatch("[0-9]+", clock):
            raise ValueError(f"FEN with {name} {_quoted(clock)}: write a number")
    return Position(boards, side)


def _parse_placement(placement: str) -> tuple[int, ...]:
    ranks = placement.split("/")
    if len(ranks) != 8:
        raise ValueError(f"FEN with {len(ranks)} ranks: write 8, rank 8 first, with / between them")
    boards = [0] * len(_PIECES)
    for rank, text in zip(range(7, -1, -1), ranks, strict=True):
        if re.search("[1-8][1-8]", text):
            raise ValueError(f"FEN with two counts in a row in rank {rank + 1}, {_quoted(text)}: write their sum")
        file = 0
        for letter in text:
            if letter in _PIECES:
                boards[_PIECES.index(letter)] |= 1 << 8 * rank + file
                file += 1
            elif letter in "12345678":
                file += int(letter)
            else:
                raise ValueError(
                    f"FEN with {_quoted(letter)} in rank {rank + 1}: write pieces {_PIECES} and counts 1 to 8"
                )
        if file != 8:
            raise ValueError(
                f"FEN with {file} squares in rank {rank + 1}, {_quoted(text)}: write pieces and counts for 8"
            )
    return tuple(boards)


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."


def _quoted(text: str) -> str:
    return repr(_shortened(text))
