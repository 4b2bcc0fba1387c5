import setwise
from setwise import Board, Ray, Word, spec


@setwise.routine
def mobility(ray: Ray, own: Board, other: Board) -> Board:
    """Empty squares from which a line of the other's discs leads to an own one."""
    line = ray.path(other, attacks=True)
    turned, pair = line & ray.step(own), ray.run(line, 2)
    for run, steps in ((line, 1), (pair, 2), (pair, 2)):
        turned |= run & ray.step(turned, steps)
    return ray.step(turned) & ~(own | other)


@mobility.specification
def _(direction: str, own: Word, other: Word) -> Word:
    nothing = ends = own & 0
    for squares in spec.lines(direction):
        beside = between = nothing  # of the square before: is it an own disc, does a line from one end on it?
        for square in squares:
            ends = ends | (between << square)
            between = (beside | between) & other >> square
            beside = own >> square & 1
    return ends & ~(own | other)
