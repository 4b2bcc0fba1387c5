import setwise
from setwise import EAST, NOEA, NORT, NOWE, Board, Grid, Word, spec

GRID = Grid(7, 6, gap=1)


@setwise.routine(grid=GRID)
def fours(own: Board) -> Board:
    """Squares of Connect-4 at which four discs in a row end."""
    ends = []
    for direction in (EAST, NORT, NOEA, NOWE):
        pairs = own & GRID.step(own, direction)
        ends.append(pairs & GRID.step(pairs, direction, direction))
    return setwise.union(ends)


@fours.specification
def _(own: Word) -> Word:
    ends = own & 0
    for direction in ("east", "nort", "noEa", "noWe"):
        for line in spec.lines(direction, GRID):
            for a, b, c, d in zip(*(line[at:] for at in range(4)), strict=False):
                ends |= (own >> a & own >> b & own >> c & own >> d & 1) << d
    return ends
