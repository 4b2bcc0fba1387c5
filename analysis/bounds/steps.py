"""One step of a board in one operation: which kinds of operation can do it on which instruction set.

An operation takes the board and constants. A kind is wider than the instructions that are of it, so a step that it
cannot be, none of them is: some boards show that. Two operations are enough for every step, a shift and a mask. No kind
has carry-less products, products of parts of a lane, sums over bytes, counts, what looks for the lowest square, or what
changes a part of a register alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from types import MappingProxyType

from setwise.analysis.spec import raywalk

Images = Mapping[int, int]
"""What boards become: no square, all squares, each square alone, each two that follow one another."""

Kind = Callable[[Images], bool]
"""Whether an operation of a kind can do this."""

_BOARDS = (0, (1 << 64) - 1, *(1 << square for square in range(64)), *(3 << square for square in range(63)))


@cache
def images(direction: str) -> Images:
    """What the boards become by a step in that direction."""
    return MappingProxyType({board: raywalk.step(direction, board) for board in _BOARDS})


def _parts(board: int, width: int) -> list[int]:
    return [board >> at & (1 << width) - 1 for at in range(0, 64, width)]


def _function_of_parts(given: Images, width: int, seen: int = -1) -> bool:
    """Whether each part of so many bits can be a function of the bits `seen` of the same part."""
    found: dict[tuple[int, int], int] = {}
    return all(
        found.setdefault((at, before & seen), after) == after
        for board, image in given.items()
        for at, (before, after) in enumerate(zip(_parts(board, width), _parts(image, width), strict=True))
    )


def _same_for_all_parts(given: Images, width: int, function: Callable[[int], int]) -> bool:
    return all(list(map(function, _parts(board, width))) == _parts(image, width) for board, image in given.items())


def _shift(given: Images) -> bool:
    """Whether each part of 16, 32 or 64 bits can be shifted or rotated, all by one distance."""

    def can(width: int, distance: int) -> bool:
        every = (1 << width) - 1
        ways: tuple[Callable[[int], int], ...] = (
            lambda part: part << distance & every,
            lambda part: part >> distance,
            lambda part: (part | -(part >> width - 1) << width) >> distance & every,
            lambda part: (part << distance | part >> width - distance) & every,
        )
        return any(_same_for_all_parts(given, width, way) for way in ways)

    return any(can(width, distance) for width in (16, 32, 64) for distance in range(width))


def _sum(given: Images, width: int) -> bool:
    """Whether each part of so many bits can be a multiple of itself and a constant: from bit to bit that doubles."""

    def added(square: int) -> int:
        part = square // width
        return _parts(given[1 << square], width)[part] - _parts(given[0], width)[part]

    return _function_of_parts(given, width) and all(
        (2 * added(square) - added(square + 1)) % (1 << width) == 0 for square in range(63) if (square + 1) % width
    )


def _bytes_moved(given: Images) -> bool:
    """Whether each byte can be a constant, or eight squares in a row of the board, wherever they begin."""

    def can(at: int) -> bool:
        wanted = {board: image >> 8 * at & 0xFF for board, image in given.items()}
        return len(set(wanted.values())) == 1 or any(
            all((board >> start | board << 64 - start) & 0xFF == byte for board, byte in wanted.items())
            for start in range(64)
        )

    return all(map(can, range(8)))


def _bytes_compared(given: Images) -> bool:
    """Whether each byte can be the least, the greatest or the mean of itself and a constant, or how they compare."""

    def can(at: int) -> bool:
        pairs = {(board >> 8 * at & 0xFF, image >> 8 * at & 0xFF) for board, image in given.items()}
        ways: tuple[Callable[[int, int], int], ...] = (
            min,
            max,
            lambda byte, constant: byte + constant + 1 >> 1,
            lambda byte, constant: 0xFF * (byte == constant),
            lambda byte, constant: 0xFF * (byte > constant),
            lambda byte, constant: 0xFF * (byte ^ 0x80 > constant),
        )
        return any(all(way(byte, constant) == made for byte, made in pairs) for way in ways for constant in range(256))

    return all(map(can, range(8)))


def _squares_gathered(given: Images) -> bool:
    """Whether chosen squares can come to lie side by side from the first one on, in their order: pext."""
    reached = [image for square in range(64) if (image := given[1 << square])]
    return reached == [1 << at for at in range(len(reached))]


def _squares_scattered(given: Images) -> bool:
    """Whether the first squares can come to lie on chosen ones, in their order: pdep."""
    reached = [given[1 << square] for square in range(64)]
    while reached and not reached[-1]:
        reached.pop()
    return all(image.bit_count() == 1 for image in reached) and reached == sorted(reached)


EVERYWHERE: Mapping[str, Kind] = MappingProxyType(
    {
        "a function of each square": lambda given: _function_of_parts(given, 1),
        "a shift": _shift,
        "a sum": lambda given: _sum(given, 64),
        "bytes moved": _bytes_moved,
    }
)
OF_VECTORS: Mapping[str, Kind] = MappingProxyType(
    {
        "sums of parts": lambda given: any(_sum(given, width) for width in (8, 16, 32)),
        "bytes compared": _bytes_compared,
        "a table of four bits": lambda given: _function_of_parts(given, 8, 0x8F),
    }
)
BESIDES: Mapping[str, Kind] = MappingProxyType(
    {
        "gather": _squares_gathered,
        "scatter": _squares_scattered,
        "affine": lambda given: _function_of_parts(given, 8),
    }
)
"""What some instruction sets have besides, by the name of the operation."""


def in_one(direction: str, vectors: bool, operations: Collection[str]) -> list[str]:
    """The kinds of operation that are not ruled out for a step in that direction; with none it takes two operations.

    Of an instruction set that has vectors or not, and these operations.
    """
    given = images(direction)
    besides = {name: kind for name, kind in BESIDES.items() if name in operations}
    kinds = {**EVERYWHERE, **(OF_VECTORS if vectors else {}), **besides}
    return [name for name, can in kinds.items() if can(given)]
