"""Bit-matrix products of the bytes of a board (GFNI): bit reversal of ranks, and transposition of files to bytes.

A matrix has 64 bits. Its highest byte is the row of the lowest result bit.
"""

from setwise.codegen.ir.values import Value, constant, make

RISING = sum(1 << 9 * at for at in range(8))
"""One bit per byte, from bit 0 of byte 0 to bit 7 of byte 7. As a matrix it reverses the bits of each byte."""
RISING_BY_ONE = sum(1 << 9 * at + 1 for at in range(7))
"""A matrix that reverses the bits of each byte and shifts them left by one."""
LOWER_BY_ONE = sum(1 << 7 * at + 8 for at in range(1, 8))
"""A matrix that shifts the bits of each byte right by one."""
FALLING = sum(1 << 7 * at for at in range(1, 9))
"""One bit per byte, from bit 7 of byte 0 to bit 0 of byte 7. As a matrix it is the identity."""


def times(board: Value, matrix: int) -> Value:
    """Return the product of a matrix and each byte of a board."""
    return _affine(board, constant(matrix, board.lanes))


def files(board: Value, bits: int) -> Value:
    """Return files of the board as bytes.

    Byte j of the result is the file that the single bit in byte j of `bits` selects, with rank 1 in bit 7.
    """
    return _affine(constant(bits, board.lanes), board)


def _affine(board: Value, matrix: Value) -> Value:
    return make("affine", board, matrix, attr=(0,) * board.lanes)
