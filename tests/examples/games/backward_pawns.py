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
    for pawn in range(56):
        beside = [s for s in range(64) if abs(s % 8 - pawn % 8) == 1]
        attackers = setwise.union(black & 1 << s for s in beside if s // 8 == pawn // 8 + 2) if pawn < 48 else white & 0
        supporters = setwise.union(white & 1 << s for s in beside if s // 8 <= pawn // 8)
        found |= ((attackers != 0) & (supporters == 0) & white >> pawn) << pawn
    return found
