"""The memory model of symbolic execution: read-only code and data, the stack, the result block, and arrays.

Every access must fall into one of these for all arguments. An access outside violates the contract. An access
that the prover cannot locate is unsupported, and the proof fails.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from setwise.analysis.code.decode import signed
from setwise.analysis.proof.image import Area, MemoryImage
from setwise.analysis.proof.path_state import APART, Cells
from setwise.analysis.proof.pointers import Addresses, Base, Pointer
from setwise.analysis.semantics.domains import Bits
from setwise.analysis.semantics.state import ContractViolation, Unsupported

_WIDEST_INDEX = 4096  # most values of an index for which a lookup becomes a selection
STACK, ENTRY = Base("stack", 16), 8  # the stack's base, and the offset of rsp at entry from it
_OUTSIDE = "moves rsp outside the stack, where it must be after every instruction"
LOWEST = 4096  # bytes below rsp at entry: deeper accesses may skip the guard page


class UndecidedError(Unsupported):
    """An address that depends on unknowns.

    It is resolved if one of `words` has the same value for all unknowns. With `split`, the path forks instead, once for
    each value of the first word. The values found are stored in `Space.facts`. If there is none, a round may begin at
    `start`.
    """

    def __init__(
        self, message: str, words: Sequence[Bits], allowed: Bits = 1, split: bool = False, start: Bits | None = None
    ) -> None:
        super().__init__(message, allowed)
        self.words, self.split, self.start = words, split, start


class AliasUnknownError(ValueError):
    """An access whose effect depends on whether the result array is also an input."""


@dataclass(slots=True)
class Arrays:
    """Arrays of `count` boards each, of which `frontier` boards are done: all but those from number `first` on.

    `names` maps bases to names; `results` are the bases of the results. `inputs` are the names of the specification's
    arrays, several of which may be one array. With `upward`, boards are counted from the first unfinished one; if
    False, from the last. The first access after the frontier has moved decides it; until then it is None. If `start` is
    not None, they are counted from the board at that byte instead, up to the last. Unless the results are `apart`, one
    may be an input. An access to boards that are done is unsupported. At a distance in `written`, boards read as new
    unknowns.

    `touched` and `written` are for the boards accessed since the frontier last moved, by distance from it, `written` by
    the number of the result, too: the one-bit condition under which one is accessed, and its new value with the
    condition of the write. `round` counts the moves, because each round reads other boards, which are new unknowns.
    """

    names: Mapping[Base, str]
    inputs: tuple[str, ...]
    results: tuple[Base, ...]
    count: Bits
    apart: bool = False
    frontier: Bits = 0
    first: Bits = 0
    upward: bool | None = None
    start: Bits | None = None
    round: int = 0
    touched: dict[int, Bits] = field(default_factory=dict)
    written: dict[tuple[int, int], tuple[Bits, Bits]] = field(default_factory=dict)

    def board(self, domain: Addresses, name: str, place: int) -> Bits:
        """Return the unknown board of the array `name` at the distance `place` from the frontier."""
        return domain.unknown(f"{name}[{self.round}+{place}]")

    def moved(self, frontier: Bits, first: Bits) -> "Arrays":
        """Return the arrays at the start of the next round, with another frontier."""
        moved = replace(self, frontier=frontier, first=first, upward=None, start=None)
        return replace(moved, round=self.round + 1, touched={}, written={})


@dataclass(slots=True)
class Space:
    """The memory of one path: the routine's `image`, writable `cells` by base, and `arrays` of unknown length, if any.

    A signal handler may overwrite everything more than `red_zone` bytes below rsp.
    """

    domain: Addresses
    image: MemoryImage
    cells: dict[Base, Cells]
    arrays: Arrays | None = None
    red_zone: int = 0
    facts: dict[Bits, int] = field(default_factory=dict, metadata=APART)
    """Words that have one known value under the path condition, with that value."""
    must: list[tuple[Bits, str]] = field(default_factory=list)
    """Pending one-bit conditions, each with the complaint if it does not hold."""

    def require(self, condition: Bits, what: str) -> None:
        """Append a one-bit condition to `must`, unless it is constant. Raises ContractViolation(what) if it is 0."""
        if isinstance(condition, int):
            if not condition:
                raise ContractViolation(what)
            return
        self.must.append((condition, what))

    def move_stack(self, rsp: Bits) -> None:
        """Discard the stack below the new rsp's red zone. Raises SemanticsError if rsp is out of bounds or unknown."""
        lowest = Pointer(STACK, (ENTRY - LOWEST) % (1 << 64))
        allowed = self.domain.ult(self.domain.sub(rsp, lowest, 64), LOWEST + 8 + self.red_zone + 1, 64)
        pointer = self.known_pointer(rsp, (STACK,), _OUTSIDE, allowed, split=True)
        if pointer.base != STACK:
            raise ContractViolation(_OUTSIDE)
        if pointer.index is not None:
            what = "moves the stack pointer by an unknown distance: use a frame of constant size"
            raise UndecidedError(what, [pointer.index], allowed, split=True)
        cells, limit = self.cells[STACK], signed(pointer.offset, 64) - self.red_zone
        if limit > ENTRY + 8:
            raise ContractViolation(
                "raises the stack pointer into its caller's frame, which a signal handler may overwrite"
            )
        if limit < ENTRY - LOWEST:
            raise Unsupported(f"uses more than {LOWEST} bytes of stack, which may not be mapped: use a smaller frame")
        cells.low = limit
        for place in [place for place in cells.content if place < limit]:
            del cells.content[place]

    def load(self, address: Bits, bits: int, wanted: Bits = 1) -> Bits:
        """Return the loaded bits, which matter only if `wanted`, a bit, is 1.

        Raises ContractViolation for an access outside the routine's memory, AliasUnknownError, and Unsupported if the
        prover cannot decide. If `wanted` is not a constant, a violation becomes a pending condition of `must` instead.
        """
        with self._only_where(wanted):
            return self._load(address, bits, wanted)
        return 0  # after a violation that became a pending condition

    def store(self, address: Bits, bits: int, value: Bits, wanted: Bits = 1) -> None:
        """Store a value if `wanted`, a bit, is 1. Raises the errors of `load`, also for the code and its data."""
        with self._only_where(wanted):
            self._store(address, bits, value, wanted)

    @contextmanager
    def _only_where(self, wanted: Bits) -> Iterator[None]:
        """Restrict errors to the case `wanted` = 1. If it is not constant, a violation becomes a pending condition."""
        start, unwanted = len(self.must), self.domain.not_(wanted, 1)
        try:
            yield
        except ContractViolation as error:
            if isinstance(wanted, int):
                raise
            self.must.append((0, str(error)))
        except Unsupported as error:
            error.allowed = self.domain.or_(error.allowed, unwanted, 1)
            raise
        self.must[start:] = [(self.domain.or_(holds, unwanted, 1), what) for holds, what in self.must[start:]]

    def _load(self, address: Bits, bits: int, wanted: Bits) -> Bits:
        pointer, size = self._pointer(address, bits // 8, "reads"), bits // 8
        if pointer.base in self.image.areas:
            return self._constant(pointer, size)
        if self.arrays is not None and pointer.base in self.arrays.names:
            return self._read_board(self.arrays, pointer, bits, wanted)
        if pointer.index is not None:
            return self._read_at(pointer, size)
        cells, start = self._located(pointer, size, "reads")
        return cells.read(self.domain, start, bits)

    def _read_at(self, pointer: Pointer, size: int) -> Bits:
        """Return `size` bytes of a block at an unknown index: a selection by it, if it has few possible values."""
        pointer = self.domain.parted(pointer)
        mask, offset = self.domain.possible(pointer.index, 64), signed(pointer.offset, 64)
        if 1 << mask.bit_count() > _WIDEST_INDEX:
            self._located(pointer, size, "reads")
        cells = self.cells[pointer.base]
        if offset < cells.low or offset + mask + size > cells.high:
            place = self.domain.add(pointer.index, (offset - cells.low) % (1 << 64), 64)
            inside = self.domain.ult(place, max(0, cells.high - cells.low - size + 1), 64)
            self.must.append((inside, f"reads {size} bytes outside '{cells.name}'"))

        def read(start: int) -> Bits:
            is_inside = cells.low <= start <= cells.high - size
            return cells.read(self.domain, start, 8 * size) if is_inside else 0  # if the condition in `must` holds

        return self._choice(pointer.index, mask, offset, size, read)

    def _store(self, address: Bits, bits: int, value: Bits, wanted: Bits) -> None:
        pointer, size = self._pointer(address, bits // 8, "writes"), bits // 8
        if pointer.base in self.image.areas:
            raise ContractViolation(f"writes {size} bytes to the code and its data, which are read-only")
        if self.arrays is not None and pointer.base in self.arrays.names:
            self._write_board(self.arrays, pointer, bits, value, wanted)
            return
        cells, start = self._located(pointer, size, "writes")
        if not isinstance(wanted, int):
            value = self.domain.ite(wanted, value, cells.read(self.domain, start, bits), bits)
        cells.write(start, bits, value)

    # ---- arrays

    def _read_board(self, arrays: Arrays, pointer: Pointer, bits: int, wanted: Bits) -> Bits:
        name = arrays.names[pointer.base]
        if pointer.base in arrays.results and not arrays.apart:
            raise AliasUnknownError(f"reads {name}, a result, which may be the same array as an input")
        place = self._touch(arrays, pointer, bits, wanted)
        overwrites = pointer.base in arrays.results or not arrays.apart
        if overwrites and any(place == at for at, _ in arrays.written):
            return self.domain.variable(f"{name} overwritten", 64)
        return arrays.board(self.domain, name, place)

    def _write_board(self, arrays: Arrays, pointer: Pointer, bits: int, value: Bits, wanted: Bits) -> None:
        if pointer.base not in arrays.results:
            what = f"writes to {arrays.names[pointer.base]}"
            raise Unsupported(what) if arrays.apart else AliasUnknownError(what)
        place = self._touch(arrays, pointer, bits, wanted)
        board = place, arrays.results.index(pointer.base)
        if not isinstance(wanted, int) and board in arrays.written:
            raise Unsupported(f"writes board {place} of {arrays.names[pointer.base]} twice, masked: run setwise check")
        arrays.written[board] = value, wanted

    def _touch(self, arrays: Arrays, pointer: Pointer, bits: int, wanted: Bits) -> int:
        """Record the access to a board, which may decide `upward`. Return its distance from the frontier."""
        if bits != 64:
            name = arrays.names[pointer.base]
            raise Unsupported(f"accesses {bits} bits of {name}, not a whole board: use 64, or run setwise check")
        index: Bits = 0 if pointer.index is None else pointer.index
        far = f"accesses {arrays.names[pointer.base]} at an index that is not near the first unfinished board"
        ways = (True, False) if arrays.upward is None and arrays.start is None else (arrays.upward is not False,)
        words = []
        for upward in ways:
            origin = self._origin(arrays, upward)
            distance = self.domain.distance(index, origin)
            if distance is None:
                words.append(self.domain.sub(index, origin, 64))
                distance = self.facts.get(words[-1])
            if distance is None:
                continue
            ahead = (distance + pointer.offset) * (1 if upward else -1) % (1 << 64)
            if ahead % 8 or ahead >> 16:
                raise Unsupported(far)
            arrays.upward = upward
            place = ahead // 8
            arrays.touched[place] = self.domain.or_(arrays.touched.get(place, 0), wanted, 1)
            return place
        raise UndecidedError(far, words, start=index)

    def _origin(self, arrays: Arrays, upward: bool) -> Bits:
        """Return the byte offset in the arrays of the board that distances are from, if there is no `start`."""
        domain, board = self.domain, arrays.first
        if arrays.start is not None:
            return arrays.start
        if not upward:
            left = domain.sub(arrays.count, arrays.frontier, 64)
            board = domain.add(board, domain.sub(left, 1, 64), 64)
        return domain.shl(board, 3, 64)

    # ---- addresses

    def _pointer(self, address: Bits, size: int, does: str) -> Pointer:
        if isinstance(address, int):
            raise ContractViolation(f"{does} {size} bytes at the fixed address {address:#x}")
        if not isinstance(address, Pointer) or (address.index is not None and self.domain.flattened):
            rebased = self.domain.rebased(address)
            if rebased and not (isinstance(address, Pointer) and address.base == rebased.base):
                address = rebased
        if isinstance(address, Pointer):
            return self._settled(address)
        bases = [*self.cells, *self.image.areas, *(self.arrays.names if self.arrays else ())]
        what = f"{does} {size} bytes at an address that derives from no known one"
        return self.known_pointer(address, bases, what, self._is_own(address, size))

    def known_pointer(
        self, address: Bits, bases: Sequence[Base], what: str, allowed: Bits = 1, split: bool = False
    ) -> Pointer:
        """Return the address as a pointer: itself, or a base and the known distance from it on this path.

        Otherwise raise UndecidedError with the other arguments, which asks for its distance from one of the bases.
        """
        if not isinstance(address, Pointer):
            distances = {base: self.domain.sub(address, self.domain.flat(Pointer(base, 0)), 64) for base in bases}
            known = next((base for base, distance in distances.items() if distance in self.facts), None)
            if known is None:
                raise UndecidedError(what, [*distances.values()], allowed, split)
            return Pointer(known, self.facts[distances[known]])
        return self._settled(address)

    def _settled(self, pointer: Pointer) -> Pointer:
        """Return the address with its index folded into the offset, if the index is known on this path."""
        if pointer.index in self.facts:
            return Pointer(pointer.base, (pointer.offset + self.facts[pointer.index]) % (1 << 64))
        return pointer

    def _is_own(self, address: Bits, size: int) -> Bits:
        """Return whether `size` bytes at an address are the routine's, as a bit; 1 if arrays have an unknown length."""
        own = [(base, area.low, area.high) for base, areas in self.image.areas.items() for area in areas]
        own += [(base, cells.low, cells.high) for base, cells in self.cells.items()]
        found: Bits = int(self.arrays is not None)
        for base, low, high in own:
            distance = self.domain.sub(address, Pointer(base, low % (1 << 64)), 64)
            found = self.domain.or_(found, self.domain.ult(distance, max(0, high - low - size + 1), 64), 1)
        return found

    def _located(self, pointer: Pointer, size: int, does: str) -> tuple[Cells, int]:
        cells = self.cells[pointer.base]
        if does == "writes" and not cells.writable:
            raise ContractViolation(f"writes {size} bytes to '{cells.name}', which is read-only")
        if pointer.index is not None:
            what = f"{does} {size} bytes of '{cells.name}' at an offset that depends on the arguments"
            raise UndecidedError(what, [pointer.index], self._is_own(pointer, size), split=True)
        start = signed(pointer.offset, 64)
        if start < cells.low or start + size > cells.high:
            what, own = f"byte {start} of '{cells.name}'", f"bytes {cells.low} to {cells.high - 1}"
            if pointer.base == STACK:
                what = f"rsp{start - ENTRY:+d} (rsp as at entry)"
                own = f"rsp{cells.low - ENTRY:+d} to rsp{cells.high - ENTRY - 1:+d}"
            raise ContractViolation(f"{does} {size} bytes at {what}, outside the routine's part, {own}")
        return cells, start

    # ---- read-only bytes

    def _constant(self, pointer: Pointer, size: int) -> Bits:
        """Return `size` bytes of the image; at an unknown index with few possible values, a selection by the index."""
        pointer = self.domain.parted(pointer)
        mask = 0 if pointer.index is None else self.domain.possible(pointer.index, 64)
        offset = signed(pointer.offset, 64)
        area = self.image.area(pointer.base, offset, offset + mask + size)
        if area is None:
            raise Unsupported("reads one of several sections: give the linked program, or run setwise check")
        where = f"of the code and its data, which have {len(self.image.content)}"
        if mask == 0:
            if not area.low <= offset <= area.high - size:
                raise ContractViolation(f"reads {size} bytes at byte {offset - area.low + area.start} {where}")
            return self._known(pointer.base, area, offset, size)
        place = self.domain.add(pointer.index, (offset - area.low) % (1 << 64), 64)
        inside = self.domain.ult(place, max(0, area.high - area.low - size + 1), 64)
        outside = f"reads {size} bytes outside {where}"
        if 1 << mask.bit_count() > _WIDEST_INDEX or not self.image.is_known(area, offset, offset + mask + size):
            raise UndecidedError(outside, [pointer.index], inside, split=True)
        if offset < area.low or offset + mask + size > area.high:
            self.must.append((inside, outside))

        def read(start: int) -> Bits:
            is_inside = area.low <= start <= area.high - size
            return self._known(pointer.base, area, start, size) if is_inside else 0  # if the condition in `must` holds

        return self._choice(pointer.index, mask, offset, size, read)

    def _choice(self, index: Bits, mask: int, offset: int, size: int, read: Callable[[int], Bits]) -> Bits:
        """Return the bytes that `read` gives for `offset` plus the index, of which only the bits of `mask` may be 1."""
        if not mask:
            return read(offset)
        top = mask.bit_length() - 1
        chosen = self.domain.extract(index, top, 1, 64)
        rest = mask ^ 1 << top
        high, low = (self._choice(index, rest, start, size, read) for start in (offset + (1 << top), offset))
        return self.domain.ite(chosen, high, low, 8 * size)

    def _known(self, base: Base, area: Area, offset: int, size: int) -> Bits:
        ends = self.image.distance(base, area, offset) if size == 4 else None
        if ends is not None:
            here, there = map(self.domain.flat, ends)
            return self.domain.extract(self.domain.sub(there, here, 64), 0, 32, 64)
        value = self.image.read(area, offset, size)
        if value is None:
            raise Unsupported(f"reads {size} bytes that a linker or loader sets: give the linked program")
        return value
