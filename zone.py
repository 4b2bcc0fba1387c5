"""Routines of my own: `setwise prove zone.py` runs this file and proves them."""

import setwise
from setwise import EAST, NORT, SOUT, WEST, Board, Word


@setwise.routine
def zone(kings: Board) -> Board:
    """Squares that kings attack."""
    sides = kings.step(EAST) | kings.step(WEST)
    ranks = kings | sides
    return sides | ranks.step(NORT) | ranks.step(SOUT)


@zone.specification
def _(kings: Word) -> Word:
    """every square next to a king's"""
    found = kings & 0
    for square in range(64):
        king = kings >> square & 1
        for file, rank in ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)):
            file, rank = square % 8 + file, square // 8 + rank
            if 0 <= file < 8 and 0 <= rank < 8:
                found = found | king << (8 * rank + file)
    return found
