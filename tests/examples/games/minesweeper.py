from typing import NamedTuple

import setwise
from setwise import DIR8, Board, Word, spec


class Counts(NamedTuple):
    ones: Board
    twos: Board
    fours: Board
    eights: Board


@setwise.routine
def mines_around(mines: Board) -> Counts:
    """The number of mines around each square, as four bit planes."""
    planes = [setwise.constant(0)] * 4
    for direction in DIR8:
        carry = mines.step(direction)
        for i, plane in enumerate(planes):
            planes[i], carry = plane ^ carry, plane & carry
    return Counts(*planes)


@mines_around.specification
def _(mines: Word) -> tuple[Word, ...]:
    around = [[s for s in range(64) if max(abs(s % 8 - t % 8), abs(s // 8 - t // 8)) == 1] for t in range(64)]
    counts = [spec.population(mines & sum(1 << s for s in squares)) for squares in around]
    return tuple(setwise.union((count >> i & 1) << s for s, count in enumerate(counts)) for i in range(4))
