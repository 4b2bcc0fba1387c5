import setwise
from setwise import BISHOP, ROOK, Board, Empty, Word, fills, ray, spec


@setwise.routine
def attacked_twice(rooks: Board, bishops: Board, empty: Empty) -> Board:
    """Squares that sliders attack from two directions or more."""
    once = twice = setwise.constant(0)
    for sliders, directions in ((rooks, ROOK), (bishops, BISHOP)):
        for direction in directions:
            attacks = fills.kogge_stone.attacks(ray(direction), sliders, empty)
            twice |= once & attacks
            once |= attacks
    return twice


@attacked_twice.specification
def _(rooks: Word, bishops: Word, empty: Word) -> Word:
    rays = spec.rays(rooks, bishops, empty)
    counts = [sum((board >> square & 1 for board in rays), start=empty & 0) for square in range(64)]
    return setwise.union((count >= 2) << square for square, count in enumerate(counts))
