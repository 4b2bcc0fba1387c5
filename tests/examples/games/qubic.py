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
        starts = [0 <= c + 3 * z < 4 and 0 <= b + 3 * y < 4 and 0 <= a + 3 * x < 4 for c, b, a in CELLS]
        pairs = stones & stones >> shift
        lines.append(pairs & pairs >> 2 * shift & sum(start << cell for cell, start in enumerate(starts)))
    return setwise.union(lines)


@won.specification
def _(stones: Word) -> Word:
    found = stones & 0
    for first, way in product(CELLS, WAYS):
        line = [tuple(at + i * by for at, by in zip(first, way, strict=True)) for i in range(4)]
        if set(line) <= set(CELLS):
            gaps = setwise.union(~stones >> CELLS.index(cell) & 1 for cell in line)
            found |= (gaps ^ 1) << CELLS.index(first)
    return found
