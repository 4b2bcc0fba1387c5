import setwise
from setwise import ROOK, Board, Word, nonzero, while_


@setwise.routine
def captured(own: Board, other: Board) -> Board:
    """The other's stones in chains without a liberty: without an empty square beside one of their stones."""

    def beside(stones: Board) -> Board:
        return other & setwise.union(stones.step(direction) for direction in ROOK)

    alive = beside(~(own | other))
    alive, _ = while_(lambda new, old: nonzero(new ^ old), lambda new, _: (new | beside(new), new), alive, own & 0)
    return other & ~alive


@captured.specification
def _(own: Word, other: Word) -> Word:
    beside = [[s for s in range(64) if abs(s % 8 - t % 8) + abs(s // 8 - t // 8) == 1] for t in range(64)]
    alive = [~(own | other) >> square for square in range(64)]
    for _ in range(63):
        alive = [setwise.union([alive[t], *(other >> t & alive[s] for s in beside[t])]) for t in range(64)]
    return other & ~setwise.union((bit & 1) << square for square, bit in enumerate(alive))
