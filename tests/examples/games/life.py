import setwise
from setwise import DIR8, Board, Word, spec


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
    after = cells & 0
    for square in range(64):
        near = (s for s in range(64) if max(abs(s % 8 - square % 8), abs(s // 8 - square // 8)) == 1)
        count = spec.population(cells & sum(1 << s for s in near))
        after |= ((count == 3) | (count == 2) & cells >> square & 1) << square
    return after
