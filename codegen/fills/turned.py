"""Attacks of rooks by bytewise subtraction on turned boards: the ray must lead to higher bits of a byte.

GFNI multiplies bytes by a bit matrix. A matrix can reverse the bits of bytes: then the west ray leads to higher bits.
With the board as the matrix and one-bit bytes as the data, files become bytes: then the south ray leads to higher bits,
and the north ray to lower ones. Source: setwise.

One board is turned in one lane of a vector register. The subtraction with its turns has a shorter critical path than a
fill. General registers fill the rays of bishops meanwhile.
"""

from setwise.codegen.board import EAST, NORT, SOUT, WEST, Direction
from setwise.codegen.fills.push import twice
from setwise.codegen.ir.matrices import FALLING, RISING, RISING_BY_ONE, files, times
from setwise.codegen.ir.values import Value, beside, constant, make, reshaped


def attacks(direction: Direction, rooks: Value, occupied: Value) -> Value:
    """Return the squares attacked in one rook direction. Rooks must be a subset of the occupied squares."""
    walls = _wide(occupied)
    if direction == EAST:
        reached = _to_higher(_wide(rooks), walls)
    elif direction == WEST:
        reached = _to_lower(_wide(rooks), walls)
    elif direction == SOUT:
        reached = files(_to_higher(files(_wide(rooks), FALLING), files(walls, FALLING)), FALLING)
    else:
        assert direction == NORT
        flipped, north = make("flip", occupied), make("flip", rooks) >> 8
        reached = files(_less(files(_wide(flipped), FALLING), files(_wide(north), FALLING)), RISING)
    return reshaped("low-half", walls ^ reached)


def of_boards(direction: Direction, rooks: Value, occupied: Value) -> Value:
    """Return the squares attacked in one rook direction on the board of each lane, by the fewest operations."""
    if direction in (NORT, SOUT):
        along = WEST if direction == NORT else EAST
        return files(of_boards(along, files(rooks, FALLING), files(occupied, FALLING)), FALLING)
    return occupied ^ (_to_higher if direction == EAST else _to_lower)(rooks, occupied)


def _to_higher(rooks: Value, occupied: Value) -> Value:
    """Return the occupied squares, inverted where rooks attack higher bits of their byte."""
    return _less(occupied, twice(rooks))


def _to_lower(rooks: Value, occupied: Value) -> Value:
    """Return the occupied squares, inverted where rooks attack lower bits of their byte."""
    return times(_less(times(occupied, RISING), times(rooks, RISING_BY_ONE)), RISING)


def _wide(board: Value) -> Value:
    """Return two lanes, which use a vector register: the board, and zero."""
    return beside(board, constant(0))


def _less(walls: Value, steps: Value) -> Value:
    """Return `walls - steps` bytewise. A borrow propagates to a wall from a ray's first square, which is in `steps`."""
    return make("sub-bytes", walls, steps)
