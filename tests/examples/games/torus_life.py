from itertools import product

import setwise
from setwise import DIR8, Board, Grid, Word

GRID = Grid(6, 6, wrap="both")


@setwise.routine(grid=GRID)
def life(cells: Board) -> Board:
    """The next generation of the Game of Life on a torus of 6 by 6 cells."""
    one = two = four = setwise.constant(0)  # bit planes of the number of neighbours; a four once set stays
    for direction in DIR8:
        neighbours = GRID.step(cells, direction)
        carry = one & neighbours
        one ^= neighbours
        four |= two & carry
        two ^= carry
    return two & ~four & (one | cells)


@life.specification
def _(cells: Word) -> Word:
    after = cells & 0
    for file, rank in product(range(6), repeat=2):
        square, *near = (6 * ((rank + y) % 6) + (file + x) % 6 for y, x in product((0, 1, -1), repeat=2))
        count = sum((cells >> s & 1 for s in near), start=cells & 0)
        after |= ((count == 3) | (count == 2) & cells >> square & 1) << square
    return after
