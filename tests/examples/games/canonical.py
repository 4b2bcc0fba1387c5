from functools import reduce
from itertools import product

import setwise
from setwise import Board, Value, Word


@setwise.routine
def canonical(board: Board) -> Board:
    """The least of a board's eight images, turned and reflected: the same for all boards that differ only so."""
    images = [board, board.flip_diagonal()]
    images += [image.flip_vertical() for image in images]
    images += [image.flip_horizontal() for image in images]
    return reduce(Value.minimum, images)


@canonical.specification
def _(board: Word) -> Word:
    least = board
    for east, north, swap in product((0, 7), (0, 7), (1, -1)):
        image = board & 0
        for square in range(64):
            file, rank = (square % 8, square // 8)[::swap]
            image |= (board >> square & 1) << 8 * (rank ^ north) + (file ^ east)
        least = image ^ (least ^ image) & 0 - (least < image)
    return least
