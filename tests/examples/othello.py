import setwise
from setwise import EAST, NOEA, NORT, NOWE, Board, Layout, Word, spec


@setwise.routine
def mobility(layout: Layout, own: Board, other: Board) -> Board:
    """Empty squares from which a line of the other's discs leads to an own one."""
    ends = []
    for left, right in layout.axes((EAST, NORT, NOEA, NOWE)):
        line = left.path(right.path(other))
        turned, beyond = line & left.step(own), right.step(line & right.step(own))
        for run, steps in ((line, 1), (left.run(line, 2), 2), (left.run(line, 2), 2)):
            turned |= run & left.step(turned, steps)
            beyond |= right.step(run & beyond, steps)
        ends += [left.step(turned), beyond]
    return layout.union(ends) & ~(own | other)


@mobility.specification
def _(own: Word, other: Word) -> Word:
    beside = {direction: spec.step(direction, own) & other for direction in spec.DIR8}
    ends = (spec.step(direction, spec.occluded(direction, beside[direction], other)) for direction in beside)
    return setwise.union(ends) & ~(own | other)
