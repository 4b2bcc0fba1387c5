import setwise
from setwise import DIR8, Board, Layout, Word, fills, spec


@setwise.routine
def flips(layout: Layout, stone: Board, own: Board, other: Board) -> Board:
    """Discs of the other that a new stone turns: they lead without a gap from it to an own disc."""
    turned = []
    for ray in layout.rays(DIR8):
        new, ends, line = (layout.board(ray, board) for board in (stone, own, other))
        ahead = fills.kogge_stone.occluded(ray, new, line)
        turned.append(ahead & fills.kogge_stone.occluded(ray.opposite, ends, line))
    return other & layout.union(turned)


flips.requires(lambda stone, own, other: (stone | own) & other == 0)


@flips.specification
def _(stone: Word, own: Word, other: Word) -> Word:
    turned = own & 0
    for line in (line for direction in spec.DIR8 for line in spec.lines(direction)):
        for start, first in enumerate(line):
            discs, unbroken = 0, stone >> first & 1
            for square in line[start + 1 :]:
                turned |= (0 - (unbroken & own >> square)) & discs
                discs, unbroken = discs | 1 << square, unbroken & other >> square
    return turned
