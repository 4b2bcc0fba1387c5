from typing import NamedTuple

import setwise
from setwise import NOEA, NORT, NOWE, Board, Word, fills, ray, spec


class Pawns(NamedTuple):
    attacks: Board
    spans: Board


@setwise.routine
def pawns(white: Board) -> Pawns:
    """Squares that White's pawns attack, and those that they may come to attack."""
    attacks = white.step(NOEA) | white.step(NOWE)
    return Pawns(attacks, fills.kogge_stone.empty_fill(ray(NORT), attacks))


@pawns.specification
def _(white: Word) -> tuple[Word, Word]:
    attacks = spans = spec.step("noEa", white) | spec.step("noWe", white)
    for _ in range(6):
        spans = spans | spec.step("nort", spans)
    return attacks, spans
