"""The tables that the literature prints or computes: names, places and entries."""

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Literal

from setwise.codegen.board import DIR8, NOT_A, NOT_H
from setwise.codegen.fills import exploding, kogge_stone
from setwise.codegen.ir.values import CompassRay, constant
from setwise.codegen.literature import DUMB7, EXPLODING, KOGGE_STONE, PageSection
from setwise.codegen.numbering import BIG_ENDIAN_FILES, Numbering

Kind = Literal["board", "rank", "number"]


@dataclass(frozen=True)
class LiteratureTable:
    """A table of the literature: its sections, its indices (a constant has none), and a function for its entries."""

    name: str
    places: tuple[PageSection, ...]
    indices: tuple[str, ...]
    """The meaning of each index: dir8, square, file, rank, or the free squares of the first rank."""
    make: Callable[[], Sequence[int]]
    kind: Kind = "board"
    """The kind of an entry. A rank is a set of eight squares in 8 bits."""
    maker: str = ""
    """The name of the page's function that computes the table, if any."""

    @property
    def boards(self) -> bool:
        """Whether the entries are boards."""
        return self.kind == "board"

    @property
    def numbering(self) -> Numbering:
        """The numbering of squares on the table's page."""
        return self.places[0].page.numbering

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of entries along each index."""
        return tuple(_LENGTHS[index] for index in self.indices)

    @cached_property
    def entries(self) -> tuple[int, ...]:
        """All entries in row-major order."""
        entries = tuple(self.make())
        assert len(entries) == prod(self.shape)
        return entries

    def index_names(self, number: int) -> tuple[str, ...]:
        """Return the indices of entry `number` of `entries` as text.

        >>> table("avoidWrap").index_names(1), table("dirMaskUp").index_names(1), table("dirMaskRight").index_names(1)
        (('east',), ('2',), ('g',))
        """
        names: list[str] = []
        for index in reversed(self.indices):
            number, at = divmod(number, _LENGTHS[index])
            names.insert(0, _index_name(index, at, self.numbering))
        return tuple(names)


def _index_name(index: str, at: int, numbering: Numbering) -> str:
    if index == "dir8":
        return DIR8[at].name
    if index == "free":
        return f"{at:#04x}"
    if index == "square":
        return numbering.square_name(at)
    return numbering.square_name(8 * at)[1] if index == "rank" else numbering.square_name(at)[0]


_LENGTHS = {"dir8": 8, "square": 64, "file": 8, "rank": 8, "free": 128}


def _ray_attacks() -> list[int]:
    rays = [CompassRay((direction,)) for direction in DIR8]
    return [kogge_stone.empty_attacks(ray, constant(1 << square)).number for ray in rays for square in range(64)]


def _first_rank() -> list[int]:
    """Return `rankR`. It is twice as long as the table of the kernels: the lowest bit of its index has no effect."""
    halved = exploding.rank_attacks()
    return [halved[64 * square + free // 2] for square in range(8) for free in range(128)]


def _exploding(section: str, name: str, make: Callable[[], Sequence[int]], maker: str = "") -> LiteratureTable:
    kind: Kind = "number" if name.startswith("reps") else "board"
    return LiteratureTable(name, (PageSection(EXPLODING, section),), ("square",), make, kind, maker)


def _masks(name: str, index: str, make: Callable[[], Sequence[int]]) -> LiteratureTable:
    return LiteratureTable(name, (PageSection(EXPLODING, "Results"),), (index,), make)


def _mask(name: str, board: int) -> LiteratureTable:
    return LiteratureTable(name, (PageSection(KOGGE_STONE, "Direction-wise Fill: Occluded Fill"),), (), lambda: [board])


_GENERAL = (PageSection(DUMB7, "Generalized Rays: Loop Version"), PageSection(KOGGE_STONE, "Generalized Rays"))

TABLES: tuple[LiteratureTable, ...] = (
    LiteratureTable("shift", _GENERAL, ("dir8",), lambda: [d.shift for d in DIR8], "number"),
    LiteratureTable("avoidWrap", _GENERAL, ("dir8",), lambda: [d.reach(1) for d in DIR8]),
    LiteratureTable(
        "rayAttacks",
        (PageSection(KOGGE_STONE, "Direction-wise Fill: Fill on an empty Board"),),
        ("dir8", "square"),
        _ray_attacks,
    ),
    _mask("notAFile", NOT_A),
    _mask("notHFile", NOT_H),
    _exploding("Bishops", "initB", lambda: exploding.reached(exploding.BISHOP_STEPS, 1), "makeInitB"),
    _exploding("Bishops", "maskB", lambda: exploding.reached(exploding.BISHOP_STEPS, 7), "makeMaskB"),
    _exploding("Bishops", "repsB", lambda: exploding.BISHOP_REPEATS),
    _exploding("Rooks", "initR", lambda: exploding.reached(exploding.ROOK_STEPS, 1), "makeInitR"),
    _exploding("Rooks", "maskR", lambda: exploding.reached(exploding.ROOK_STEPS, 7), "makeMaskR"),
    _exploding("Rooks", "repsR", lambda: exploding.ROOK_REPEATS),
    LiteratureTable("rankR", (PageSection(EXPLODING, "Rooks"),), ("file", "free"), _first_rank, "rank", "makeRankR"),
    _masks("dirMaskRight", "file", lambda: exploding.files_beyond(BIG_ENDIAN_FILES, right=True)),
    _masks("dirMaskLeft", "file", lambda: exploding.files_beyond(BIG_ENDIAN_FILES, right=False)),
    _masks("dirMaskUp", "rank", lambda: exploding.RANKS_ABOVE),
    _masks("dirMaskDown", "rank", lambda: exploding.RANKS_BELOW),
)
"""All tables, in the order of the pages."""


def table(name: str) -> LiteratureTable:
    """Return the table with this name, or computed by a function with this name, in any case.

    Raise ValueError for another name, with the nearest ones if any are near.
    """
    known = {each.lower(): table for table in TABLES for each in (table.name, table.maker) if each}
    if name.lower() in known:
        return known[name.lower()]
    near = [known[n].name for n in difflib.get_close_matches(name.lower(), known, n=3, cutoff=0.5)]
    offer = f"the nearest names are {', '.join(dict.fromkeys(near))}" if near else "setwise table shows them all"
    raise ValueError(f"unknown table '{name}': {offer}")
