"""Othello's mobility in three descriptions: every instruction set takes that which is shortest there."""

import setwise
from setwise import DIR8, EAST, NOEA, NORT, NOWE, Board, Layout, Ray, Word, spec

AXES = (EAST, NORT, NOEA, NOWE)


def turned_both_ways(left: Ray, right: Ray, own: Board, line: Board) -> Board:
    """Squares beyond lines of discs on an axis: the first two of each line from either side at once, then by two."""
    turned = line & (left.step(own) | right.step(own))
    turned |= line & (left.step(turned) | right.step(turned))
    pair, beyond = left.run(line, 2), right.step(turned)
    for _ in range(2):
        turned |= pair & left.step(turned, 2)
        beyond |= right.step(pair & beyond, 2)
    return left.step(turned) | beyond


def turned_along(ray: Ray, own: Board, line: Board) -> Board:
    """Squares beyond lines of discs along a ray."""
    turned, pair = line & ray.step(own), ray.run(line, 2)
    for run, steps in ((line, 1), (pair, 2), (pair, 2)):
        turned |= run & ray.step(turned, steps)
    return ray.step(turned)


@setwise.routine
def mobility(layout: Layout, own: Board, other: Board) -> Board:
    """Empty squares from which a line of the other's discs leads to an own one."""
    axes = ((left, right, left.path(right.path(other))) for left, right in layout.axes(AXES))
    return layout.union(turned_both_ways(left, right, own, line) for left, right, line in axes) & ~(own | other)


@mobility.description
def _(layout: Layout, own: Board, other: Board) -> Board:
    """With eight directions in a register: each ray by itself, and lanes know what is empty."""
    ends = []
    for ray in layout.rays(DIR8):
        taken = layout.board(ray, own) | layout.board(ray, other)
        ends.append(turned_along(ray, own, ray.path(other, attacks=True)) & ~taken)
    return layout.union(ends)


@mobility.description
def _(layout: Layout, own: Board, other: Board) -> Board:
    """On general registers: east by an addition, whose carry runs through the line."""
    ends = []
    for left, right in layout.axes(AXES):
        line = left.path(right.path(other))
        if left.directions == (EAST,):
            ends += [line + (line & left.step(own)), turned_along(right, own, line)]
        else:
            ends.append(turned_both_ways(left, right, own, line))
    return layout.union(ends) & ~(own | other)


mobility.requires(lambda own, other: own & other == 0)


@mobility.specification
def _(own: Word, other: Word) -> Word:
    ends = (spec.step(d, spec.occluded(d, spec.step(d, own) & other, other)) for d in spec.DIR8)
    return setwise.union(ends) & ~(own | other)
