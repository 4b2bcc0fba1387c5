import setwise
from setwise import NOEA, NORT, NOWE, SOEA, SOUT, SOWE, Board, Word, fills, ray


@setwise.routine
def backward(white: Board, black: Board) -> Board:
    """White's pawns that a black pawn takes if they advance, and that no white pawn beside or behind can support."""
    supported = fills.kogge_stone.empty_fill(ray(NORT), white.step(NOEA) | white.step(NOWE))
    taken = black.step(SOEA) | black.step(SOWE)
    return white & (taken & ~supported).step(SOUT)


@backward.specification
def _(white: Word, black: Word) -> Word:
    found = white & 0
    for pawn in range(64):
        beside = [s for s in range(64) if abs(s % 8 - pawn % 8) == 1]
        takers = black & sum(1 << s for s in beside if s // 8 == pawn // 8 + 2)
        supporters = white & sum(1 << s for s in beside if s // 8 <= pawn // 8)
        found |= (white >> pawn & (takers != 0) & (supporters == 0)) << pawn
    return found
