import setwise
from setwise import EAST, NORT, SOUT, WEST, Board, Empty, Grid, Word

GRID = Grid(7, 7)


@setwise.routine(grid=GRID)
def moves(own: Board, empty: Empty) -> Board:
    """Empty squares of Ataxx that a piece grows to, or jumps to: those within two steps, diagonal ones too."""
    wide = setwise.union(GRID.step(own, *steps) for steps in ((EAST,), (EAST, EAST), (WEST,), (WEST, WEST))) | own
    high = setwise.union(GRID.step(wide, *steps) for steps in ((NORT,), (NORT, NORT), (SOUT,), (SOUT, SOUT))) | wide
    return high & empty


@moves.specification
def _(own: Word, empty: Word) -> Word:
    found = own & 0
    for square in range(49):
        for near in range(25):
            start = GRID.at(square % 7 + near % 5 - 2, square // 7 + near // 5 - 2)
            if start >= 0:
                found |= (own >> start & empty >> square & 1) << square
    return found
