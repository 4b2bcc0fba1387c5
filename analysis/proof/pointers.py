"""Bit-vectors that know which of them are addresses: a base that may lie anywhere, and the distance from it.

So a proof holds wherever code, stack and buffers lie. An address whose distance is lost, by an operation other than
adding and subtracting, becomes an ordinary term over the base, still right for every base. `Addresses.flattened` names
the bases that are in such terms: what is assumed of their places matters to the solver only then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from setwise.analysis.semantics.domains import Bits, BitVectors, identical

_WORD = (1 << 64) - 1
_DEEPEST_SUM = 12  # nested sums: each may go two ways
_DEEPEST_TERM = 200  # nested terms that are looked into


@dataclass(frozen=True, slots=True)
class Base:
    """A place in the lower half of the address space, where all of a process lies, at a multiple of `alignment`.

    That is a power of 2.
    """

    name: str
    alignment: int


@dataclass(frozen=True, slots=True, eq=False)
class Pointer:
    """`base` + `offset`, and where it is not None + `index`, a term of 64 bits."""

    base: Base
    offset: int
    index: Bits | None = None


class Addresses(BitVectors):
    """The domain of bitwuzla's terms with pointers among its values."""

    def __init__(self) -> None:
        super().__init__()
        self.flattened: dict[Base, Any] = {}

    def term(self, a: Bits, width: int) -> Any:
        """The value as a term, also where it is known or an address."""
        return super().term(self.flat(a), width)

    def _term(self, kind: str, *operands: tuple[Bits, int], indices: tuple[int, ...] = ()) -> Bits:
        for value, _ in operands:  # a loop, for this is done millions of times
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
        """The value with each unknown that is a key here replaced by what stands behind it, all at once."""
        return a if isinstance(a, int) or not names else self.terms.substitute_term(self.term(a, width), dict(names))

    def distance(self, a: Bits, b: Bits) -> int | None:
        """a - b, of 64 bits, where adding up shows that it is the same for all choices of the unknowns; else None."""
        parts: dict[Any, int] = {}
        self._add_up(self.term(a, 64), 1, parts, _DEEPEST_SUM)
        self._add_up(self.term(b, 64), -1, parts, _DEEPEST_SUM)
        total = parts.pop(None, 0)
        return None if any(times & _WORD for times in parts.values()) else total & _WORD

    def rebased(self, address: Bits) -> Pointer | None:
        """Return an address that is a sum over just one base as its distance from that, as for a + (b - a)."""
        parts: dict[Any, int] = {}
        self._add_up(self.term(address, 64), 1, parts, _DEEPEST_SUM)
        offset, times = parts.pop(None, 0) & _WORD, {base: parts.pop(term, 0) for base, term in self.flattened.items()}
        found = [base for base, number in times.items() if number & _WORD]
        if len(found) != 1 or times[found[0]] & _WORD != 1:
            return None
        index: Bits = 0
        for term, number in parts.items():
            index = self.add(index, self.mul(term, number & _WORD, 64), 64)
        return Pointer(found[0], offset, None if isinstance(index, int) else index)

    def _add_up(self, term: Any, times: int, parts: dict[Any, int], deeper: int) -> None:
        """Adds that many times the term to the sum of `parts`, each so many times; the number 1 stands under None."""
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
        """By how much the term, of 64 bits, is another shifted to the left, as `shl` writes it; else None."""
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
        """Return a mask of the bits that may be 1; all others are surely 0."""
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
        if kind == kinds.BV_ADD and parts[0] & parts[1]:  # without a bit in common nothing is carried
            return ((1 << sum(parts).bit_length()) - 1) & ((1 << width) - 1)
        if kind == kinds.BV_CONCAT:
            return parts[0] << int(operands[1].sort().bv_size()) | parts[1]
        if kind == kinds.BV_EXTRACT:
            high, low = map(int, term.indices())
            return parts[0] >> low & ((1 << high - low + 1) - 1)
        return parts[0] | parts[1]

    def flat(self, a: Bits) -> Bits:
        """Return an address as a term over its base; any other value as it is."""
        if not isinstance(a, Pointer):
            return a
        total = self.add(self._of(a.base), a.offset, 64)
        return total if a.index is None else self.add(total, a.index, 64)

    def _of(self, base: Base) -> Any:
        """The base as a term; its lowest bits and the highest are 0 by its making."""
        if base not in self.flattened:
            low = base.alignment.bit_length() - 1
            unknown = self.variable(base.name, 63 - low)
            self.flattened[base] = self.concat(0, self.concat(unknown, 0, 63 - low, low), 1, 63)
        return self.flattened[base]


def same(a: Any, b: Any) -> bool:
    """Return whether two values are the same number, term, address or object; other terms may be equal all the same."""
    if isinstance(a, Pointer) and isinstance(b, Pointer):
        return a.base == b.base and a.offset == b.offset and identical(a.index, b.index)
    return identical(a, b)
