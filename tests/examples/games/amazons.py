import setwise
from setwise import DIR8, Board, Word, fills, ray, spec


@setwise.routine
def arrows(amazon: Board, taken: Board) -> Board:
    """Squares that an amazon's arrow may hit: it moves like a queen, then shoots like one, also over where it was."""

    def slide(queens: Board, empty: Board) -> Board:
        return empty & setwise.union(fills.kogge_stone.attacks(ray(direction), queens, empty) for direction in DIR8)

    return slide(slide(amazon, ~(amazon | taken)), ~taken)


@arrows.specification
def _(amazon: Word, taken: Word) -> Word:
    moved = spec.attacks("queen", amazon, ~taken & ~amazon) & ~taken & ~amazon
    return spec.attacks("queen", moved, ~taken) & ~taken
