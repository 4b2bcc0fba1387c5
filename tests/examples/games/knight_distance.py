import setwise
from setwise import EAST, NORT, SOUT, WEST, Board, Word

JUMPS = [(NORT, EAST), (NORT, WEST), (SOUT, EAST), (SOUT, WEST), (EAST, NORT), (EAST, SOUT), (WEST, NORT), (WEST, SOUT)]


@setwise.routine
def within_three(knights: Board) -> Board:
    """Squares that knights reach in at most three moves."""
    reached = knights
    for _ in range(3):
        reached |= setwise.union(reached.step(a, a, b) for a, b in JUMPS)
    return reached


@within_three.specification
def _(knights: Word) -> Word:
    found = knights & 0
    jumps = [[s for s in range(64) if abs(s % 8 - t % 8) * abs(s // 8 - t // 8) == 2] for t in range(64)]
    for start in range(64):
        near = {start}
        for _ in range(3):
            near |= {square for s in near for square in jumps[s]}
        found |= setwise.union((knights >> start & 1) << square for square in near)
    return found
