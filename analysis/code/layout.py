"""What is known of where the parts of code come to lie: only what every linker and loader has to keep."""

from __future__ import annotations

from dataclasses import dataclass


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


@dataclass(frozen=True, slots=True)
class Layout:
    """An image's pieces, of which the first is the code.

    `unknown` are places in the image whose bytes a linker or loader sets. `targets` says of instructions, by their
    offsets, which piece their rip-relative operand points to, and how far from its base; all others point from the code
    to what has the code's base. `entries` are words of 32 bits, by their places, that hold the distance from there to a
    place counted from the code's start. `end` says what was taken as the function's end where the file does not tell.
    """

    pieces: tuple[Piece, ...]
    unknown: frozenset[int] = frozenset()
    targets: tuple[tuple[int, int, int], ...] = ()
    entries: tuple[tuple[int, int], ...] = ()
    end: str = ""
