"""Attacks of rooks by a subtraction in each byte of a board that lies so that the ray goes up a byte's bits.

GFNI multiplies bytes with a matrix of bits. So it mirrors them: then the ray to the west goes up. With the board for a
matrix, bytes of one bit each become its files: then the ray to the south goes up, and in a flipped board the ray to the
north. All is in vector registers, of which one lane counts. A subtraction waits for less than a fill, even with the way
there and back, while other rays are filled in general registers. Source: setwise.
"""

from __future__ import annotations

from setwise.codegen.board import EAST, NORT, SOUT, WEST, Direction
from setwise.codegen.fills.push import twice
from setwise.codegen.ir.matrices import FALLING, RISING, RISING_BY_ONE, files, times
from setwise.codegen.ir.values import Value, beside, constant, make, reshaped


def attacks(direction: Direction, rooks: Value, occupied: Value) -> Value:
    """Squares attacked in one of the directions of rooks, which lie within the occupied squares."""
    walls = _wide(occupied)
    if direction == EAST:
        reached = _less(walls, twice(_wide(rooks)))
    elif direction == WEST:
        reached = times(_less(times(walls, RISING), times(_wide(rooks), RISING_BY_ONE)), RISING)
    elif direction == SOUT:
        reached = files(_less(files(walls, FALLING), twice(files(_wide(rooks), FALLING))), FALLING)
    else:
        assert direction == NORT
        flipped, north = make("flip", occupied), make("flip", rooks) >> 8
        reached = files(_less(files(_wide(flipped), FALLING), files(_wide(north), FALLING)), RISING)
    return reshaped("low-half", walls ^ reached)


def _wide(board: Value) -> Value:
    """The board in a vector register, nothing beside it."""
    return beside(board, constant(0))


def _less(walls: Value, steps: Value) -> Value:
    """A borrow walks up each byte from the first square of each ray to its next wall."""
    return make("sub-bytes", walls, steps)
