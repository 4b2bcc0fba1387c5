"""The specification of what jumps and steps: knights, kings and pawns, square by square.

It knows squares by file and rank, and a leap as a number of files and one of ranks; no shifted boards, no masks. Boards
are numbered, and may be of any kind, as those of the ray-walk. Colors are `white`, whose pawns go up the ranks, and
`black`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from setwise.analysis.spec.words import W, clip, joined, on

Leap = tuple[int, int]
"""So many files to the east and ranks to the north."""

KNIGHT: Sequence[Leap] = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
KING: Sequence[Leap] = ((1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1), (0, 1))

# By color the ranks that a pawn goes on, and the rank that it begins on.
_FORWARD: Mapping[str, int] = {"white": 1, "black": -1}
_FIRST: Mapping[str, int] = {"white": 1, "black": 6}
COLORS = tuple(_FORWARD)


def reached(leapers: W, *leaps: Leap) -> W:
    """Every square to which one of these leaps leads from a square of the board.

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
    """Every square that one of the knights attacks."""
    return reached(leapers, *KNIGHT)


def kings(leapers: W) -> W:
    """Every square that one of the kings attacks."""
    return reached(leapers, *KING)


def pawns(color: str, leapers: W) -> W:
    """Every square that one of that side's pawns attacks.

    >>> hex(pawns("white", 1 << 8)), hex(pawns("black", 1 << 15))
    ('0x20000', '0x40')
    """
    return reached(leapers, *captures(color))


def captures(color: str) -> tuple[Leap, Leap]:
    """Where that side's pawns attack."""
    return (1, _FORWARD[color]), (-1, _FORWARD[color])


def pushes(color: str, leapers: W, empty: W) -> W:
    """Every empty square right before one of that side's pawns."""
    return reached(leapers, (0, _FORWARD[color])) & empty


def double_pushes(color: str, leapers: W, empty: W) -> W:
    """Every empty square two before a pawn on that side's first rank of pawns, the square between being empty.

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
