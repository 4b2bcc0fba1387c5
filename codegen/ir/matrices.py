"""Bytes of a board times matrices of bits, which GFNI has: ranks are mirrored so, and files become bytes.

A matrix is a board, too: its highest byte makes the lowest bit.
"""

from __future__ import annotations

from setwise.codegen.ir.values import Value, constant, make

RISING = sum(1 << 9 * at for at in range(8))
"""Byte by byte one bit, from the lowest to the highest; as a matrix it mirrors bytes."""
RISING_BY_ONE = sum(1 << 9 * at + 1 for at in range(7))
"""As a matrix it mirrors bytes and moves their bits up by one."""
LOWER_BY_ONE = sum(1 << 7 * at + 8 for at in range(1, 8))
"""As a matrix it moves the bits of bytes down by one."""
FALLING = sum(1 << 7 * at for at in range(1, 9))
"""Byte by byte one bit, from the highest to the lowest."""


def times(board: Value, matrix: int) -> Value:
    """Each byte times a matrix."""
    return _affine(board, constant(matrix, board.lanes))


def files(board: Value, bits: int) -> Value:
    """The board's files as bytes, in the order of a bit of each byte of `bits`, their lowest square highest."""
    return _affine(constant(bits, board.lanes), board)


def _affine(board: Value, matrix: Value) -> Value:
    return make("affine", board, matrix, attr=(0,) * board.lanes)
