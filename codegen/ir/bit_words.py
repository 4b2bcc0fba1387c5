"""Operators of a value, and words of chess programmers and of Intel: flips, lowest bits, bit gathering, comparisons.

Each works lane by lane. A comparison gives a mask: all ones or 0. `Value` inherits the words; most are compositions of
its operators, the others operations that passes rewrite for targets without an instruction.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import or_, xor
from typing import Self, TypeVar

Lanes = tuple[int, ...]
T = TypeVar("T")
V = TypeVar("V", bound="BitWords")

_LOW = (1 << 32) - 1
_NIBBLES = 0x1111_1111_1111_1111


def _operator(op: str) -> Callable[[V, V | int], V]:
    """Return the operator of values for an operation."""
    return lambda value, other: value._made(op, other)


def _in_place(operator: Callable[[V, T], V]) -> Callable[[V, T], V]:
    """Return the in-place form of an operator, such as &= for &."""
    return lambda value, other: operator(value, other)._assigned()


class BitWords:
    """The operators and words of a value. Operands may be integers, which stand for the same number in every lane."""

    __slots__ = ()

    @property
    def constant(self) -> Lanes | None:
        """The lanes of a constant, or None for any other value."""
        raise NotImplementedError

    def _made(self, op: str, *others: Self | int) -> Self:
        """Return the value of an operation on this value and others."""
        raise NotImplementedError

    def _shifted(self, op: str, count: int | Lanes | Self) -> Self:
        """Return the value of a shift or rotate."""
        raise NotImplementedError

    def _assigned(self) -> Self:
        """Return the value marked as the result of an in-place operator."""
        raise NotImplementedError

    def _with(self, other: Self | int) -> tuple[Self, Self]:
        return self, self & 0 | other

    # -- operators

    __and__ = _operator("and")
    __or__ = _operator("or")
    __xor__ = _operator("xor")
    __add__ = _operator("add")
    __sub__ = _operator("sub")
    __mul__ = _operator("mul")
    __rand__, __ror__, __rxor__, __radd__, __rmul__ = __and__, __or__, __xor__, __add__, __mul__

    def __rsub__(self, other: int) -> Self:
        return self._with(other)[1] - self

    def __invert__(self) -> Self:
        return self._made("not")

    def __neg__(self) -> Self:
        return self._made("neg")

    def __lshift__(self, count: int | Lanes | Self) -> Self:
        return self._shifted("shl", count)

    def __rshift__(self, count: int | Lanes | Self) -> Self:
        return self._shifted("shr", count)

    def __rlshift__(self, other: int) -> Self:
        return self._with(other)[1] << self

    __iand__ = _in_place(__and__)
    __ior__ = _in_place(__or__)
    __ixor__ = _in_place(__xor__)
    __iadd__ = _in_place(__add__)
    __isub__ = _in_place(__sub__)
    __ilshift__ = _in_place(__lshift__)
    __irshift__ = _in_place(__rshift__)

    def rotate(self, count: int | Lanes | Self) -> Self:
        """Rotate left by `count`; a negative count rotates right."""
        return self._shifted("rotl", count)

    rotate_left = rotate

    def arithmetic_shift_right(self, count: int | Lanes | Self) -> Self:
        """Shift right by `count`, modulo 64 if it is a value, with copies of the highest bit shifted in."""
        return self._shifted("sar", count)

    # -- the board, turned and reflected

    def flip_vertical(self) -> Self:
        """Return the board with its ranks in reverse order: a1 becomes a8."""
        return self._made("flip")

    byte_swap = flip_vertical

    def flip_horizontal(self) -> Self:
        """Return the board with its files in reverse order: a1 becomes h1."""
        return reduce(swapped_fields, (1, 2, 4), self)

    def rotate_180(self) -> Self:
        """Return the board, turned by half: a1 becomes h8, and the bits are in reverse order."""
        return self.flip_horizontal().flip_vertical()

    reverse_bits = rotate_180

    def flip_diagonal(self) -> Self:
        """Return the board, reflected in the diagonal from a1 to h8: b1 becomes a2."""
        swaps = (28, 0xF0F0_F0F0), (14, 0x0000_CCCC_0000_CCCC), (7, 0x00AA_00AA_00AA_00AA)
        return reduce(_exchanged, swaps, self)

    def flip_anti_diagonal(self) -> Self:
        """Return the board, reflected in the diagonal from a8 to h1: a1 becomes h8."""
        swaps = (36, 0x0F0F_0F0F), (18, 0x0000_3333_0000_3333), (9, 0x0055_0055_0055_0055)
        return reduce(_exchanged, swaps, self)

    # -- the lowest and the highest bit

    def isolate_lsb(self) -> Self:
        """Return the lowest set bit alone; 0 for an empty board."""
        return self._made("isolate-lsb")

    def clear_lsb(self) -> Self:
        """Return the board without its lowest set bit."""
        return self._made("clear-lsb")

    def mask_to_lsb(self) -> Self:
        """Return all squares up to and with the lowest set bit; all squares for an empty board."""
        return self._made("mask-to-lsb")

    def bit_scan_forward(self) -> Self:
        """Return the number of the lowest set bit; 64 for an empty board."""
        return self._made("tzcnt")

    def bit_scan_reverse(self) -> Self:
        """Return the number of the highest set bit; 2**64 - 1 for an empty board."""
        return reduce(lambda x, n: x | x >> n, (1, 2, 4, 8, 16, 32), self).popcount() - 1

    def popcount(self) -> Self:
        """Return the number of set bits in each lane."""
        return self._made("popcount")

    # -- bits gathered and scattered

    def extract_bits(self, mask: Self | int) -> Self:
        """Return the bits at the squares of `mask`, packed from the lowest bit: pext, which is slow before AMD Zen 3.

        Without BMI2 and in lanes it takes 20 to 30 instructions for a constant mask, and 110 to 180 for another one.
        """
        return self._made("gather", mask)

    def deposit_bits(self, mask: Self | int) -> Self:
        """Return the lowest bits, spread in order to the squares of `mask`: pdep, with the costs of `extract_bits`."""
        return self._made("scatter", mask)

    # -- arithmetic

    def carryless_product(self, other: Self | int) -> Self:
        """Return the low 64 bits of the product without carries, in which bits are added by xor."""
        # Products of every fourth bit leave room for the sums: up to 15 in each place but the highest.
        parts = [[each & (_NIBBLES << at) for at in range(4)] for each in self._with(other)]
        sums = (
            reduce(xor, (parts[0][at] * parts[1][(to - at) % 4] for at in range(4))) & (_NIBBLES << to)
            for to in range(4)
        )
        return reduce(or_, sums)

    def high_product(self, other: Self | int) -> Self:
        """Return the high 64 bits of the 128-bit product of unsigned numbers."""
        (low, high), (its_low, its_high) = ((x & _LOW, x >> 32) for x in self._with(other))
        middle = high * its_low + (low * its_low >> 32)
        other_middle = low * its_high + (middle & _LOW)
        return high * its_high + (middle >> 32) + (other_middle >> 32)

    def add_with_carry(self, other: Self | int, carry: Self | int = 0) -> tuple[Self, Self]:
        """Return the sum of both and a carry of 0 or 1, modulo 2**64, and the carry out of it."""
        total = self + other + carry
        return total, (self & other | (self | other) & ~total) >> 63

    # -- comparisons

    def equals(self, other: Self | int) -> Self:
        """Return the mask of the lanes in which both are equal."""
        return self._made("equal", other)

    def is_empty(self) -> Self:
        """Return the mask of the lanes that are 0."""
        return self.equals(0)

    def less(self, other: Self | int) -> Self:
        """Return the mask of the lanes in which this unsigned number is less than the other."""
        return self._made("less", other)

    def less_signed(self, other: Self | int) -> Self:
        """Return the mask of the lanes in which this signed number is less than the other."""
        return self._made("less-signed", other)

    def minimum(self, other: Self | int) -> Self:
        """Return the lesser of two unsigned numbers."""
        return chosen(self.less(other), self, other)

    def maximum(self, other: Self | int) -> Self:
        """Return the greater of two unsigned numbers."""
        return chosen(self.less(other), other, self)

    def minimum_signed(self, other: Self | int) -> Self:
        """Return the lesser of two signed numbers."""
        return chosen(self.less_signed(other), self, other)

    def maximum_signed(self, other: Self | int) -> Self:
        """Return the greater of two signed numbers."""
        return chosen(self.less_signed(other), other, self)


def chosen(mask: V, one: V | int, other: V | int) -> V:
    """Return `one` where the mask has ones, else `other`."""
    if one is other:
        return mask & 0 | one
    return mask & (one ^ other) ^ other if mask.constant is None else mask & one | ~mask & other


def _exchanged(value: V, swap: tuple[int, int]) -> V:
    """Exchange the bits of a mask with those that are `count` bits above, given as (count, mask)."""
    count, mask = swap
    moved = (value ^ value >> count) & mask
    return value ^ moved ^ moved << count


def swapped_fields(value: V, width: int) -> V:
    """Exchange neighbouring fields of `width` bits."""
    low = ((1 << 64) - 1) // ((1 << width) + 1)
    return value >> width & low | (value & low) << width
