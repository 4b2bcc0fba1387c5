from typing import NamedTuple

import setwise
from setwise import DIR8, Board, Word, fills, ray


class Placement(NamedTuple):
    threatened: Board
    """Queens that another attacks: none if they are independent."""
    free: Board
    """Squares without a queen that none attacks: none if they dominate the board."""


@setwise.routine
def placement(queens: Board) -> Placement:
    """Whether queens leave each other in peace, and whether they rule the board."""
    attacked = setwise.union(fills.kogge_stone.empty_attacks(ray(direction), queens) for direction in DIR8)
    return Placement(queens & attacked, ~(queens | attacked))


@placement.specification
def _(queens: Word) -> tuple[Word, Word]:
    attacked = queens & 0
    for s in range(64):
        for t in set(range(64)) - {s}:
            if s % 8 == t % 8 or s // 8 == t // 8 or abs(s % 8 - t % 8) == abs(s // 8 - t // 8):
                attacked |= (queens >> s & 1) << t
    return queens & attacked, ~queens & ~attacked
