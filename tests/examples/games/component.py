import setwise
from setwise import ROOK, Board, Word, nonzero, while_


@setwise.routine
def component(seed: Board, own: Board) -> Board:
    """The squares of `own` that are connected with the seed, by squares that share a side."""

    def spread(reached: Board, _: Board) -> tuple[Board, Board]:
        return reached | own & setwise.union(reached.step(direction) for direction in ROOK), reached

    reached, _ = while_(lambda reached, before: nonzero(reached ^ before), spread, seed & own, seed & 0)
    return reached


@component.specification
def _(seed: Word, own: Word) -> Word:
    beside = [[s for s in range(64) if abs(s % 8 - t % 8) + abs(s // 8 - t // 8) == 1] for t in range(64)]
    reached = [(seed & own) >> square for square in range(64)]
    for _ in range(63):
        reached = [setwise.union([reached[t], *(own >> t & reached[s] for s in beside[t])]) for t in range(64)]
    return setwise.union((bit & 1) << square for square, bit in enumerate(reached))
