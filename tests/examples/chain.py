from typing import NamedTuple

import setwise
from setwise import Board, Layout, Occupied, Word, fills, spec


class Chain(NamedTuple):
    by_minors: Board
    by_rooks: Board


@setwise.routine
def chain(layout: Layout, knights: Board, bishops: Board, rooks: Board, others: Occupied) -> Chain:
    """Squares that knights and bishops attack; squares that they or rooks attack."""
    side = fills.sides.side_of(layout, "white", others | bishops | rooks, knights=knights, bishops=bishops, rooks=rooks)
    _, by_knights, by_bishops, by_rooks, _, _ = fills.sides.by_kind(side)
    return Chain(by_knights | by_bishops, by_knights | by_bishops | by_rooks)


@chain.specification
def _(knights: Word, bishops: Word, rooks: Word, others: Word) -> tuple[Word, Word]:
    by_rooks, by_bishops = spec.pair(rooks, bishops, ~(others | bishops | rooks))
    by_minors = spec.leaperwalk.knights(knights) | by_bishops
    return by_minors, by_minors | by_rooks
