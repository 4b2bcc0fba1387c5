"""What programs compute with when they are tried on many samples at once: a Python integer holds them side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from setwise.analysis.semantics.domains import Bits, Domain, Integers

PITCH = 136
"""Bits from one sample to the next: twice a word, a bit that is carried or shifted out, and whole bytes."""

BYTES = PITCH // 8


class Sampled:
    """A value for each sample: bits above its width are 0."""

    __slots__ = ("bits",)

    def __init__(self, bits: int) -> None:
        self.bits = bits


class Samples(Domain):
    """The domain of so many samples; whatever is the same in all is an integer.

    An operation on all samples costs little more than on one: numbers of a few thousand bits are added, shifted and
    masked as they are.

    >>> domain = Samples(2)
    >>> domain.words(domain.shl(domain.of([1, 3]), 63, 64)) == [1 << 63, 1 << 63]
    True
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.units = int.from_bytes((b"\x01" + bytes(BYTES - 1)) * number, "little")
        self._repeated: dict[int, int] = {}

    def of(self, words: Iterable[int]) -> Sampled:
        """A value that has these words, one a sample."""
        return Sampled(int.from_bytes(b"".join(word.to_bytes(BYTES, "little") for word in words), "little"))

    def words(self, value: Bits) -> list[int]:
        """What the value is in each sample."""
        if isinstance(value, int):
            return [value] * self.number
        whole = value.bits.to_bytes(self.number * BYTES, "little")
        return [int.from_bytes(whole[at : at + BYTES], "little") for at in range(0, len(whole), BYTES)]

    def joined(self, values: Iterable[Bits], each: Samples) -> Sampled:
        """The samples of these values, which are of the domain `each`, one after the other."""
        size = each.number * BYTES
        return Sampled(
            int.from_bytes(b"".join(each.every(value).to_bytes(size, "little") for value in values), "little")
        )

    def repeated(self, value: Bits, each: Samples) -> Bits:
        """The samples of a value of the domain `each` again and again."""
        if isinstance(value, int):
            return value
        whole = value.bits.to_bytes(each.number * BYTES, "little")
        return Sampled(int.from_bytes(whole * (self.number // each.number), "little"))

    def differing(self, value: Bits, other: Bits, width: int = 64) -> int:
        """The integer in which the lowest bit of a sample's place is 1 where two values differ."""
        return self.every(self.ne(value, other, width))

    def every(self, value: Bits) -> int:
        """The value of all samples as one integer."""
        if not isinstance(value, int):
            bits: int = value.bits
            return bits
        if value not in self._repeated:
            self._repeated[value] = value * self.units
        return self._repeated[value]

    def _ones(self, width: int) -> int:
        return self.every((1 << width) - 1)

    def _term(self, kind: str, *operands: tuple[Bits, int], indices: tuple[int, ...] = ()) -> Bits:
        if max(width for _, width in operands) >= PITCH:
            raise TypeError(f"{kind} of values that are too wide to be tried")
        if kind == "BV_EXTRACT":
            high, low = indices
            return Sampled(self.every(operands[0][0]) >> low & self._ones(high - low + 1))
        if kind == "BV_CONCAT":
            (above, _), (below, low) = operands
            return Sampled(self.every(above) << low | self.every(below))
        if kind == "ITE":
            (condition, _), (a, width), (b, _) = operands
            chosen = (condition.bits << width) - condition.bits
            other = self.every(b)
            return Sampled((self.every(a) ^ other) & chosen ^ other)
        (a, width), (b, _) = operands
        if a is b and kind in _OF_ONE:
            return _OF_ONE[kind](a)
        return Sampled(_OF_TWO[kind](self, a, b, width))

    def _sum(self, a: Bits, b: Bits, width: int) -> int:
        return self.every(a) + self.every(b) & self._ones(width)

    def _difference(self, a: Bits, b: Bits, width: int) -> int:
        """One bit more than the width: it is 1 where nothing was borrowed."""
        return self.every(a) + (self.units << width) - self.every(b)

    def _product(self, a: Bits, b: Bits, width: int) -> int:
        for known, other in ((a, b), (b, a)):
            if isinstance(known, int) and known.bit_length() + width <= PITCH:
                return self.every(other) * known & self._ones(width)
        pairs = zip(self.words(a), self.words(b), strict=True)
        return self.of(x * y & (1 << width) - 1 for x, y in pairs).bits

    def _shifted(self, kind: str, a: Bits, count: Bits, width: int) -> int:
        if isinstance(count, int):
            return self._shifted_by(kind, self.every(a), min(count, width), width)
        pairs = zip(self.words(a), self.words(count), strict=True)
        shift = {"BV_SHL": _KNOWN.shl, "BV_SHR": _KNOWN.shr, "BV_ASHR": _KNOWN.sar}[kind]
        return self.of(shift(x, n, width) for x, n in pairs).bits

    def _shifted_by(self, kind: str, a: int, count: int, width: int) -> int:
        if kind == "BV_SHL":
            return (a & self._ones(width - count)) << count
        moved = a >> count & self._ones(width - count)
        if kind == "BV_ASHR":
            signs = a >> width - 1 & self.units
            moved |= signs * ((1 << count) - 1) << width - count
        return moved

    def _equal(self, a: Bits, b: Bits, width: int) -> int:
        differing = self.every(a) ^ self.every(b)
        return (differing + self._ones(width)) >> width & self.units ^ self.units


_KNOWN = Integers()
_OF_ONE: Mapping[str, Callable[[Bits], Bits]] = {
    "BV_AND": lambda a: a,
    "BV_OR": lambda a: a,
    "BV_XOR": lambda _: 0,
    "BV_SUB": lambda _: 0,
    "BV_COMP": lambda _: 1,
    "BV_ULT": lambda _: 0,
}
_OF_TWO: Mapping[str, Callable[[Samples, Bits, Bits, int], int]] = {
    "BV_AND": lambda d, a, b, _: d.every(a) & d.every(b),
    "BV_OR": lambda d, a, b, _: d.every(a) | d.every(b),
    "BV_XOR": lambda d, a, b, _: d.every(a) ^ d.every(b),
    "BV_ADD": Samples._sum,
    "BV_SUB": lambda d, a, b, width: d._difference(a, b, width) & d._ones(width),
    "BV_MUL": Samples._product,
    "BV_SHL": lambda d, *operands: d._shifted("BV_SHL", *operands),
    "BV_SHR": lambda d, *operands: d._shifted("BV_SHR", *operands),
    "BV_ASHR": lambda d, *operands: d._shifted("BV_ASHR", *operands),
    "BV_COMP": Samples._equal,
    "BV_ULT": lambda d, a, b, width: d._difference(a, b, width) >> width & d.units ^ d.units,
}
