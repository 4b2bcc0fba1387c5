import setwise
from setwise import EAST, SOUT, WEST, Board, Word, fills, ray


@setwise.routine
def passed(white: Board, black: Board) -> Board:
    """White's pawns that no black pawn can stop: none is ahead of them on their file or beside it."""
    guarded = black.step(SOUT) | black.step(SOUT, EAST) | black.step(SOUT, WEST)
    return white & ~fills.kogge_stone.empty_fill(ray(SOUT), guarded)


@passed.specification
def _(white: Word, black: Word) -> Word:
    found = white & 0
    for pawn in range(64):
        guards = [s for s in range(64) if s // 8 > pawn // 8 and abs(s % 8 - pawn % 8) <= 1]
        found |= (white >> pawn & (black & sum(1 << s for s in guards) == 0)) << pawn
    return found
