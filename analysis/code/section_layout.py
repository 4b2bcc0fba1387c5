"""What is known of where the parts of code come to lie: only what every linker and loader has to keep."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes of an image, from `start` to below `end`, that stay together.

    They lie at `origin` and on, counted from a place that is called `base` and is a multiple of `alignment`. Of pieces
    with one base the distance is known, of others not.
    """

    base: str
    alignment: int
    origin: int
    start: int
    end: int


@dataclass(slots=True)
class Ranges:
    """Places of an image, as pairs of a start and the end behind it, in order and apart from each other."""

    pairs: list[tuple[int, int]] = field(default_factory=list)

    def __init__(self, pairs: Iterable[tuple[int, int]] = ()) -> None:
        self.pairs = [*pairs]

    def add(self, start: int, end: int) -> None:
        """Add the places from `start` to below `end`."""
        first = bisect_right(self.pairs, (start,))
        first -= first > 0 and self.pairs[first - 1][1] >= start
        last = bisect_right(self.pairs, (end, end))
        for low, high in self.pairs[first:last]:
            start, end = min(start, low), max(end, high)
        if start < end:
            self.pairs[first:last] = [(start, end)]

    def overlaps(self, start: int, end: int) -> bool:
        """Return whether a place from `start` to below `end` is among them."""
        first = bisect_right(self.pairs, (end - 1, end)) if end > start else 0
        return any(low < end and start < high for low, high in self.pairs[max(0, first - 2) : first + 1])


@dataclass(frozen=True, slots=True)
class SectionLayout:
    """An image's pieces, of which the first is the code.

    `unknown` are the `Ranges` whose bytes a linker or loader sets. `targets` says of instructions, by their
    offsets, which piece their rip-relative operand points to, and how far from its base; all others point from the code
    to what has the code's base. `entries` are words of 32 bits, by their places, that hold the distance from there to a
    place counted from the code's start. `end` says what was taken as the function's end where the file does not tell.
    """

    pieces: tuple[Piece, ...]
    unknown: tuple[tuple[int, int], ...] = ()
    targets: tuple[tuple[int, int, int], ...] = ()
    entries: tuple[tuple[int, int], ...] = ()
    end: str = ""

    @property
    def shift(self) -> int | None:
        """How far from a place of known alignment the image may lie as it is; None where it must lie otherwise."""
        code, *rest = self.pieces
        together = [piece for piece in rest if piece.base == code.base]
        if any(piece.origin - piece.start != code.origin for piece in together):
            return None
        return code.origin if code.origin == 0 or together == rest else None
