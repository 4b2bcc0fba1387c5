"""Fill by subtraction: a borrow propagates eastward through the empty squares.

Source: Gerd Isenberg, CCC, 22 May 2005. In a general register a wall on the H file stops the borrow at the end of each
rank, and sliders on that file are removed: they attack nothing to the east. The post's SSE2 code subtracts byte by byte
and needs neither. Sliders must be a subset of the occupied squares.
"""

from setwise.codegen.board import FILE_H
from setwise.codegen.ir.values import Ray, Value, make


def doubled(_: Ray, rooks: Value, occupied: Value) -> Value:
    """Return eastward attacks as `occ ^ (occ - 2 * rooks)`, with the H file added to `occ`, removed from `rooks`."""
    wall = occupied | FILE_H
    return wall ^ (wall - ((rooks & ~FILE_H) << 1))


def cleared(_: Ray, rooks: Value, occupied: Value) -> Value:
    """Return eastward attacks as `occ ^ ((occ & ~rooks) - rooks)`, with the H file in `occ` and not in `rooks`."""
    wall = occupied | FILE_H
    rooks &= ~FILE_H
    return wall ^ ((wall & ~rooks) - rooks)


def doubled_bytewise(_: Ray, rooks: Value, occupied: Value) -> Value:
    """Return eastward attacks as `occ ^ (occ - 2 * rooks)` byte by byte, without H-file walls."""
    return occupied ^ make("sub-bytes", occupied, make("add-bytes", rooks, rooks))


def cleared_bytewise(_: Ray, rooks: Value, occupied: Value) -> Value:
    """Return eastward attacks as `occ ^ ((occ & ~rooks) - rooks)` byte by byte: the post's four instructions."""
    others = ~rooks & occupied
    others = make("sub-bytes", others, rooks, in_place=True)
    others ^= occupied
    return others
