"""The words of several lanes on the samples of each, packed in one integer, and bitwise operations on all of them."""

from functools import reduce
from operator import or_

from setwise.analysis.semantics.samples import Sampled, Samples

ONES = (1 << 64) - 1
_LOW, _HIGH = 0x7F7F_7F7F_7F7F_7F7F, 0x8080_8080_8080_8080


class PackedSamples(Samples):
    """The samples of `few` for each of several lanes, those of the first lane first."""

    def __init__(self, few: Samples, lanes: int) -> None:
        super().__init__(few.number * lanes)
        self.few, self.lanes = few, lanes
        self.ones = self.every(ONES)

    def two(self, op: str, a: int, b: int) -> int:
        """Return the result of an operation on two values."""
        if op == "and":
            return a & b
        if op == "or":
            return a | b
        if op == "xor":
            return a ^ b
        if op == "andn":
            return b & ~a
        if op == "add":
            return a + b & self.ones
        every = self.every
        if op == "sub":
            return a + (self.units << 64) - b & self.ones
        low, high = every(_LOW), every(_HIGH)
        if op == "add-bytes":
            return (a & low) + (b & low) ^ (a ^ b) & high
        return (a | high) - (b & low) ^ (a ^ ~b) & high

    def turned(self, op: str, a: int, count: int) -> int:
        """Return a value shifted or rotated by a count."""
        every = self.every
        left = (a & every(ONES >> count)) << count
        if op == "shl":
            return left
        if op == "shr":
            return a >> count & every(ONES >> count)
        return left | a >> 64 - count & every((1 << count) - 1)

    def some(self, bits: int) -> tuple[int, ...]:
        """Return for each lane the bits that are set in some sample."""
        words, number = self.words(Sampled(bits)), self.few.number
        return tuple([reduce(or_, words[at : at + number]) for at in range(0, len(words), number)])


def truth_table(a: int, b: int, c: int, ones: int, zeros: int) -> int | None:
    """Return a truth table that maps a, b, c to 1 in the bits `ones` and to 0 in `zeros`, or None if there is none."""
    table = 0
    for row in range(8):
        here = (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
        if here & ones:
            if here & zeros:
                return None
            table |= 1 << row
    return table
