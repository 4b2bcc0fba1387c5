import setwise
from setwise import SOEA, SOWE, Board, Grid, Word

GRID = Grid(8, 8, dark=True)


@setwise.routine(grid=GRID)
def jumpers(white: Board, black: Board) -> Board:
    """White's men of English draughts, on 32 squares, that can jump: beyond a black man the square is empty."""
    empty = ~(white | black)
    return white & setwise.union(GRID.step(black & GRID.step(empty, back), back) for back in (SOEA, SOWE))


@jumpers.specification
def _(white: Word, black: Word) -> Word:
    found = white & 0
    for square in range(32):
        rank = square // 4
        file = square % 4 * 2 + rank % 2  # a1 is dark
        for side in (1, -1):
            over, end = GRID.at(file + side, rank + 1), GRID.at(file + 2 * side, rank + 2)
            if end >= 0:
                found |= (white >> square & black >> over & ~((white | black) >> end) & 1) << square
    return found
