"""Bit-vectors in which addresses are kept as a symbolic base and a distance.

So a proof holds wherever code, stack and buffers are. Adding or subtracting a distance keeps this form, and so does
rounding a base plus a constant down to a multiple of a power of 2. Most other operations turn an address into an
ordinary term over the base, which is right for every base, too. `Addresses.flattened` holds the bases that occur in
such terms; only for these does the solver need assumptions about their placement.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from setwise.analysis.semantics.domains import Bits, BitVectors, identical

_WORD = (1 << 64) - 1
_DEEPEST_SUM = 12  # most levels of nested sums that are taken apart: each level may double the work
_DEEPEST_TERM = 200  # most levels of nested terms that are examined for possible bits


@dataclass(frozen=True, slots=True)
class Base:
    """An unknown address in the lower half of the address space, a multiple of `alignment`, which is a power of 2."""

    name: str
    alignment: int


@dataclass(frozen=True, slots=True, eq=False)
class Pointer:
    """The address `base` + `offset`, plus the 64-bit term `index` if that is not None."""

    base: Base
    offset: int
    index: Bits | None = None


class Addresses(BitVectors):
    """The domain of bitwuzla terms, extended by pointers."""

    def __init__(self) -> None:
        super().__init__()
        self.flattened: dict[Base, Any] = {}
        self._unknowns: dict[tuple[str, int], Bits] = {}

    def unknown(self, name: str, width: int = 64) -> Bits:
        """Return the variable of that name and width, the same each time, so that equal queries are recognized."""
        if (name, width) not in self._unknowns:
            self._unknowns[name, width] = self.variable(name, width)
        return self._unknowns[name, width]

    def term(self, a: Bits, width: int) -> Any:
        """Return the value as a term, even if it is a number or a pointer."""
        return super().term(self.flat(a), width)

    def _term(self, kind: str, *operands: tuple[Bits, int], indices: tuple[int, ...] = ()) -> Bits:
        for value, _ in operands:  # a loop for speed: this runs millions of times
            if isinstance(value, Pointer):
                break
        else:
            return super()._term(kind, *operands, indices=indices)
        match (kind, *(value for value, _ in operands)):
            case ("BV_ADD", Pointer() as a, int() as b) | ("BV_ADD", int() as b, Pointer() as a):
                return Pointer(a.base, (a.offset + b) & _WORD, a.index)
            case ("BV_ADD", Pointer() as a, b) | ("BV_ADD", b, Pointer() as a) if not isinstance(b, Pointer):
                return Pointer(a.base, a.offset, b if a.index is None else self.add(a.index, b, 64))
            case ("BV_SUB", Pointer() as a, Pointer() as b) if a.base == b.base:
                indices_apart = self.sub(0 if a.index is None else a.index, 0 if b.index is None else b.index, 64)
                return self.add(indices_apart, (a.offset - b.offset) & _WORD, 64)
            case ("BV_SUB", Pointer() as a, b) if not isinstance(b, Pointer):
                return self.add(a, self.sub(0, b, 64), 64)
            case ("BV_ADD" | "BV_SUB" | "BV_SHL" | "BV_SHR", Pointer() as a, int() as b) if b == 0:
                return a
            case ("BV_AND", Pointer(index=None) as a, int() as b) | ("BV_AND", int() as b, Pointer(index=None) as a):
                step = (~b & _WORD) + 1
                if b and step & (step - 1) == 0:  # rounds down to a multiple of step
                    width = step.bit_length() - 1
                    return self.sub(a, self.concat(0, self.extract(a, 0, width, 64), 64 - width, width), 64)
            case ("BV_COMP", Pointer(index=None) as a, Pointer(index=None) as b) if a.base == b.base:
                return int(a.offset == b.offset)
            case ("BV_EXTRACT", Pointer() as a) if 2 << indices[0] <= a.base.alignment:
                low = a.offset if a.index is None else self.add(a.index, a.offset, 64)
                return self.extract(low, indices[1], indices[0] - indices[1] + 1, 64)
        return super()._term(kind, *((self.flat(value), width) for value, width in operands), indices=indices)

    def renamed(self, a: Bits, names: Mapping[Bits, Bits], width: int) -> Bits:
        """Return the value with each term in `names` replaced by the value that it maps to, all simultaneously."""
        return a if isinstance(a, int) or not names else self.terms.substitute_term(self.term(a, width), dict(names))

    def elsewhere(self, values: Sequence[Bits], kept: Collection[Base]) -> list[Bits]:
        """Return 64-bit values with each base replaced by a new one of the same alignment, but not those in `kept`."""
        values = [self.flat(value) for value in values]
        names: dict[Bits, Bits] = {}
        for base, term in self.flattened.items():
            if base not in kept:
                inner = term.children()[1]  # below the highest bit, which is 0
                unknown = inner.children()[0] if base.alignment > 1 else inner
                names[unknown] = self.variable(f"another {base.name}", int(unknown.sort().bv_size()))
        return [self.renamed(value, names, 64) for value in values]

    def distance(self, a: Bits, b: Bits) -> int | None:
        """Return a - b modulo 2**64 if linear arithmetic shows that it is constant; else None."""
        total, parts = self._linear((a, 1), (b, -1))
        return None if any(times & _WORD for times in parts.values()) else total

    def rebased(self, address: Bits) -> Pointer | None:
        """Return a sum that has one base of `flattened`, once, as a pointer from it: b for a + (b - a); else None."""
        offset, parts = self._linear((address, 1))
        times = {base: parts.pop(term, 0) for base, term in self.flattened.items()}
        found = [base for base, number in times.items() if number & _WORD]
        if len(found) != 1 or times[found[0]] & _WORD != 1:
            return None
        return Pointer(found[0], offset, self._sum(parts))

    def parted(self, pointer: Pointer) -> Pointer:
        """Return the pointer with the constant part of its index in its offset."""
        constant, parts = self._linear((0 if pointer.index is None else pointer.index, 1))
        return Pointer(pointer.base, (pointer.offset + constant) & _WORD, self._sum(parts)) if constant else pointer

    def _linear(self, *summands: tuple[Bits, int]) -> tuple[int, dict[Any, int]]:
        """Return a sum of values, each with a factor, as its constant part and the factors of its terms."""
        parts: dict[Any, int] = {}
        for value, times in summands:
            self._add_up(self.term(value, 64), times, parts, _DEEPEST_SUM)
        return parts.pop(None, 0) & _WORD, parts

    def _sum(self, parts: Mapping[Any, int]) -> Bits | None:
        index: Bits = 0
        for term, number in parts.items():
            index = self.add(index, self.mul(term, number & _WORD, 64), 64)
        return None if isinstance(index, int) else index

    def _add_up(self, term: Any, times: int, parts: dict[Any, int], deeper: int) -> None:
        """Add `times` times the term to `parts`, a linear sum: the factors of terms, and the constant at None.

        Sums, left shifts and products with constants are taken apart, `deeper` levels deep.
        """
        kind, kinds, children = term.kind(), self._kind, term.children()
        if term.is_value():
            parts[None] = parts.get(None, 0) + times * int(term.value(10))
        elif deeper and kind in (kinds.BV_ADD, kinds.BV_SUB):
            self._add_up(children[0], times, parts, deeper - 1)
            self._add_up(children[1], times if kind == kinds.BV_ADD else -times, parts, deeper - 1)
        elif deeper and kind == kinds.BV_MUL and (known := [child for child in children if child.is_value()]):
            (other,) = [child for child in children if not child.is_value()]
            self._add_up(other, times * int(known[0].value(10)), parts, deeper - 1)
        elif deeper and (shift := self._shift(term)) is not None:
            self._add_up(children[0].children()[0], times << shift, parts, deeper - 1)
        else:
            parts[term] = parts.get(term, 0) + times

    def _shift(self, term: Any) -> int | None:
        """Return the count if the 64-bit term is a left shift as `shl` builds it; else None."""
        kinds = self._kind
        if term.kind() != kinds.BV_CONCAT:
            return None
        high, low = term.children()
        if high.kind() != kinds.BV_EXTRACT or not low.is_value() or int(low.value(10)):
            return None
        shift: int = low.sort().bv_size()
        whole = high.children()[0].sort().bv_size() == 64
        return shift if whole and high.indices() == [63 - shift, 0] else None

    def possible(self, a: Bits, width: int) -> int:
        """Return a mask of the bits that may be 1; all other bits are known to be 0."""
        return a if isinstance(a, int) else self._possible(self.term(a, width), {}, _DEEPEST_TERM)

    def _possible(self, term: Any, seen: dict[int, int], deeper: int) -> int:
        if term.id() not in seen:
            seen[term.id()] = self._possible_of(term, seen, deeper)
        return seen[term.id()]

    def _possible_of(self, term: Any, seen: dict[int, int], deeper: int) -> int:
        kind, kinds, width = term.kind(), self._kind, int(term.sort().bv_size())
        followed = (kinds.BV_AND, kinds.BV_OR, kinds.BV_XOR, kinds.BV_ADD, kinds.ITE, kinds.BV_CONCAT, kinds.BV_EXTRACT)
        if term.is_value():
            return int(term.value(10))
        if kind not in followed or not deeper:
            return (1 << width) - 1
        operands = term.children()[kind == kinds.ITE :]
        parts = [self._possible(operand, seen, deeper - 1) for operand in operands]
        if kind == kinds.BV_AND:
            return parts[0] & parts[1]
        if kind == kinds.BV_ADD and parts[0] & parts[1]:  # without common bits there is no carry
            return ((1 << sum(parts).bit_length()) - 1) & ((1 << width) - 1)
        for (one, bits), (masked, _) in permutations(zip(operands, parts, strict=True)) if kind == kinds.BV_XOR else ():
            if masked.kind() == kinds.BV_AND and one in masked.children():  # x ^ x & mask is x & ~mask
                masks = [int(each.value(10)) for each in masked.children() if each.is_value() and each != one]
                return bits & ~sum(masks)
        if kind == kinds.BV_CONCAT:
            return parts[0] << int(operands[1].sort().bv_size()) | parts[1]
        if kind == kinds.BV_EXTRACT:
            high, low = map(int, term.indices())
            return parts[0] >> low & ((1 << high - low + 1) - 1)
        return parts[0] | parts[1]

    def flat(self, a: Bits) -> Bits:
        """Return a pointer as a term over its base, and any other value unchanged."""
        if not isinstance(a, Pointer):
            return a
        total = self.add(self._of(a.base), a.offset, 64)
        return total if a.index is None else self.add(total, a.index, 64)

    def _of(self, base: Base) -> Any:
        """Return the term of a base. Its highest bit and the bits below its alignment are 0."""
        if base not in self.flattened:
            low = base.alignment.bit_length() - 1
            unknown = self.variable(base.name, 63 - low)
            self.flattened[base] = self.concat(0, self.concat(unknown, 0, 63 - low, low), 1, 63)
        return self.flattened[base]


def same(a: Any, b: Any) -> bool:
    """Return whether two values are identical numbers, terms, addresses or objects. Different terms may be equal."""
    if isinstance(a, Pointer) and isinstance(b, Pointer):
        return a.base == b.base and a.offset == b.offset and identical(a.index, b.index)
    return identical(a, b)
