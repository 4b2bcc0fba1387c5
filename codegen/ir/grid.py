"""Grids: boards of other files and ranks within 64 bits, with steps and rays that are shifts and masks of constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product, zip_longest
from string import ascii_lowercase

from setwise.codegen.board import Direction, leap
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.values import DirectedRay, Value, constant, lifted, shift_signed
from setwise.codegen.numbering import Numbering


class Grid(Numbering):
    """A board of `files` by `ranks`, numbered along each rank from a1 = 0, or with `by_files` along each file.

    `gap` bits without a square follow each rank, or each file. `wrap` joins opposite edges: "files" the last file and
    the first, "ranks" the last rank and the first, "both" both. With `dark` there are only the dark squares, as in
    checkers: half as many numbers, each half as large. Raise a one-line ValueError unless all fits 64 bits.

    >>> print(Grid(7, 6, gap=1))
    Grid(7, 6, gap=1): a1 = 0, g1 = 6, a6 = 40, g6 = 46
    >>> Grid(5, 5).square("e5"), hex(Grid(7, 6, gap=1).file("a")), hex(Grid(8, 8, dark=True).rank(2))
    (24, '0x10101010101', '0xf0')
    """

    def __init__(
        self, files: int, ranks: int, gap: int = 0, wrap: str = "", *, by_files: bool = False, dark: bool = False
    ) -> None:
        options = {"gap": gap, "wrap": wrap, "by_files": by_files, "dark": dark}
        name = f"Grid({files!r}, {ranks!r}{''.join(f', {key}={value!r}' for key, value in options.items() if value)})"
        if not all(isinstance(number, int) for number in (files, ranks, gap)):
            raise ValueError(f"{name}: give whole numbers of files, ranks and gap")
        if not (1 <= files <= 26 and 1 <= ranks <= 64 and gap >= 0):
            raise ValueError(f"{name}: give 1 to 26 files, 1 to 64 ranks, and a gap of 0 or more")
        if wrap not in ("", "files", "ranks", "both"):
            raise ValueError(f'{name}: write wrap="files", "ranks" or "both"')
        if dark and (files % 2 * (wrap in ("files", "both")) or ranks % 2 * (wrap in ("ranks", "both"))):
            raise ValueError(f"{name}: dark squares wrap only around an even number of files or ranks")
        width = gap + (ranks if by_files else files)

        def number(file: int, rank: int) -> int:
            along = rank + width * file if by_files else file + width * rank
            return -1 if dark and (file + rank) % 2 else along >> bool(dark)

        numbers = tuple(number(file, rank) for rank in range(ranks) for file in range(files))
        if max(numbers) > 63:
            raise ValueError(f"{name} takes {max(numbers) + 1} bits: a board has 64")
        super().__init__(name, numbers, files, ranks, wrap)

    def __str__(self) -> str:
        corners = sorted({max(self.numbers[:: self.files]), max(self.numbers[: self.files]), 0, max(self.numbers)})
        return f"{self.name}: {', '.join(f'{self.square_name(number)} = {number}' for number in corners)}"

    def file(self, letter: str) -> int:
        """Return the board of a file, a for the first. Raise ValueError for another text."""
        number = ascii_lowercase[: self.files].find(letter.lower()) if len(letter) == 1 else -1
        if number < 0:
            raise ValueError(f"no file {letter!r}: files are a to {ascii_lowercase[self.files - 1]}")
        return sum(1 << each for each in self.numbers[number :: self.files] if each >= 0)

    def rank(self, number: int) -> int:
        """Return the board of a rank, 1 for the first. Raise ValueError for another number."""
        if not 1 <= number <= self.ranks:
            raise ValueError(f"no rank {number}: ranks are 1 to {self.ranks}")
        line = self.numbers[(number - 1) * self.files : number * self.files]
        return sum(1 << each for each in line if each >= 0)

    def step(self, board: Value | int, *directions: Direction) -> Value:
        """Return the squares, moved by the sum of these steps as one leap. Those that leave the grid are dropped.

        >>> from setwise.codegen.board import WEST
        >>> hex(Grid(8, 8, wrap="files").step(0x81, WEST).number)
        '0xc0'
        """
        return GridRay((leap(*directions),), self).moved(lifted(board), 1)

    def ray(self, *directions: Direction) -> GridRay:
        """Return the ray of a direction, or of several steps taken as one leap, for the catalogue's fills.

        A ray has at most 7 steps. Raise ValueError if a line of the grid has more than 8 squares, or a ring over 7.
        """
        to = leap(*directions)
        for file, rank in product(range(self.files), range(self.ranks)):
            line = [self.at(file + n * to.file_step, rank + n * to.rank_step) for n in range(9)]
            if -1 not in line and line[0] not in line[1:8]:
                raise ValueError(f"a ray {to} of {self.name} has more than 7 steps: write a loop of grid.step")
        return GridRay((to,), self)

    def rays(self, layout: Layout, directions: Sequence[Direction]) -> tuple[GridRay, ...]:
        """Return rays that cover these directions, several in the lanes of one ray if the layout has lanes for them."""
        for direction in directions:
            self.ray(direction)  # raises ValueError for one with too many steps
        return tuple(GridRay(ray.directions, self) for ray in layout.rays(directions))


@dataclass(frozen=True)
class GridRay(DirectedRay):
    """A ray of a grid: its steps, runs and paths are shifts and masks of constants."""

    grid: Grid

    @property
    def opposite(self) -> GridRay:
        """The ray in the opposite direction."""
        return GridRay(tuple(direction.opposite for direction in self.directions), self.grid)

    def moved(self, board: Value, n: int) -> Value:
        """Return the squares, moved n steps."""
        moved = board & 0
        by_lane = (_shifts(self.grid, n * to.file_step, n * to.rank_step) for to in self.by_lane(board.lanes))
        for lanes in zip_longest(*by_lane, fillvalue=((0,), 0)):
            counts, reached = zip(*lanes, strict=True)
            # Counts of both signs are equal modulo 64, so one rotate serves both.
            turns = any(len(each) > 1 for each in counts)
            first = tuple(each[0] for each in counts)
            moved = moved | (board.rotate(first) if turns else shift_signed(board, first)) & constant(reached)
        return moved

    def _node(self, op: str, value: Value, n: int) -> Value:
        value = self.spread(value)
        if op == "step":
            return self.moved(value, n)
        if op == "path" or n == 1:
            return value & self.moved(constant(self.grid.all, value.lanes), 1)
        behind = n - n // 2
        return self.run(value, behind) & self.step(self.run(value, n // 2), behind)


@cache
def _shifts(grid: Numbering, files: int, ranks: int) -> tuple[tuple[tuple[int, ...], int], ...]:
    """Return the left shifts of a leap, each with the squares that it reaches: counts that are equal modulo 64."""
    found: dict[int, tuple[set[int], int]] = {}
    for place, number in enumerate(grid.numbers):
        to = grid.at(place % grid.files + files, place // grid.files + ranks)
        if number >= 0 and to >= 0:
            counts, reached = found.get((to - number) % 64, (set(), 0))
            found[(to - number) % 64] = counts | {to - number}, reached | 1 << to
    return tuple((tuple(sorted(counts)), reached) for counts, reached in found.values())
