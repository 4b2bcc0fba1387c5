import setwise
from setwise import FILE_A, RANK_1, Board, Occupied, Square, Word


@setwise.routine
def rook_attacks(square: Square, occupied: Occupied) -> Board:
    """Squares that a rook attacks, by hyperbola quintessence: a subtraction up its file or rank, and one down it."""
    rook = 1 << square
    attacked = []
    for line in (FILE_A << (square & 7), RANK_1 << (square & 56)):
        line ^= rook
        blockers = occupied & line
        up, down = blockers - rook, blockers.reverse_bits() - rook.reverse_bits()
        attacked.append((up ^ down.reverse_bits()) & line)
    return setwise.union(attacked)


@rook_attacks.specification
def _(square: Word, occupied: Word) -> Word:
    attacked = occupied & 0
    for files, ranks in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        file, rank, seen = square % 8 + files, square // 8 + ranks, ~occupied | 1
        while 0 <= file < 8 and 0 <= rank < 8:
            attacked |= (seen & 1) << 8 * rank + file
            seen = seen & ~(occupied >> 8 * rank + file)
            file, rank = file + files, rank + ranks
    return attacked
