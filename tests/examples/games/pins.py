import setwise
from setwise import BISHOP, ROOK, Board, Empty, Word, fills, ray, spec


@setwise.routine
def pinned(king: Board, own: Board, rooks: Board, bishops: Board, empty: Empty) -> Board:
    """Own pieces between the king and one of the other's sliders, which would give check without them."""
    found = []
    for directions, sliders in ((ROOK, rooks), (BISHOP, bishops)):
        for direction in directions:
            seen = fills.kogge_stone.attacks(ray(direction), king, empty)
            found.append(seen & fills.kogge_stone.attacks(ray(direction.opposite), sliders, empty))
    return own & setwise.union(found)


@pinned.specification
def _(king: Word, own: Word, rooks: Word, bishops: Word, empty: Word) -> Word:
    def meets(pieces: Word, squares: list[int]) -> Word:
        found, free = own & 0, own | ~own
        for square in squares:
            found, free = found | free & pieces >> square, free & empty >> square
        return found & 1

    found = own & 0
    for directions, sliders in (("rook", rooks), ("bishop", bishops)):
        for line in (line for direction in spec.directions(directions) for line in spec.lines(direction)):
            for i, square in enumerate(line):
                found |= (meets(king, line[:i][::-1]) & meets(sliders, line[i + 1 :])) << square
    return found & own
