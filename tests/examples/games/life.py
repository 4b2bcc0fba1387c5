import setwise
from setwise import DIR8, Board, Word


@setwise.routine
def life(cells: Board) -> Board:
    """The next generation of Conway's Game of Life; cells beyond the edge are dead."""
    one = two = four = setwise.constant(0)  # bit planes of the number of neighbours; a four once set stays
    for direction in DIR8:
        neighbours = cells.step(direction)
        carry = one & neighbours
        one ^= neighbours
        four |= two & carry
        two ^= carry
    return two & ~four & (one | cells)


@life.specification
def _(cells: Word) -> Word:
    alive = [cells >> square & 1 for square in range(64)]
    after = cells & 0
    for square in range(64):
        near = [s for s in range(64) if max(abs(s % 8 - square % 8), abs(s // 8 - square // 8)) == 1]
        count = sum((alive[s] for s in near), start=cells & 0)
        after |= ((count == 3) | (count == 2) & alive[square]) << square
    return after
