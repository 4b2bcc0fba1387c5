"""The state of a path, and generic operations on it: copy, comparison, and forgetting at a loop's head.

A state is a `MachineState` over bit-vectors, with a `Space` as memory:

===================  ===================================================================================================
``registers``        general and mask registers by name, 64 bits each; rsp is an address within the stack
``vectors``          eight lanes of 64 bits for each vector register
``flags``            functions that return one bit; a flag that is missing or None is undefined
``memory.cells``     for each block of memory (stack, results, arrays of known length) its bounds and its bytes
``memory.arrays``    arrays of n boards: the number of boards done, and the boards accessed since then
``memory.must``      pending conditions of the current instruction; empty between instructions
``memory.facts``     words with known values on this path; not machine state, so a loop's head keeps them
===================  ===================================================================================================

`fork`, `leaves` and `changed` name no field: a state is a tree of dataclasses, mappings and tuples, and each leaf has a
key. A missing leaf is an unknown register, flag or byte. So a state includes another one if each of its leaves is also
a leaf of the other, with the same value. A new field takes part automatically, unless it is declared `apart`.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, NamedTuple, TypeVar

from setwise.analysis.proof.pointers import same
from setwise.analysis.semantics.domains import Bits, BitVectors

Key = tuple[Any, ...]
"""The path to a leaf: field names, mapping keys and tuple indices."""

APART: Mapping[str, bool] = {"apart": True}
"""Metadata of a field that describes the path rather than the machine."""

T = TypeVar("T")


class Byte(NamedTuple):
    """A byte of memory: byte number `part`, lowest first, of a value of `width` bits."""

    value: Bits
    width: int
    part: int


@dataclass(slots=True)
class Cells:
    """A block from byte `low` to below `high`, relative to its base; `content` has its known bytes."""

    name: str
    low: int
    high: int
    content: dict[int, Byte] = field(default_factory=dict)
    writable: bool = True

    def read(self, domain: BitVectors, start: int, bits: int) -> Bits:
        """Return the value of `bits` bits at `start`. A byte without content becomes a new unknown and keeps it."""
        found = [self.content.get(start + at) for at in range(bits // 8)]
        first = found[0]
        if first and all(
            byte and byte.value is first.value and byte[1:] == (bits, at) for at, byte in enumerate(found)
        ):
            return first.value
        whole: Bits = 0
        for at, byte in enumerate(found):
            if byte is None:
                byte = self.content[start + at] = Byte(domain.variable(f"{self.name}{start + at:+d}", 8), 8, 0)
            one = domain.extract(byte.value, 8 * byte.part, 8, byte.width)
            whole = domain.concat(one, whole, 8, 8 * at)
        return whole

    def write(self, start: int, bits: int, value: Bits) -> None:
        """Store a value of `bits` bits at `start`."""
        self.content.update({start + at: Byte(value, bits, at) for at in range(bits // 8)})


@dataclass(frozen=True, slots=True)
class Variable:
    """A part of the state, of `width` bits: a register, vector lane or flag, or memory from the byte of `key` on."""

    key: Key
    width: int = 64

    @property
    def kind(self) -> str:
        """The field of the state: registers, vectors, flags, or memory."""
        return str(self.key[0])

    @property
    def name(self) -> str:
        """A name for messages and unknowns."""
        if self.kind != "memory":
            return ".".join(map(str, self.key[1:]))
        base, _, offset = self.key[2:]
        return f"{base.name}{offset:+d}"

    @property
    def is_word(self) -> bool:
        """Whether it may be a counter or a pointer: 64 bits that are neither a flag nor a mask register."""
        return self.width == 64 and self.kind != "flags" and not str(self.key[1]).startswith("k")


def fork(value: T) -> T:
    """Copy a state, so that changes to the copy do not affect the original."""
    if isinstance(value, dict):
        return {key: fork(item) for key, item in value.items()}  # type: ignore[return-value]
    if isinstance(value, list):
        return [*value]  # type: ignore[return-value]
    if _is_state(value):
        return type(value)(**{each.name: fork(getattr(value, each.name)) for each in fields(value)})  # type: ignore[arg-type]
    return value


def leaves(value: Any, key: Key = ()) -> Iterator[tuple[Key, Any]]:
    """Yield the key and value of each leaf of a state, except in `apart` fields. `key` is the prefix of all keys."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from leaves(item, (*key, name))
    elif type(value) is tuple:
        for at, item in enumerate(value):
            yield from leaves(item, (*key, at))
    elif _is_state(value):
        for each in fields(value):
            if not each.metadata.get("apart"):
                yield from leaves(getattr(value, each.name), (*key, each.name))
    else:
        yield key, value


def changed(before: Any, after: Any) -> dict[Key, bool]:
    """Return the keys of the leaves that differ in `after` or are missing there, each mapped to whether it is there.

    A leaf that is missing in `before` is unknown there, so any value in `after` is no change.
    """
    now = dict(leaves(after))
    return {key: key in now for key, value in leaves(before) if key not in now or not _is_same(value, now[key])}


def _is_state(value: Any) -> bool:
    return is_dataclass(value) and not isinstance(value, type) and not type(value).__dataclass_params__.frozen  # type: ignore[attr-defined]


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, Byte) and isinstance(other, Byte):
        return same(one.value, other.value) and one[1:] == other[1:]
    return same(one, other)


def get(state: Any, variable: Variable) -> Bits:
    """Return the value of a variable in a state."""
    if variable.kind == "memory":
        return state.memory.cells[variable.key[2]].read(state.domain, variable.key[4], variable.width)
    item = getattr(state, variable.kind)
    for name in variable.key[1:]:
        item = item[name]
    return item() if variable.kind == "flags" else item


def put(state: Any, variable: Variable, value: Bits) -> None:
    """Set the value of a variable in a state."""
    *_, last = variable.key
    if variable.kind == "memory":
        state.memory.cells[variable.key[2]].write(last, variable.width, value)
    elif variable.kind == "vectors":
        lanes = state.vectors[variable.key[1]]
        state.vectors[variable.key[1]] = (*lanes[:last], value, *lanes[last + 1 :])
    elif variable.kind == "flags":
        state.flags[last] = lambda: value
    else:
        state.registers[last] = value


def drop(state: Any, key: Key) -> None:
    """Forget a byte of memory, which makes it unknown."""
    state.memory.cells[key[2]].content.pop(key[4], None)


def is_byte(key: Key) -> bool:
    """Return whether a key leads to a byte of a memory block."""
    return key[:2] == ("memory", "cells") and key[3] == "content"


def variables(keys: Collection[Key], after: Any) -> list[Variable]:
    """Return these leaves as variables, sorted by name.

    Bytes form one variable if together they are a whole value in `after`; every other byte is one of its own.
    """
    found = [Variable(key, 1 if key[0] == "flags" else 64) for key in keys if not is_byte(key)]
    waiting = {key for key in keys if is_byte(key)}
    for key in sorted(waiting, key=lambda key: (key[2].name, key[4])):
        if key not in waiting:
            continue
        content = after.memory.cells[key[2]].content
        value, width, part = content[key[4]]
        whole = {(*key[:4], key[4] + at): Byte(value, width, at) for at in range(width // 8)}
        if part or any(each not in waiting or not _is_same(content[each[4]], byte) for each, byte in whole.items()):
            whole, width = {key: content[key[4]]}, 8
        waiting -= whole.keys()
        found.append(Variable(key, width))
    return sorted(found, key=lambda variable: variable.name)
