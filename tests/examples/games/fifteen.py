from typing import Annotated

import setwise
from setwise import Bound, Number, Word


@setwise.routine
def slid(tiles: Number, empty: Annotated[Number, Bound(16)], place: Annotated[Number, Bound(16)]) -> Number:
    """The fifteen puzzle, 4 bits a tile and 0 for the empty place, after the tile at `place` has moved there."""
    tile = tiles >> (4 * place) & 15
    return tiles ^ tile << (4 * place) ^ tile << (4 * empty)


@slid.requires
def _(tiles: Word, empty: Word, place: Word) -> Word:
    return tiles >> 4 * empty & 15 == 0


@slid.specification
def _(tiles: Word, empty: Word, place: Word) -> Word:
    before = [tiles >> 4 * at & 15 for at in range(16)]
    moved = sum((tile * (place == at) for at, tile in enumerate(before)), start=tiles & 0)
    after = [tile * (place != at) + moved * (empty == at) for at, tile in enumerate(before)]
    return setwise.union(tile << 4 * at for at, tile in enumerate(after))
