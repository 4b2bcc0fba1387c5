import setwise
from setwise import EAST, NORT, SOUT, WEST, Board, Word


@setwise.routine
def king_zone(king: Board) -> Board:
    """The squares around White's king, and those in front of them."""
    zone = king | king.step(EAST) | king.step(WEST)
    return zone | zone.step(SOUT) | zone.step(NORT) | zone.step(NORT, NORT)


@king_zone.specification
def _(king: Word) -> Word:
    zone = king & 0
    for square in range(64):
        for near in range(64):
            if abs(square % 8 - near % 8) <= 1 and -1 <= near // 8 - square // 8 <= 2:
                zone = zone | ((king >> square & 1) << near)
    return zone
