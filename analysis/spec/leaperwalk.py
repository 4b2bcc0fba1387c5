"""The specification of leapers: knights, kings and pawns, square by square.

Squares are given by file and rank, and a leap by a number of files and ranks; there are no shifted boards and no
masks. Square numbering and kinds of boards are those of the ray-walk. The colors are `white`, whose pawns advance to
higher ranks, and `black`.
"""

from collections.abc import Mapping, Sequence

from setwise.analysis.spec.words import W, clip, equality_mask, joined, on

Leap = tuple[int, int]
"""A leap: files to the east, ranks to the north."""

KNIGHT: Sequence[Leap] = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
KING: Sequence[Leap] = ((1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1), (0, 1))

# By color: the ranks that a pawn advances in a step, and below, the rank that it starts on, counted from 0.
_FORWARD: Mapping[str, int] = {"white": 1, "black": -1}
_FIRST: Mapping[str, int] = {"white": 1, "black": 6}
COLORS = tuple(_FORWARD)


def reached(leapers: W, *leaps: Leap) -> W:
    """Return every square that one of these leaps reaches from a square of the board.

    >>> hex(reached(1 << 7, (1, 2), (-1, 2)))
    '0x400000'
    """
    marks = [leapers ^ leapers]
    for square in range(64):
        for files, ranks in leaps:
            file, rank = square % 8 + files, square // 8 + ranks
            if 0 <= file < 8 and 0 <= rank < 8:
                marks.append(on(leapers, square) << 8 * rank + file)
    return clip(joined(marks))


def knights(leapers: W) -> W:
    """Return every square that a knight attacks."""
    return reached(leapers, *KNIGHT)


def kings(leapers: W) -> W:
    """Return every square that a king attacks."""
    return reached(leapers, *KING)


def pawns(color: str | W, leapers: W) -> W:
    """Return every square that a pawn of that color attacks.

    >>> hex(pawns("white", 1 << 8)), hex(pawns("black", 1 << 15)), hex(pawns(1, 1 << 15))
    ('0x20000', '0x40', '0x40')
    """
    return joined(reached(board, *captures(each)) for each, board in by_color(color, leapers).items())


def by_color(color: str | W, leapers: W) -> Mapping[str, W]:
    """Return the leapers by their color: a name, or a word that is 0 for white and 1 for black."""
    if isinstance(color, str):
        return {color: leapers}
    black = leapers & equality_mask(color, 1, 1)
    return {"white": leapers ^ black, "black": black}


def captures(color: str) -> tuple[Leap, Leap]:
    """Return the two capturing leaps of that color's pawns."""
    return (1, _FORWARD[color]), (-1, _FORWARD[color])


def pushes(color: str, leapers: W, empty: W) -> W:
    """Return every empty square directly in front of a pawn of that color."""
    return reached(leapers, (0, _FORWARD[color])) & empty


def double_pushes(color: str, leapers: W, empty: W) -> W:
    """Return every empty square two ranks in front of a pawn on its start rank if the square between is empty.

    >>> hex(double_pushes("white", 0xFF00, 0xFFFF_FFFF_FFFE_0000))
    '0xfe000000'
    """
    rank, forward = _FIRST[color], _FORWARD[color]
    marks = (
        (on(leapers, 8 * rank + file) & on(empty, 8 * (rank + forward) + file) & on(empty, square)) << square
        for file in range(8)
        for square in (8 * (rank + 2 * forward) + file,)
    )
    return joined(marks)
