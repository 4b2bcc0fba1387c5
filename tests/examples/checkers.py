import setwise
from setwise import BISHOP, Board, Empty, Word


@setwise.routine
def jumps(kings: Board, other: Board, empty: Empty) -> Board:
    """Squares that checkers' kings reach by one to three jumps over the other's pieces."""
    reached = kings
    for _ in range(3):
        reached |= empty & setwise.union((reached.step(d) & other).step(d) for d in BISHOP)
    return reached & ~kings


@jumps.specification
def _(kings: Word, other: Word, empty: Word) -> Word:
    reached = [kings >> square & 1 for square in range(64)]
    for _ in range(3):
        before = list(reached)
        for start in range(64):
            for way in (9, 7, -9, -7):
                over, end = start + way, start + 2 * way
                if 0 <= end < 64 and abs(start % 8 - end % 8) == 2:
                    reached[end] |= before[start] & other >> over & empty >> end
    return setwise.union(bit << square for square, bit in enumerate(reached)) & ~kings
