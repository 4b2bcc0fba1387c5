"""Memory for symbolic execution: the code's own read-only bytes, the stack, and the block for results.

Every access must be to one of them, whatever the arguments are; anything else is an error that names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from setwise.analysis.proof.image import Area, Image
from setwise.analysis.proof.pointers import Addresses, Base, Pointer
from setwise.analysis.semantics.domains import Bits
from setwise.analysis.semantics.state import BreachError, SemanticsError

Byte = tuple[Bits, int, int]  # a value, its width, and which of its bytes this is
Board = tuple[str, int]  # of an array the board at a place, counted from the frontier on

_WIDEST_INDEX = 4096  # places that a table lookup may be spread over


class GapError(SemanticsError):
    """What the prover cannot follow, so that nothing is proved; a breach where `allowed`, one bit, can be 0."""

    def __init__(self, message: str, allowed: Bits = 1) -> None:
        super().__init__(message)
        self.allowed = allowed


class DistanceError(GapError):
    """It is not seen at once whether `index`, in bytes, is at the same distance from an origin whatever the unknowns.

    One of `origins` is enough.
    """

    def __init__(self, message: str, index: Bits, origins: Sequence[Bits]) -> None:
        super().__init__(message)
        self.index, self.origins = index, origins


class ChoiceError(SemanticsError):
    """A table is looked up at too many places: the path has to be split by the value of `index`, of 64 bits.

    `allowed`, one bit, says whether the place is within the code and its data.
    """

    def __init__(self, message: str, index: Bits, allowed: Bits) -> None:
        super().__init__(message)
        self.index, self.allowed = index, allowed


@dataclass(slots=True)
class Cells:
    """Bytes that can be written, from `low` (at or above it) to below `high`, counted from the base."""

    name: str
    low: int
    high: int
    content: dict[int, Byte] = field(default_factory=dict)


@dataclass(slots=True)
class Round:
    """What was done to arrays since the frontier last moved: places are counted on from it, one a board.

    `number` is that of the round; what is read in another lies elsewhere and is unknown anew, but for what those before
    have read `ahead`.
    """

    number: int = 0
    read: dict[Board, Bits] = field(default_factory=dict)
    written: dict[int, Bits] = field(default_factory=dict)
    ahead: Mapping[Board, Bits] = field(default_factory=dict)

    def copy(self) -> Round:
        """A round that may go on differently."""
        return Round(self.number, dict(self.read), dict(self.written), self.ahead)

    @property
    def following(self) -> Round:
        """The next one, when the frontier has passed what was written."""
        known, done = {**self.ahead, **self.read}, len(self.written)
        ahead = {(name, place - done): board for (name, place), board in known.items() if place >= done}
        return Round(self.number + 1, ahead=ahead)

    @property
    def farthest(self) -> int:
        """One more than the highest place that was touched."""
        return max([*self.written, *(place for _, place in self.read)], default=-1) + 1


@dataclass(slots=True)
class Arrays:
    """Arrays of `count` boards each, one of them the result; all but the first `frontier` boards is as it was given.

    They are counted `upward` from the start or, where False, down from the end: as the code has it when it first
    touches one, and so ever after; None before, when there is nothing to be counted.

    The result may be one of the inputs: so what the frontier has passed is not read again, and nothing is read after it
    was written. `unknown` gives what is read: the same for the same array, round and place.
    """

    names: Mapping[Base, str]
    result: Base
    count: Bits
    unknown: Callable[[str], Bits]
    frontier: Bits = 0
    upward: bool | None = None
    round: Round = field(default_factory=Round)

    def named(self, name: str, place: int) -> Bits:
        """The unknown that stands for what an input holds at that place."""
        return self.unknown(f"{name}[{self.round.number}+{place}]")

    def board(self, name: str, place: int) -> Bits:
        """What an input holds at that place from the frontier on."""
        if (name, place) not in self.round.read:
            known = self.round.ahead.get((name, place))
            self.round.read[name, place] = self.named(name, place) if known is None else known
        return self.round.read[name, place]


@dataclass(slots=True)
class Space:
    """All memory of one path: the routine's `image`, and `cells` at their bases, and `arrays` if there are any.

    `stack` is the base of the stack; its lower bound moves with rsp.
    """

    domain: Addresses
    image: Image
    stack: Base
    cells: Mapping[Base, Cells]
    arrays: Arrays | None = None
    known: Mapping[Bits, int] = field(default_factory=dict)
    """Indices that this path has been split by."""
    distances: Mapping[tuple[Bits, Bits], int] = field(default_factory=dict)
    """What the solver has shown of indices and their origins on this path, as DistanceError asks."""
    must: list[tuple[Bits, str]] = field(default_factory=list)
    """Conditions of one bit that have to hold so far, each with what the routine does where it does not."""

    def copy(self) -> Space:
        """A memory that may go another way."""
        kept = {
            base: Cells(cells.name, cells.low, cells.high, dict(cells.content)) for base, cells in self.cells.items()
        }
        arrays = self.arrays and replace(self.arrays, round=self.arrays.round.copy())
        return replace(self, cells=kept, arrays=arrays, must=[*self.must])

    def load(self, address: Bits, bits: int, wanted: Bits = 1) -> Bits:
        """What lies there; BreachError outside, GapError where the prover cannot tell."""
        with self._only_where(wanted):
            return self._load(address, bits)
        return 0  # never wanted, as `must` has it

    def store(self, address: Bits, bits: int, value: Bits, wanted: Bits = 1) -> None:
        """Writes; errors as `load` has them, and BreachError for what is read-only."""
        with self._only_where(wanted):
            if not isinstance(wanted, int):
                value = self.domain.ite(wanted, value, self._load(address, bits), bits)
            self._store(address, bits, value)

    @contextmanager
    def _only_where(self, wanted: Bits) -> Iterator[None]:
        """Where this bit is 0 nothing of it is done, so nothing of it is wrong; a breach ends it, if `must` holds."""
        start, unwanted = len(self.must), self.domain.not_(wanted, 1)
        try:
            yield
        except BreachError as error:
            if isinstance(wanted, int):
                raise
            self.must.append((0, str(error)))
        except (GapError, ChoiceError) as error:
            error.allowed = self.domain.or_(error.allowed, unwanted, 1)
            raise
        self.must[start:] = [(self.domain.or_(holds, unwanted, 1), what) for holds, what in self.must[start:]]

    def _load(self, address: Bits, bits: int) -> Bits:
        pointer, size = self._pointer(address, bits // 8, "reads"), bits // 8
        if pointer.base in self.image.areas:
            return self._constant(pointer, size)
        if self.arrays is not None and pointer.base in self.arrays.names:
            return self._read_board(self.arrays, pointer, bits)
        cells, start = self._writable(pointer, size, "reads")
        first = cells.content.get(start)
        if first and first[1:] == (bits, 0):
            value = first[0]
            if all(self._is_byte(cells.content.get(start + at), value, bits, at) for at in range(size)):
                return value
        found: Bits = 0
        for at in range(size):
            byte = cells.content.get(start + at)
            if byte is None:  # never written: whatever lies there, the same at every reading
                unknown = self.domain.variable(f"{cells.name}{start + at:+d}", 8)
                byte = cells.content[start + at] = (unknown, 8, 0)
            one = self.domain.extract(byte[0], 8 * byte[2], 8, byte[1])
            found = self.domain.concat(one, found, 8, 8 * at)
        return found

    def _store(self, address: Bits, bits: int, value: Bits) -> None:
        pointer, size = self._pointer(address, bits // 8, "writes"), bits // 8
        if pointer.base in self.image.areas:
            raise BreachError(f"writes {size} bytes to the code and its data, which are read-only")
        if self.arrays is not None and pointer.base in self.arrays.names:
            if pointer.base != self.arrays.result:
                raise GapError(f"writes to {self.arrays.names[pointer.base]}")
            self.arrays.round.written[self._board(self.arrays, pointer, bits)] = value
            return
        cells, start = self._writable(pointer, size, "writes")
        for at in range(size):
            cells.content[start + at] = (value, bits, at)

    def lower(self, limit: int) -> None:
        """The stack is kept down to `limit` from now on; what lies below is lost."""
        cells = self.cells[self.stack]
        cells.low = limit
        for place in [place for place in cells.content if place < limit]:
            del cells.content[place]

    def _read_board(self, arrays: Arrays, pointer: Pointer, bits: int) -> Bits:
        name, place = arrays.names[pointer.base], self._board(arrays, pointer, bits)
        if place in arrays.round.written:
            raise GapError(f"reads board {place} of {name} after it may have been overwritten")
        return arrays.board(name, place)

    def _board(self, arrays: Arrays, pointer: Pointer, bits: int) -> int:
        """Which board from the frontier on this is."""
        if bits != 64:
            raise GapError(f"touches {bits} bits of {arrays.names[pointer.base]}")
        index: Bits = 0 if pointer.index is None else pointer.index
        far = f"touches {arrays.names[pointer.base]} at a place that is not near the frontier"
        ways = (True, False) if arrays.upward is None else (arrays.upward,)
        origins = {upward: self._origin(arrays, upward) for upward in ways}
        for upward, origin in origins.items():
            distance = self.domain.distance(index, origin)
            if distance is None:
                distance = self.distances.get((index, origin))
            if distance is None:
                continue
            ahead = (distance + pointer.offset) * (1 if upward else -1) % (1 << 64)
            if ahead % 8 or ahead >> 16:
                raise GapError(far)
            arrays.upward = upward
            return ahead // 8
        raise DistanceError(far, index, [*origins.values()])

    def _origin(self, arrays: Arrays, upward: bool) -> Bits:
        """How many bytes from the arrays' start on the first board lies that is not done."""
        domain, first = self.domain, arrays.frontier
        if not upward:
            first = domain.sub(domain.sub(arrays.count, 1, 64), first, 64)
        return domain.shl(first, 3, 64)

    def grow(self, size: int) -> None:
        """The stack may be written that much deeper."""
        self.cells[self.stack].low -= size

    def _is_byte(self, byte: Byte | None, value: Bits, bits: int, at: int) -> bool:
        return byte is not None and byte[0] is value and byte[1:] == (bits, at)

    def _pointer(self, address: Bits, size: int, does: str) -> Pointer:
        if isinstance(address, Pointer):
            return address
        if isinstance(address, int):
            raise BreachError(f"{does} {size} bytes at the fixed address {address:#x}")
        what = f"{does} {size} bytes at an address that is made of no address"
        raise GapError(what, self._is_own(address, size))

    def _is_own(self, address: Bits, size: int) -> Bits:
        """Whether these bytes, wherever they lie, are some of the routine's."""
        own = [(base, area.low, area.high) for base, areas in self.image.areas.items() for area in areas]
        own += [(base, cells.low, cells.high) for base, cells in self.cells.items()]
        found: Bits = 0
        for base, low, high in own:
            distance = self.domain.sub(address, Pointer(base, low % (1 << 64)), 64)
            found = self.domain.or_(found, self.domain.ult(distance, max(0, high - low - size + 1), 64), 1)
        return found

    def _writable(self, pointer: Pointer, size: int, does: str) -> tuple[Cells, int]:
        cells = self.cells[pointer.base]
        if pointer.index is not None:
            what = f"{does} {size} bytes of '{cells.name}' at a place that depends on the arguments"
            raise GapError(what, self._is_own(pointer, size))
        start = pointer.offset - (1 << 64) if pointer.offset >> 63 else pointer.offset
        if start < cells.low or start + size > cells.high:
            around = f"bytes {cells.low} to {cells.high - 1} are the routine's"
            raise BreachError(f"{does} {size} bytes at byte {start} of '{cells.name}', of which {around}")
        return cells, start

    def _constant(self, pointer: Pointer, size: int) -> Bits:
        """Of the read-only bytes; a lookup at a place that depends on the arguments becomes a choice."""
        if pointer.index in self.known:
            pointer = Pointer(pointer.base, (pointer.offset + self.known[pointer.index]) % (1 << 64))
        mask = 0 if pointer.index is None else self.domain.possible(pointer.index, 64)
        offset = pointer.offset - (1 << 64) if pointer.offset >> 63 else pointer.offset
        area = self.image.area(pointer.base, offset, offset + mask + size)
        if area is None:
            raise GapError(f"reads {size} bytes at a place that may be in one section or another")
        where = f"of the code and its data, which have {len(self.image.content)}"
        if mask == 0:
            if not area.low <= offset <= area.high - size:
                raise BreachError(f"reads {size} bytes at byte {offset - area.low + area.start} {where}")
            return self._known(pointer.base, area, offset, size)
        place = self.domain.add(pointer.index, (offset - area.low) % (1 << 64), 64)
        inside = self.domain.ult(place, max(0, area.high - area.low - size + 1), 64)
        outside = f"reads {size} bytes outside {where}"
        if 1 << mask.bit_count() > _WIDEST_INDEX or not self.image.is_known(area, offset, offset + mask + size):
            raise ChoiceError(outside, pointer.index, inside)
        if offset < area.low or offset + mask + size > area.high:
            self.must.append((inside, outside))
        return self._choice(pointer.base, area, pointer.index, mask, offset, size)

    def _choice(self, base: Base, area: Area, index: Bits, mask: int, offset: int, size: int) -> Bits:
        if not mask:
            if not area.low <= offset <= area.high - size:
                return 0  # never read, as `must` has it
            return self._known(base, area, offset, size)
        top = mask.bit_length() - 1
        chosen = self.domain.extract(index, top, 1, 64)
        rest = mask ^ 1 << top
        high, low = (self._choice(base, area, index, rest, start, size) for start in (offset + (1 << top), offset))
        return self.domain.ite(chosen, high, low, 8 * size)

    def _known(self, base: Base, area: Area, offset: int, size: int) -> Bits:
        value = self.image.read(base, area, offset, size)
        if value is None:
            raise GapError(f"reads {size} bytes that a linker or loader sets")
        return value
