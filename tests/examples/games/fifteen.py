from typing import Annotated

import setwise
from setwise import Bound, Number, Word


@setwise.routine
def slid(tiles: Number, empty: Annotated[Number, Bound(16)], place: Annotated[Number, Bound(16)]) -> Number:
    """The fifteen puzzle, 4 bits a tile and 0 for the empty place, after the tile at `place` has moved there."""
    tile = tiles >> (place << 2) & 15
    return tiles ^ tile << (place << 2) ^ tile << (empty << 2)


@slid.requires
def _(tiles: Word, empty: Word, place: Word) -> Word:
    return tiles >> 4 * empty & 15 == 0


@slid.specification
def _(tiles: Word, empty: Word, place: Word) -> Word:
    after = tiles & 0
    for here in range(16):
        for there in range(16):
            moved = (here == empty) & (there == place) | (here == place) & (there == empty)
            stays = (here == there) & (here != empty) & (here != place)
            after |= (moved | stays) * (tiles >> 4 * there & 15) << 4 * here
    return after
