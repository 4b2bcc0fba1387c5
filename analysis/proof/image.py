"""Code and constants in the prover's memory model, with only those distances known that the layout guarantees."""

from collections.abc import Mapping
from dataclasses import dataclass

from setwise.analysis.code.decode import Binary
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
    """The read-only bytes of a routine. The code starts `origin` bytes above its base."""

    def __init__(self, binary: Binary) -> None:
        self.content = binary.image
        whole = Piece("code", _ALIGNMENT, 0, 0, len(self.content))
        layout = binary.layout or SectionLayout((whole,))
        self._pieces = layout.pieces
        self.unknown = Ranges(layout.unknown)
        """The bytes that a linker or loader sets."""
        self.code, self.origin = self._base(self._pieces[0]), self._pieces[0].origin
        self.areas: dict[Base, list[Area]] = {}
        """The areas of each base, without those that a later one contains."""
        for piece in self._pieces:
            area = Area(piece.origin, piece.origin + piece.end - piece.start, piece.start)
            others = self.areas.get(self._base(piece), [])
            kept = [other for other in others if not (area.low <= other.low and other.high <= area.high)]
            self.areas[self._base(piece)] = [*kept, area]
        self.targets: Mapping[int, Bits] = {
            at: Pointer(self._base(self._pieces[number]), offset % (1 << 64)) for at, number, offset in layout.targets
        }
        """The addresses of rip-relative operands by instruction offset, if not at a known distance from the code."""
        self._entries = dict(layout.entries)

    def _base(self, piece: Piece) -> Base:
        return Base(piece.base, piece.alignment)

    def place(self, offset: int) -> Pointer:
        """Return the address of an offset in the code."""
        return Pointer(self.code, (offset + self.origin) % (1 << 64))

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
        return None if entry is None else (Pointer(base, low % (1 << 64)), self.place(entry))

    def distances(self, base: Base) -> list[tuple[Pointer, Pointer]]:
        """Return `distance` of a base's jump table entries of the least and greatest signed distance; [] if none."""
        found = [
            (self._entries[at] - at, self.distance(base, area, at - area.start + area.low))
            for area in self.areas[base]
            for at in self._entries
            if area.start <= at < area.start + area.high - area.low
        ]
        ends = [min(found, key=lambda pair: pair[0]), max(found, key=lambda pair: pair[0])] if found else []
        return [ends for _, ends in ends if ends]
