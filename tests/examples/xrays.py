import setwise
from setwise import Board, Empty, Ray, Word, fills, spec


@setwise.routine
def xrays(ray: Ray, sliders: Board, own: Board, empty: Empty) -> Board:
    """Squares that sliders attack through the first own piece on their way."""
    first = own & fills.kogge_stone.attacks(ray, sliders, empty)
    return fills.kogge_stone.attacks(ray, first, empty)


@xrays.specification
def _(direction: str, sliders: Word, own: Word, empty: Word) -> Word:
    nothing = attacked = own & 0
    for line in spec.lines(direction):
        direct = through = nothing
        for square in line:
            attacked = attacked | (through << square)
            through = (through & empty >> square) | (direct & own >> square)
            direct = (direct & empty >> square) | (sliders >> square & 1)
    return attacked
