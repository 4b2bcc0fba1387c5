"""Attacks of rooks by bytewise subtraction on turned boards: the ray must lead to higher bits of a byte.

GFNI multiplies bytes by a bit matrix. A matrix can reverse the bits of bytes: then the west ray leads to higher bits.
With the board as the matrix and one-bit bytes as the data, files become bytes: then the south ray leads to higher bits,
and on a flipped board the north ray does. All this is done in one lane of vector registers. The subtraction with its
turns has a shorter critical path than a fill. General registers fill the rays of bishops meanwhile. Source: setwise.
"""

from setwise.codegen.board import EAST, NORT, SOUT, WEST, Direction
from setwise.codegen.fills.push import twice
from setwise.codegen.ir.matrices import FALLING, RISING, RISING_BY_ONE, files, times
from setwise.codegen.ir.values import Value, beside, constant, make, reshaped


def attacks(direction: Direction, rooks: Value, occupied: Value) -> Value:
    """Return the squares attacked in one rook direction. Rooks must be a subset of the occupied squares."""
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
    """Return two lanes, which use a vector register: the board, and zero."""
    return beside(board, constant(0))


def _less(walls: Value, steps: Value) -> Value:
    """Return `walls - steps` bytewise. A borrow propagates to a wall from a ray's first square, which is in `steps`."""
    return make("sub-bytes", walls, steps)
