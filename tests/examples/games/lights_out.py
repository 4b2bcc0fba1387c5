import setwise
from setwise import ROOK, Board, Word


@setwise.routine
def pressed(lights: Board, buttons: Board) -> Board:
    """The lights after buttons are pressed: each switches its own light and those beside it."""
    lights ^= buttons
    for direction in ROOK:
        lights ^= buttons.step(direction)
    return lights


@pressed.specification
def _(lights: Word, buttons: Word) -> Word:
    for button in range(64):
        beside = (s for s in range(64) if abs(s % 8 - button % 8) + abs(s // 8 - button // 8) <= 1)
        for light in beside:
            lights = lights ^ (buttons >> button & 1) << light
    return lights
