from itertools import product

import setwise
from setwise import Board, Word

CELLS = list(product(range(4), repeat=3))  # a cell (z, y, x) is bit 16 z + 4 y + x
WAYS = [way for way in product((0, 1, -1), repeat=3) if way > (0, 0, 0)]


@setwise.routine
def won(stones: Board) -> Board:
    """The first cell of each full line of four in Qubic, on a cube of 4 by 4 by 4."""
    lines = []
    for z, y, x in WAYS:
        shift = 16 * z + 4 * y + x
        starts = sum(({c + 3 * z, b + 3 * y, a + 3 * x} <= {0, 1, 2, 3}) << i for i, (c, b, a) in enumerate(CELLS))
        lines.append(starts & stones & stones >> shift & stones >> 2 * shift & stones >> 3 * shift)
    return setwise.union(lines)


@won.specification
def _(stones: Word) -> Word:
    found = stones & 0
    for first, way in product(CELLS, WAYS):
        line = [tuple(at + i * by for at, by in zip(first, way, strict=True)) for i in range(4)]
        if set(line) <= set(CELLS):
            mask = sum(1 << CELLS.index(cell) for cell in line)
            found |= (stones & mask == mask) << CELLS.index(first)
    return found
