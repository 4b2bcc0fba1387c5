"""Layouts: the assignment of boards and ray directions to the lanes of a register."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add, or_
from typing import TypeVar

from setwise.codegen.board import ALL, ROOK, Direction
from setwise.codegen.ir.values import CompassRay, DirectedRay, Value, beside, constant, make, repeated, reshaped, total

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Layout:
    """The assignment of boards or directions to lanes; a description takes its rays from it.

    If `batched`, a value holds `lanes` boards and a ray has one direction. Otherwise a ray holds up to `lanes`
    directions of one board; two lanes then shift by the same count, as the second holds the vertically flipped board,
    in which north is south. With one lane the code is scalar. `both_sides` permits left directions, which shift left,
    and right ones in one register; that needs rotates. Directions in `scalar_directions` use a general register each.
    """

    lanes: int = 1
    batched: bool = False
    both_sides: bool = False
    scalar_directions: tuple[Direction, ...] = ()

    @property
    def directions_per_register(self) -> int:
        """The number of directions that a register may hold."""
        return 1 if self.batched else self.lanes

    @property
    def all_in_lanes(self) -> bool:
        """Whether registers hold more than two directions, and no direction uses a general register."""
        return self.directions_per_register > 2 and not self.scalar_directions

    @property
    def mirrored(self) -> bool:
        """Whether the second lane of a ray holds the board flipped vertically, for the mirror image of the direction.

        The mirror image of noEa is soEa. A direction without a mirror image in the set uses one lane. The fill must be
        invariant under the flip: its constants must not distinguish ranks.
        """
        return self.directions_per_register == 2

    def rays(self, directions: Sequence[Direction]) -> tuple[CompassRay, ...]:
        """Return rays that cover these directions. Of more than two lanes, those left over repeat directions.

        With two lanes the second direction is as seen on the flipped board.

        >>> from setwise.codegen.board import EASTWARD
        >>> [ray.directions for ray in Layout(lanes=2).rays(EASTWARD)]
        [(noEa, noEa), (east,)]
        """
        if self.directions_per_register == 1:
            return _one_ray_each(directions)
        if self.scalar_directions:
            alone, beside = self._divided(directions)
            return (*_one_ray_each(alone), *replace(self, scalar_directions=()).rays(beside))
        if self.mirrored:
            return tuple(_paired(directions))
        sides = (
            [directions]
            if self.both_sides
            else [[d for d in directions if d.shift > 0], [d for d in directions if d.shift < 0]]
        )
        if all(len(side) == 1 for side in sides):
            return _one_ray_each(directions)
        return tuple(ray for side in sides for ray in self._rays(side))

    def axes(self, directions: Sequence[Direction]) -> tuple[tuple[CompassRay, CompassRay], ...]:
        """Return pairs of a left ray and its opposite. The left rays cover these directions, which must shift left."""
        alone, beside = (directions, ()) if self.directions_per_register <= 2 else self._divided(directions)
        return tuple((left, left.opposite) for left in (*_one_ray_each(alone), *self._rays(beside)))

    def _divided(self, directions: Sequence[Direction]) -> tuple[Sequence[Direction], Sequence[Direction]]:
        """Split the directions into those with a general register each and those that share vector registers."""
        alone = [d for d in directions if d in self.scalar_directions]
        return alone, [d for d in directions if d not in alone]

    def _rays(self, directions: Sequence[Direction]) -> Iterator[CompassRay]:
        """Yield rays of the directions in turn, as many as a register may hold."""
        for at in range(0, len(directions), self.directions_per_register):
            some = directions[at : at + self.directions_per_register]
            lanes = max(2, 1 << (len(some) - 1).bit_length())
            yield CompassRay(tuple((*some, *some, *some)[:lanes]))

    @property
    def masked(self) -> bool:
        """Whether an access to memory may leave out lanes: registers of eight lanes come with mask registers."""
        return self.lanes == 8

    @property
    def holds_two(self) -> bool:
        """Whether a register has room for the axes of two sets of sliders."""
        return self.directions_per_register == 8 and self.all_in_lanes

    def sliders(self, ray: CompassRay, rooks: Value, bishops: Value, *second: Value) -> Value:
        """Return the sliders of a ray: the rooks in lanes of rook directions, the bishops in the others.

        Sliders that cannot move in a lane's direction may be left out. With a second set, the ray must have eight lanes
        that alternate between rook and bishop directions; the upper half of the result holds the second set. Or each
        half has one kind of directions, in pairs of lanes; the odd lanes of the result hold the second set.
        """
        if second:
            sets = [pair if ray.directions[0] in ROOK else pair[::-1] for pair in ((rooks, bishops), second)]
            in_turns = ray.directions[0] is ray.directions[1]
            return repeated(*(beside(*pair) for pair in (zip(*sets, strict=True) if in_turns else sets)))
        if ray.straight is not None or rooks is bishops:
            return self.board(ray, rooks if ray.straight else bishops)
        straight = [direction in ROOK for direction in ray.directions]
        half = len(straight) // 2
        if straight in ([True] * half + [False] * half, [False] * half + [True] * half) and half > 2:
            # One kind fills exactly the lower lanes. The mask of the other also drops sliders that cannot move.
            lower, upper = (rooks, bishops) if straight[0] else (bishops, rooks)
            leave = (0,) * half + tuple(direction.opposite.reach(1) for direction in ray.directions[half:])
            return self.within(ray, lower, ray.directions[:half]) | self.board(ray, upper) & constant(leave)
        chosen = constant(tuple(-1 if d else 0 for d in straight))
        return make("select", chosen, self.board(ray, rooks), self.board(ray, bishops))

    def board(self, ray: DirectedRay, board: Value) -> Value:
        """Return a value with the board in every lane of a ray, flipped if the lane holds the flipped board."""
        return _mirrored(board, board) if self._mirrored(ray) else ray.spread(board)

    def joined(self, ray: DirectedRay, board: Value, other: Value, ways: Container[Direction]) -> Value:
        """Return `board | other` in lanes with a direction in `ways`, else `board`, flipped as by `Layout.board`."""
        goes = [direction in ways for direction in self.directions(ray)]
        if self._mirrored(ray):
            return _mirrored(*(board | other if way else board for way in goes))
        return self.board(ray, board) | self.within(ray, other, ways)

    def within(self, ray: DirectedRay, board: Value, ways: Container[Direction]) -> Value:
        """Return the board in the lanes of a ray with a direction in `ways`, and empty boards in its other lanes."""
        goes = [direction in ways for direction in ray.directions]
        lower = goes.index(False) if False in goes else 0
        if board.lanes == 1 and len(goes) == 8 and lower in (2, 4) and not any(goes[lower:]):
            boards = reshaped("broadcast", board, lower)
            while boards.lanes < 8:
                boards = reshaped("extended", boards, 2 * boards.lanes)
            return boards
        return self.board(ray, board) & constant(tuple(ALL if way else 0 for way in goes))

    def directions(self, ray: DirectedRay) -> tuple[Direction, ...]:
        """Return the direction of each lane, as seen on the board that is not flipped.

        >>> from setwise.codegen.board import NOEA
        >>> Layout(lanes=2).directions(CompassRay((NOEA, NOEA)))
        (noEa, soEa)
        """
        if self._mirrored(ray):
            here, there = ray.directions
            return here, there.mirrored
        return ray.directions

    def _mirrored(self, ray: DirectedRay) -> bool:
        """Return whether the ray's second lane holds the flipped board."""
        return self.mirrored and len(ray.directions) == 2

    def by_direction(self, ray: DirectedRay, board: Value) -> Iterator[tuple[Direction, Value]]:
        """Yield each direction of a ray with its lane of `board` as a one-lane board, which is not flipped."""
        each = self.halves(board) if self._mirrored(ray) else (board,) if self.batched else lanes(board)
        yield from zip(self.directions(ray), each, strict=True)

    def halves(self, board: Value) -> tuple[Value, Value]:
        """Return the lower and the upper lanes of a board, with a flipped lane flipped back.

        Raise ValueError if lanes hold boards.
        """
        if self.batched:
            remedy = 'let the routine that calls this one take a Layout, or give it isas=["x86-64", "bmi2"]'
            raise ValueError(f"lanes that hold boards have no halves: {remedy}")
        low, high = halves(board)
        return low, make("flip", high) if self.mirrored else high

    def union(self, boards: Iterable[Value]) -> Value:
        """Return the union of all boards and all their lanes as one board, or lane by lane if lanes hold boards."""
        united = map(union, by_width(_lower_lanes_united(boards)))
        return reduce(or_, united if self.batched else map(self._united, united), constant(0))

    def _united(self, board: Value) -> Value:
        if board.lanes == 1:
            return board
        return union(self.halves(board)) if self.mirrored else reshaped("unite", board)

    def overlap(self, times: int, boards: Iterable[Value]) -> Value:
        """Return the squares that at least this many lanes of the boards have; lane by lane if lanes hold boards."""
        boards = tuple(boards)
        if self.holds_two and all(board.lanes == 8 for board in boards):
            return Value("overlap", boards, times)
        return tallied(times, boards, None if self.batched else self.halves)

    def counted(self, boards: Iterable[Value]) -> Value:
        """Return the sum of the bit counts of all boards and all their lanes, or lane by lane if lanes hold boards."""
        counts = (reduce(add, (board.popcount() for board in group)) for group in by_width(boards))
        return reduce(add, (count if self.batched or count.lanes == 1 else total(count) for count in counts))


def _one_ray_each(directions: Sequence[Direction]) -> tuple[CompassRay, ...]:
    return tuple(CompassRay((direction,)) for direction in directions)


def _mirrored(here: Value, there: Value) -> Value:
    """Return two lanes: `here`, and `there` flipped vertically."""
    return beside(here, make("flip", there))


def by_width(boards: Iterable[Value]) -> Iterable[list[Value]]:
    """Return the boards in groups of equal numbers of lanes."""
    groups: dict[int, list[Value]] = {}
    for board in boards:
        groups.setdefault(board.lanes, []).append(board)
    return groups.values()


def _lower_lanes_united(boards: Iterable[Value]) -> Iterator[Value]:
    """Yield the boards, last the union of those that are lowest lanes of vectors, made by uniting the vectors."""
    lower: list[Value] = []
    for board in boards:
        if board.op == "low-half" and board.lanes == 1:
            lower += board.args
        else:
            yield board
    if lower:
        yield reshaped("low-half", union(lower))


def union(boards: Iterable[T]) -> T:
    """Return the union of all boards or words. Raise ValueError for none."""
    united = list(boards)
    if not united:
        raise ValueError("union needs at least one board: for none write 0")
    return reduce(or_, united)


Tally = tuple[Value, ...]
"""The squares that at least one board has, those that at least two have, and so on."""


def tallied(times: int, boards: Iterable[Value], split: Callable[[Value], tuple[Value, Value]] | None) -> Value:
    """Return the squares that at least this many boards have: one-lane boards, made by `split`, unless it is None."""

    def together(some: Tally, others: Tally) -> Tally:
        def reached(n: int) -> Value:
            both = (some[i - 1] & others[n - i - 1] for i in range(max(1, n - len(others)), min(n, len(some) + 1)))
            return union((*some[n - 1 : n], *others[n - 1 : n], *both))

        return tuple(reached(n + 1) for n in range(min(times, len(some) + len(others))))

    def of_lanes(tally: Tally) -> Tally:
        while split and tally[0].lanes > 1:
            tally = together(*zip(*map(split, tally), strict=True))
        return tally

    groups: list[list[Tally]] = [[(board,) for board in group] for group in by_width(boards)]
    tally = reduce(together, (of_lanes(reduce(together, group)) for group in groups))
    return (*tally, *(constant(0),) * times)[times - 1]


def halves(value: Value) -> tuple[Value, Value]:
    """Return the lower and the upper half of a value's lanes."""
    lanes = value.lanes // 2
    return reshaped("low-half", value, lanes), reshaped("high-half", value, lanes)


def lanes(value: Value) -> tuple[Value, ...]:
    """Return the lanes of a value as one-lane values."""
    return (value,) if value.lanes == 1 else tuple(lane for half in halves(value) for lane in lanes(half))


def reduced_halves(value: Value) -> tuple[Value, Value]:
    """Return two lanes for the lower four of eight lanes and two for the upper: unions of the even and the odd ones."""
    low, high = halves(value | reshaped("exchange", value, 8))
    return reshaped("low-half", low, 2), reshaped("low-half", high, 2)


def united_pair(one: Value, other: Value) -> Value:
    """Return two lanes: the union of all lanes of `one`, and the union of all lanes of `other`."""
    return folded(make("join", one, other) | make("join-odd", one, other), 2)


def folded(value: Value, lanes: int) -> Value:
    """Unite the upper half of a value with its lower half, again and again until it has this number of lanes."""
    while value.lanes > lanes:
        low, high = halves(value)
        value = low | high
    return value


def _paired(directions: Sequence[Direction]) -> Iterator[CompassRay]:
    """Yield a ray of two lanes for each pair of a direction and its mirror image, and one-lane rays for the rest."""
    for at, direction in enumerate(directions):
        other = direction.mirrored
        if other is direction or other not in directions:
            yield CompassRay((direction,))
        elif other not in directions[:at]:
            yield CompassRay((direction, direction))
