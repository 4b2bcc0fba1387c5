import setwise
from setwise import EAST, NORT, SOUT, WEST, Board, Word, select, spec

JUMPS = [(NORT, EAST), (NORT, WEST), (SOUT, EAST), (SOUT, WEST), (EAST, NORT), (EAST, SOUT), (WEST, NORT), (WEST, SOUT)]


@setwise.routine
def next_squares(knight: Board, visited: Board) -> Board:
    """Warnsdorff's rule for a knight's tour: the next squares with the fewest moves on."""
    best, planes = setwise.constant(0), [setwise.constant(0)] * 4
    for a, b in JUMPS:
        best |= knight.step(a, a, b) & ~visited
        carry = (~visited).step(a, a, b)
        for i, plane in enumerate(planes):
            planes[i], carry = plane ^ carry, plane & carry
    for plane in reversed(planes):  # the highest bit of the counts first
        best = select((best & ~plane).is_empty(), best, best & ~plane)
    return best


@next_squares.specification
def _(knight: Word, visited: Word) -> Word:
    jumps = [[s for s in range(64) if abs(s % 8 - t % 8) * abs(s // 8 - t // 8) == 2] for t in range(64)]
    moves = [spec.population(~visited & sum(1 << s for s in squares)) for squares in jumps]
    best = knight & 0
    for count in range(9):
        options = (setwise.union(knight >> s & (moves[t] == count) for s in jumps[t]) << t for t in range(64))
        best |= setwise.union(options) & ~visited & 0 - (best == 0)
    return best
