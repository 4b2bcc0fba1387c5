"""The domain of samples: one Python integer holds many samples side by side, for fast trials of programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from setwise.analysis.semantics.domains import FOLD, Bits, Domain

PITCH = 136
"""The bits from one sample to the next: two words and the bits of a carry or shift, in whole bytes."""

BYTES = PITCH // 8


class Sampled:
    """A value for each sample, the first lowest, in one integer, PITCH bits apart; bits above a value's width are 0."""

    __slots__ = ("bits",)

    def __init__(self, bits: int) -> None:
        self.bits = bits


class Samples(Domain):
    """The domain of `number` samples. A value that is the same in all may be an integer. `units` is 1 in each sample.

    Most operations treat all samples at once, because Python adds and masks long integers fast.

    >>> domain = Samples(2)
    >>> domain.words(domain.shl(domain.of([1, 3]), 63, 64)) == [1 << 63, 1 << 63]
    True
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.units = int.from_bytes((b"\x01" + bytes(BYTES - 1)) * number, "little")
        self._repeated: dict[int, int] = {}

    def of(self, words: Iterable[int]) -> Sampled:
        """Return the value with these words, one for each sample."""
        return Sampled(int.from_bytes(b"".join(word.to_bytes(BYTES, "little") for word in words), "little"))

    def words(self, value: Bits) -> list[int]:
        """Return the words of a value, one for each sample."""
        if isinstance(value, int):
            return [value] * self.number
        whole = value.bits.to_bytes(self.number * BYTES, "little")
        return [int.from_bytes(whole[at : at + BYTES], "little") for at in range(0, len(whole), BYTES)]

    def joined(self, values: Iterable[Bits], each: Samples) -> Sampled:
        """Return as one value the samples of several values of the smaller domain `each`, one value after the other."""
        size = each.number * BYTES
        return Sampled(
            int.from_bytes(b"".join(each.every(value).to_bytes(size, "little") for value in values), "little")
        )

    def repeated(self, value: Bits, each: Samples) -> Bits:
        """Return the samples of a value of the smaller domain `each`, repeated to the size of this one."""
        if isinstance(value, int):
            return value
        whole = value.bits.to_bytes(each.number * BYTES, "little")
        return Sampled(int.from_bytes(whole * (self.number // each.number), "little"))

    def differing(self, value: Bits, other: Bits, width: int = 64) -> int:
        """Return an integer, samples PITCH bits apart, with a 1 in the lowest bit of each where two values differ."""
        return self.every(self.ne(value, other, width))

    def every(self, value: Bits) -> int:
        """Return a value's samples in one integer, PITCH bits apart. A plain integer is repeated for each."""
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
            raise TypeError(f"{kind} of values that are too wide for samples")
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
        """Return the differences, each with an extra bit above, which is 1 if nothing was borrowed."""
        return self.every(a) + (self.units << width) - self.every(b)

    def _product(self, a: Bits, b: Bits, width: int) -> int:
        for known, other in ((a, b), (b, a)):
            if isinstance(known, int) and known.bit_length() + width <= PITCH:
                return self.every(other) * known & self._ones(width)
        return self._each("BV_MUL", a, b, width)

    def _each(self, kind: str, a: Bits, b: Bits, width: int) -> int:
        """Apply an operation to one sample after the other, and return the results in one integer."""
        return self.of(FOLD[kind](x, y, width) for x, y in zip(self.words(a), self.words(b), strict=True)).bits

    def _shifted(self, a: Bits, count: Bits, width: int, kind: str) -> int:
        if isinstance(count, int):
            return self._shifted_by(kind, self.every(a), min(count, width), width)
        return self._each(kind, a, count, width)

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
    **{kind: partial(Samples._shifted, kind=kind) for kind in ("BV_SHL", "BV_SHR", "BV_ASHR")},
    "BV_COMP": Samples._equal,
    "BV_ULT": lambda d, a, b, width: d._difference(a, b, width) >> width & d.units ^ d.units,
}
