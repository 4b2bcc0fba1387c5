"""The part of a binary's memory layout that every linker and loader must preserve."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """The bytes of an image from `start` to below `end`, which stay together in memory.

    They begin `origin` bytes above an address that `base` names. The address is a multiple of `alignment`. The distance
    between two pieces is known only if they have the same base.
    """

    base: str
    alignment: int
    origin: int
    start: int
    end: int


class Ranges:
    """A set of image offsets, given and stored as sorted, disjoint pairs of start and exclusive end."""

    def __init__(self, pairs: Iterable[tuple[int, int]] = ()) -> None:
        self.pairs = [*pairs]

    def add(self, start: int, end: int) -> None:
        """Add the offsets from `start` to below `end`, merged with pairs that they overlap or that end at `start`."""
        first = bisect_right(self.pairs, (start,))
        first -= first > 0 and self.pairs[first - 1][1] >= start
        last = bisect_right(self.pairs, (end, end))
        for low, high in self.pairs[first:last]:
            start, end = min(start, low), max(end, high)
        if start < end:
            self.pairs[first:last] = [(start, end)]

    def overlaps(self, start: int, end: int) -> bool:
        """Return whether the set contains an offset from `start` to below `end`, which must be above `start`."""
        first = bisect_right(self.pairs, (end - 1, end)) if end > start else 0
        return any(low < end and start < high for low, high in self.pairs[max(0, first - 2) : first + 1])


@dataclass(frozen=True, slots=True)
class SectionLayout:
    """The pieces of an image, of which the first is the code; those of other functions that it calls follow.

    `unknown` are the bytes that a linker or loader sets, as pairs of start and exclusive end in the image. `targets`
    map rip-relative operands to pieces: offset of the instruction, index of the piece, offset from the piece's base.
    An instruction that is not listed points to a place at its distance. `entries` are known 32-bit jump table entries:
    offset in the image, offset of the target in the text, and start of a function at whose distances that offset holds.
    `end` is a line on the assumed end of the function if the file does not give its size. `branches` maps branches and
    calls from one function to another: offset of the instruction, offset of the destination. `library` has the offset
    and name of each known function of the C library, in whose place the text holds one byte.
    """

    pieces: tuple[Piece, ...]
    unknown: tuple[tuple[int, int], ...] = ()
    targets: tuple[tuple[int, int, int], ...] = ()
    entries: tuple[tuple[int, int, int], ...] = ()
    end: str = ""
    branches: tuple[tuple[int, int], ...] = ()
    library: tuple[tuple[int, str], ...] = ()

    @property
    def shift(self) -> int | None:
        """The offset of the image from a multiple of the code's alignment; None if it cannot be placed as one block."""
        code, *rest = self.pieces
        together = [piece for piece in rest if piece.base == code.base]
        if any(piece.origin - piece.start != code.origin for piece in together):
            return None
        return code.origin if code.origin == 0 or together == rest else None
