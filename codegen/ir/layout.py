"""Layouts: how a description's boards and rays lie in registers."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add, or_
from typing import TypeVar

from setwise.codegen.board import ALL, ROOK, Direction
from setwise.codegen.ir.values import CompassRay, Value, beside, constant, make, repeated, reshaped, total

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Layout:
    """What a description of several directions asks for: its rays, boards for them, and the union in the end.

    boards: every value holds `lanes` boards, and a ray goes one direction.
    directions: every ray holds up to `lanes` directions of one board. They are of both sides where the target rotates
    (`mixes`), else left and right ones lie apart. With one lane a ray is one direction, and all is scalar code. Two
    lanes go in one direction by one count: the second holds the board mirrored, its ranks in the opposite order, where
    north is south. Directions that lie `apart` have a general register each, whatever the lanes of the others.
    """

    lanes: int = 1
    boards: bool = False
    mixes: bool = False
    apart: tuple[Direction, ...] = ()

    @property
    def packed(self) -> int:
        """How many directions a register may hold."""
        return 1 if self.boards else self.lanes

    @property
    def abreast(self) -> bool:
        """Whether all rays lie in lanes: of a board's directions none has a general register of its own."""
        return self.packed > 2 and not self.apart

    @property
    def mirrors(self) -> bool:
        """Whether a ray's second lane is the mirrored board; a ray without a partner there goes alone.

        So goes a fill that looks the same in the mirror: one without constants that tell ranks apart.
        """
        return self.packed == 2

    def rays(self, directions: Sequence[Direction]) -> tuple[CompassRay, ...]:
        """Rays that hold all directions; one that does not fill its register goes some of its directions twice.

        >>> from setwise.codegen.board import EASTWARD
        >>> [ray.directions for ray in Layout(lanes=2).rays(EASTWARD)]
        [(noEa, noEa), (east,)]
        """
        if self.packed == 1:
            return _alone(directions)
        if self.apart:
            alone, beside = self._divided(directions)
            return (*_alone(alone), *replace(self, apart=()).rays(beside))
        if self.mirrors:
            return tuple(_paired(directions))
        sides = (
            [directions]
            if self.mixes
            else [[d for d in directions if d.shift > 0], [d for d in directions if d.shift < 0]]
        )
        if all(len(side) == 1 for side in sides):
            return _alone(directions)
        return tuple(
            self._ray(side[at : at + self.packed]) for side in sides for at in range(0, len(side), self.packed)
        )

    def axes(self, directions: Sequence[Direction]) -> tuple[tuple[CompassRay, CompassRay], ...]:
        """Pairs of a ray to the left and the ray back, for the axes of the given left directions."""
        alone, beside = (directions, ()) if self.packed <= 2 else self._divided(directions)
        lefts = _alone(alone)
        if beside:
            lefts += tuple(self._ray(beside[at : at + self.packed]) for at in range(0, len(beside), self.packed))
        return tuple((left, left.opposite) for left in lefts)

    def _divided(self, directions: Sequence[Direction]) -> tuple[Sequence[Direction], Sequence[Direction]]:
        """The directions that have a register each, and those that share some."""
        return [d for d in directions if d in self.apart], [d for d in directions if d not in self.apart]

    def _ray(self, directions: Sequence[Direction]) -> CompassRay:
        lanes = max(2, 1 << (len(directions) - 1).bit_length())
        return CompassRay(tuple((*directions, *directions, *directions)[:lanes]))

    @property
    def holds_two(self) -> bool:
        """Whether a register holds the axes twice, for two sets of sliders."""
        return self.packed == 8 and self.abreast

    def sliders(self, ray: CompassRay, rooks: Value, bishops: Value, *second: Value) -> Value:
        """The sliders that go along a ray: rooks or bishops, in each lane; in the upper half those of a second set.

        With two sets the ray goes along an axis of rooks and one of bishops in turns.
        """
        if second:
            return repeated(beside(rooks, bishops), beside(*second))
        if ray.straight is not None or rooks is bishops:
            return self.board(ray, rooks if ray.straight else bishops)
        straight = [direction in ROOK for direction in ray.directions]
        if straight == sorted(straight, reverse=True) and straight.count(True) == len(straight) // 2 > 2:
            # Beside rooks in the lower lanes alone a mask of bishops is free to drop those that the ray leads nowhere.
            lower = reshaped("extended", reshaped("broadcast", rooks, len(straight) // 2), len(straight))
            leave = (0 if d in ROOK else d.opposite.reach(1) for d in ray.directions)
            return lower | self.board(ray, bishops) & constant(tuple(leave))
        chosen = constant(tuple(-1 if d else 0 for d in straight))
        return make("select", chosen, self.board(ray, rooks), self.board(ray, bishops))

    def board(self, ray: CompassRay, board: Value) -> Value:
        """A board for every lane of a ray."""
        return _mirrored(board, board) if self._mirrored(ray) else ray.spread(board)

    def joined(self, ray: CompassRay, board: Value, other: Value, ways: Container[Direction]) -> Value:
        """A board for every lane of a ray, and with it another one in lanes that go one of these ways."""
        goes = [direction in ways for direction in self.directions(ray)]
        if self._mirrored(ray):
            return _mirrored(*(board | other if way else board for way in goes))
        return self.board(ray, board) | self.board(ray, other) & constant(tuple(ALL if way else 0 for way in goes))

    def directions(self, ray: CompassRay) -> tuple[Direction, ...]:
        """Where a ray's lanes go on the board.

        >>> from setwise.codegen.board import NOEA
        >>> Layout(lanes=2).directions(CompassRay((NOEA, NOEA)))
        (noEa, soEa)
        """
        if self._mirrored(ray):
            here, there = ray.directions
            return here, there.mirrored
        return ray.directions

    def _mirrored(self, ray: CompassRay) -> bool:
        """Whether the ray's second lane is the mirrored board."""
        return self.mirrors and len(ray.directions) == 2

    def apiece(self, ray: CompassRay, board: Value) -> Iterator[tuple[Direction, Value]]:
        """Each of a ray's directions with its lane, as a board by itself."""
        each = self.halves(board) if self._mirrored(ray) else lanes(board)
        yield from zip(self.directions(ray), each, strict=True)

    def halves(self, board: Value) -> tuple[Value, Value]:
        """The lower and the upper lanes of a board, a mirrored lane the right way round."""
        low, high = halves(board)
        return low, make("flip", high) if self.mirrors else high

    def union(self, boards: Iterable[Value]) -> Value:
        """All squares of all boards and lanes, in one board (a board a lane where lanes are boards)."""
        united = map(union, by_width(_united_before_they_leave(boards)))
        return reduce(or_, united if self.boards else map(self._united, united), constant(0))

    def _united(self, board: Value) -> Value:
        if board.lanes == 1:
            return board
        return union(self.halves(board)) if self.mirrors else reshaped("unite", board)

    def counted(self, boards: Iterable[Value]) -> Value:
        """How many squares all boards have together, those of all lanes (a number a lane where lanes are boards)."""
        counts = (board.popcount() for board in boards)
        return reduce(add, (count if self.boards or count.lanes == 1 else total(count) for count in counts))


def _alone(directions: Sequence[Direction]) -> tuple[CompassRay, ...]:
    """A ray for each direction: so where none has another to share a register with, and lanes would all be the same."""
    return tuple(CompassRay((direction,)) for direction in directions)


def _mirrored(here: Value, there: Value) -> Value:
    """A board, and beside it the mirror image of another."""
    return beside(here, make("flip", there))


def by_width(boards: Iterable[Value]) -> Iterable[list[Value]]:
    """The boards that have as many lanes, together."""
    groups: dict[int, list[Value]] = {}
    for board in boards:
        groups.setdefault(board.lanes, []).append(board)
    return groups.values()


def _united_before_they_leave(boards: Iterable[Value]) -> Iterator[Value]:
    """The boards, those that are lower lanes of vectors as the lower lane of one."""
    lower: list[Value] = []
    for board in boards:
        if board.op == "low-half" and board.lanes == 1:
            lower += board.args
        else:
            yield board
    if lower:
        yield reshaped("low-half", union(lower))


def union(boards: Iterable[T]) -> T:
    """All squares of all boards, or words."""
    return reduce(or_, boards)


def halves(value: Value) -> tuple[Value, Value]:
    """The lower and the upper lanes of a value."""
    lanes = value.lanes // 2
    return reshaped("low-half", value, lanes), reshaped("high-half", value, lanes)


def lanes(value: Value) -> tuple[Value, ...]:
    """Each lane by itself."""
    return (value,) if value.lanes == 1 else tuple(lane for half in halves(value) for lane in lanes(half))


def folded_apart(value: Value) -> tuple[Value, Value]:
    """The lower and the upper four lanes of a value of eight, each folded onto two."""
    low, high = halves(value | reshaped("exchange", value, 8))
    return reshaped("low-half", low, 2), reshaped("low-half", high, 2)


def united_beside(one: Value, other: Value) -> Value:
    """All squares of all lanes of one value, and beside them those of the other."""
    return folded(make("join", one, other) | make("join-odd", one, other), 2)


def folded(value: Value, lanes: int) -> Value:
    """The value folded onto so many lanes, its upper half on the lower one each time."""
    while value.lanes > lanes:
        low, high = halves(value)
        value = low | high
    return value


def _paired(directions: Sequence[Direction]) -> Iterator[CompassRay]:
    """A ray of two lanes for a direction and its mirrored one, where both are wanted and differ; else one of one."""
    for at, direction in enumerate(directions):
        other = direction.mirrored
        if other is direction or other not in directions:
            yield CompassRay((direction,))
        elif other not in directions[:at]:
            yield CompassRay((direction, direction))
