import setwise
from setwise import NOEA, NORT, NOWE, Board, Word


@setwise.routine
def targets(white: Board, black: Board) -> Board:
    """Squares that White may move to in Breakthrough: ahead if empty, diagonally ahead if empty or Black's."""
    return white.step(NORT) & ~(white | black) | (white.step(NOEA) | white.step(NOWE)) & ~white


@targets.specification
def _(white: Word, black: Word) -> Word:
    found = white & 0
    for square in range(8, 64):
        file = square % 8
        for before in range(max(file - 1, 0), min(file + 2, 8)):
            mover = white >> square - 8 - file + before & 1
            free = ~(white >> square) & (~(black >> square) if before == file else 1)
            found |= (mover & free) << square
    return found
