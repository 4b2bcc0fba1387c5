"""Code and constants in the prover's memory model, with only those distances known that the layout guarantees."""

from dataclasses import dataclass, replace

from setwise.analysis.code.decode import Binary, signed
from setwise.analysis.code.section_layout import Piece, Ranges, SectionLayout
from setwise.analysis.proof.pointers import Base, Pointer
from setwise.analysis.semantics.domains import Bits

_ALIGNMENT = 64  # in bytes, of the code of a binary without a layout, such as a kernel


@dataclass(frozen=True, slots=True)
class Area:
    """The bytes from `low` to below `high`, relative to a base. The first byte is at `start` in the image."""

    low: int
    high: int
    start: int


class MemoryImage:
    """The read-only bytes of a routine, and of the functions that it calls."""

    def __init__(self, binary: Binary) -> None:
        self.content = binary.image
        whole = Piece("code", _ALIGNMENT, 0, 0, len(self.content))
        layout = binary.layout or SectionLayout((whole,))
        self._pieces = layout.pieces
        self.unknown = Ranges(layout.unknown)
        """The bytes that a linker or loader sets."""
        self._parts = [replace(each, end=min(each.end, len(binary.text))) for each in layout.pieces]
        self._parts = [part for part in self._parts if part.start < part.end]
        shifts = [(part, (part.origin - part.start) % (1 << 64)) for part in self._parts]
        self._starts = [(part, Pointer(self._base(part), shift)) for part, shift in shifts]
        self.codes = tuple(dict.fromkeys(map(self._base, self._parts)))
        """The bases of the code, which has several if functions of other sections are called."""
        self.areas: dict[Base, list[Area]] = {}
        """The areas of each base, without those that a later one contains."""
        for piece in self._pieces:
            area = Area(piece.origin, piece.origin + piece.end - piece.start, piece.start)
            others = self.areas.get(self._base(piece), [])
            kept = [other for other in others if not (area.low <= other.low and other.high <= area.high)]
            self.areas[self._base(piece)] = [*kept, area]
        self.targets: dict[int, Bits] = {
            at: Pointer(self._base(self._pieces[number]), offset % (1 << 64)) for at, number, offset in layout.targets
        }
        """The addresses of operands and branches by instruction offset, if not at a known distance from it."""
        self.targets |= {at: self.place(offset) for at, offset in layout.branches}
        self._entries = {at: (place, start) for at, place, start in layout.entries}

    def _base(self, piece: Piece) -> Base:
        return Base(piece.base, piece.alignment)

    def part(self, offset: int) -> Piece | None:
        """Return the function's piece that contains an offset in the text; None if it is outside of all."""
        return next((piece for piece in self._parts if piece.start <= offset < piece.end), None)

    def start(self, offset: int) -> Pointer:
        """Return the address of the text's start, if it were at its distance from the code at an offset."""
        for piece, start in self._starts:  # a loop for speed: each step asks
            if piece.start <= offset < piece.end:
                return start
        return self._starts[0][1]

    def place(self, offset: int, near: int | None = None) -> Pointer:
        """Return the address of an offset in the text, or of a place at its distance from the offset `near`."""
        start = self.start(offset if near is None else near)
        return Pointer(start.base, (start.offset + offset) % (1 << 64))

    def offset(self, place: Pointer) -> int:
        """Return the offset in the text of an address with a base of `codes`. Outside the code it is above 2**64."""
        for piece in self._parts:
            inside = signed(place.offset, 64) - piece.origin
            if self._base(piece) == place.base and 0 <= inside < piece.end - piece.start:
                return piece.start + inside
        return (signed(place.offset, 64) - self._parts[0].origin) % (1 << 64) | 1 << 64

    def area(self, base: Base, low: int, high: int) -> Area | None:
        """Return the base's area that contains `low`, else that which overlaps `low` to below `high`, else the first.

        Returns None if several areas contain `low`, or if none does and several overlap the range.
        """
        areas = self.areas[base]
        found = [area for area in areas if area.low < high and low < area.high]
        around = [area for area in found if area.low <= low]
        return (around or found or areas)[0] if len(around or found) < 2 else None

    def is_known(self, area: Area, low: int, high: int) -> bool:
        """Return whether no linker or loader sets a byte of the area from `low` to below `high`."""
        start, end = (min(max(at, area.low), area.high) - area.low + area.start for at in (low, high))
        return not self.unknown.overlaps(start, end)

    def read(self, area: Area, low: int, size: int) -> int | None:
        """Return the bytes of an area at `low` as a little-endian integer; None if a linker or loader sets one."""
        start = low - area.low + area.start
        known = self.is_known(area, low, low + size)
        return int.from_bytes(self.content[start : start + size], "little") if known else None

    def distance(self, base: Base, area: Area, low: int) -> tuple[Pointer, Pointer] | None:
        """Return the address of the jump table entry at `low` and that of its target, or None if there is no entry."""
        entry = self._entries.get(low - area.low + area.start)
        return None if entry is None else (Pointer(base, low % (1 << 64)), self.place(*entry))

    def distances(self, base: Base) -> list[tuple[Pointer, Pointer]]:
        """Return `distance` of a base's jump table entries of the least and greatest signed distance; [] if none."""
        found = [
            (self._entries[at][0] - at, self.distance(base, area, at - area.start + area.low))
            for area in self.areas[base]
            for at in self._entries
            if area.start <= at < area.start + area.high - area.low
        ]
        ends = [min(found, key=lambda pair: pair[0]), max(found, key=lambda pair: pair[0])] if found else []
        return [ends for _, ends in ends if ends]
