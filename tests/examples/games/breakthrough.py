import setwise
from setwise import NOEA, NORT, NOWE, Board, Word


@setwise.routine
def targets(white: Board, black: Board) -> Board:
    """Squares that White may move to in Breakthrough: ahead if empty, diagonally ahead if empty or Black's."""
    return white.step(NORT) & ~(white | black) | (white.step(NOEA) | white.step(NOWE)) & ~white


@targets.specification
def _(white: Word, black: Word) -> Word:
    found = white & 0
    for square in range(64):
        for before in range(64):
            if before // 8 == square // 8 - 1 and abs(before % 8 - square % 8) <= 1:
                blocked = white | black if before % 8 == square % 8 else white
                found |= (white >> before & ~(blocked >> square) & 1) << square
    return found
