"""The order inside a block: the description's own, except where another spares moves, or ends sooner at no more.

A two-operand instruction needs a move when each argument that it could overwrite is still needed. An argument is
overwritten for nothing by its last user, so the pass makes a user last wherever that saves moves in all, one such wish
at a time, and keeps the description's order otherwise.

Rays one after another need fewest registers, but a processor reaches the last of them late, and then waits for each of
its steps. So the last part may come by height: first what has the longest way to go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, partial, reduce
from heapq import heapify, heappop, heappush
from math import inf
from operator import attrgetter, itemgetter
from typing import TypeAlias

from setwise.codegen.describe.values import Value, in_register, same
from setwise.codegen.machine.code import RegisterFile
from setwise.codegen.passes.live import in_registers
from setwise.codegen.passes.parts import Parts
from setwise.codegen.passes.place import place
from setwise.codegen.passes.stretch import Pressure, Stretch
from setwise.codegen.passes.unit import Block, PlacedRegion, Unit
from setwise.codegen.passes.wishes import Line
from setwise.codegen.targets.table import Target

Group = tuple[RegisterFile, int]
"""Values that cost the same: how many registers of a file each takes, or leaves free where that is below zero."""

LATELY = 64
"""How many blocks' orders are kept: conventions with as many registers have the same."""

ALIKE = 1 << 10
"""How many stretches' orders are kept: those of one family differ from direction to direction in counts and masks."""

TURNS = 3
"""How often the best order is the one to start from: the same wishes find more in it."""

WIDTH = 4
"""How many instructions begin in a cycle, about: so many units for general registers, or for vectors, there are."""


_Order: TypeAlias = "Callable[[_Orders], list[int]]"

_ACROSS = 2  # cycles between files that make the best order: with 3 variants take 1 % longer on Golden Cove


@lru_cache(LATELY)
def schedule(block: Block, results: tuple[Value, ...], target: Target, room: int) -> Block:
    """The block with its straight stretches of values in an order that needs fewest moves, as far as wishes go."""
    for _ in range(TURNS):
        orders = _orders_in(block, results, target, room)
        before, block = block, _ordered(block, iter(orders), attrgetter("best"))
        if block is before:
            break
    return block


def earliest_end(block: Block, results: tuple[Value, ...], target: Target, room: int) -> Block:
    """The block with the last parts of its straight stretches in an order that ends sooner, at no more moves."""
    orders = _orders_in(block, results, target, room)
    return _ordered(block, iter(orders), attrgetter("soonest"))


def _ordered(block: Block, orders: Iterator[_Orders], best: _Order) -> Block:
    """Reorder each stretch by the best of its orders; return the block itself if nothing moved."""
    items: list[Value | PlacedRegion] = []
    stretch: list[Value] = []
    for item in (*block.items, None):
        if isinstance(item, Value):
            stretch.append(item)
            continue
        items += [stretch[i] for i in best(next(orders))]
        stretch = []
        if item is not None:
            bodies = tuple([_ordered(body, orders, best) for body in item.bodies])
            items.append(item if same(bodies, item.bodies) else PlacedRegion(item.region, bodies, item.results))
    return block if same(items, block.items) else Block(tuple(items))


@lru_cache(LATELY)
def _orders_in(block: Block, results: tuple[Value, ...], target: Target, room: int) -> list[_Orders]:
    """The orders of the straight stretches of values in a block and in its regions."""
    return [_orders(stretch) for stretch in _stretches(block, results, target, room)]


def _stretches(block: Block, results: tuple[Value, ...], target: Target, room: int) -> Iterator[Stretch]:
    """The straight stretches of values in a block and in its regions."""
    stretch: list[Value] = []
    for position, item in enumerate((*block.items, None)):
        if isinstance(item, Value):
            stretch.append(item)
            continue
        yield Stretch(stretch, _read(block.items[position:], results), target, room)
        stretch = []
        if item is not None:
            for number, body in enumerate(item.bodies):
                yield from _stretches(body, _carried(item, number), target, room)


def _carried(placed: PlacedRegion, number: int) -> tuple[Value, ...]:
    return (*(value for _, value in placed.left(number)), *placed.region.asked)


def _read(items: tuple[Value | PlacedRegion, ...], results: tuple[Value, ...]) -> set[Value]:
    """What is read in later items, or at the end, and is not made in them."""
    read = set(results)
    made: set[Value] = set()
    for item in items:
        if isinstance(item, PlacedRegion):
            region = item.region
            read.update(region.outside, region.asked, *region.bodies)
            for body in item.bodies:
                read |= _read(body.items, ())
                made.update(inner for inner in body.items if isinstance(inner, Value))
            made.update(item.results, *region.phis)
        else:
            read.update(in_registers(item.args))
            made.add(item)
    return {value for value in read - made if in_register(value)}


class _Orders:
    """The orders of a stretch."""

    def __init__(self, stretch: Stretch) -> None:
        self.stretch = stretch
        self.parts = Parts(stretch)
        self.forced = stretch.forced()

    @cached_property
    def best(self) -> list[int]:
        """The order with the fewest moves: the description's, or one that keeps few values alive, with wishes met."""

        def improved(order: list[int]) -> tuple[int, list[int]]:
            line = Line(self.stretch, order)
            line.improve(self.forced)
            return line.cost, line.order

        by_groups = partial(self.parts.by_groups, self.forced)
        return self._cheapest(improved, by_groups, self.parts.by_groups_from_the_last)[1]

    @cached_property
    def least(self) -> int:
        """What the cheapest of the orders costs before any wish."""
        return self._cheapest(lambda order: (self.stretch.cost(order), order))[0]

    def _cheapest(
        self, improved: Callable[[list[int]], tuple[int, list[int]]], *more: Callable[[], list[int]]
    ) -> tuple[int, list[int]]:
        """The first of the orders that costs least once improved, behind its cost."""
        tried = [list(range(len(self.stretch)))]
        cheapest = improved(tried[0])
        for make in (self._thrifty, self.parts.by_kinship, *more, self.parts.from_the_last):
            if cheapest[0] > self.forced and (order := make()) not in tried:
                tried.append(order)
                cheapest = min(cheapest, improved(order), key=itemgetter(0))
        return cheapest

    def _thrifty(self) -> list[int]:
        """An order that at each step takes what frees most registers."""
        stretch = self.stretch
        left = [*stretch.uses]
        frees = [sum([left[arg] == 1 for arg in args]) for args in stretch.args]
        waiting = [*map(len, stretch.before)]
        ready = [(-frees[i], i) for i, count in enumerate(waiting) if not count]
        heapify(ready)
        order: list[int] = []
        while ready:
            offered, i = heappop(ready)
            if offered != -frees[i]:
                continue  # it stood there before it became the last to read something
            order.append(i)
            frees[i] = -1
            for arg in stretch.args[i]:
                left[arg] -= 1
                if left[arg] == 1:
                    for user in stretch.users[arg]:
                        if frees[user] >= 0:
                            frees[user] += 1
                            if not waiting[user]:
                                heappush(ready, (-frees[user], user))
            for user in stretch.users[i]:
                waiting[user] -= 1
                if not waiting[user]:
                    heappush(ready, (-frees[user], user))
        return order

    @cached_property
    def soonest(self) -> list[int]:
        """Of the orders that take some last part of this one by height the first that ends soonest at no more moves.

        This one, where none ends a whole cycle sooner.
        """
        order = list(range(len(self.stretch)))
        begins = [len(order) * eighths // 8 for eighths in range(8)]
        cost, end = self._cost_and_end(order)
        longest_way = max((-turn for turn, _ in self._from_the_highest), default=0)
        if end - 1 < max(longest_way, 1 + (len(order) - 1) / WIDTH):
            return order  # none can end a whole cycle sooner
        others = [(self._cost_and_end(other), other) for other in map(self._by_height, begins)]
        (other_cost, other_end), other = min(others, key=itemgetter(0))
        return other if other_cost <= cost and other_end <= end - 1 else order

    @cached_property
    def crossing_first(self) -> list[int]:
        """This order, but what leads from one file of registers to another before all else."""
        stretch = self.stretch
        later = [False] * len(stretch)
        for i in reversed(range(len(later))):
            crosses = (stretch.makes[user] and stretch.file[user] != stretch.file[i] for user in stretch.users[i])
            later[i] = not any(crosses) and all(later[user] for user in stretch.users[i])
        return sorted(range(len(later)), key=later.__getitem__)

    @cached_property
    def urgent(self) -> list[int]:
        """An order in which what has the longest way to go comes first, by cycles, those between files among them."""
        users, file = self.stretch.users, self.stretch.file
        ways = [*self.stretch.cycles]
        for i in reversed(range(len(ways))):
            ways[i] += max([ways[user] + _ACROSS * (file[user] != file[i]) for user in users[i]], default=0)
        turn = [(-way, i) for i, way in enumerate(ways)]
        return self._by_height(0, turn, self.stretch.before)

    def _cost_and_end(self, order: list[int]) -> tuple[int, float]:
        """Its cost, and the cycle in which it ends where WIDTH values begin a cycle, in order, and each takes one."""
        ends = [0.0] * len(self.stretch.file)
        for at, i in enumerate(order):
            ends[i] = 1 + max([ends[arg] for arg in self.stretch.args[i]], default=0.0)
            ends[i] = max(ends[i], 1 + at / WIDTH)
        return self.stretch.cost(order), max(ends, default=0)

    def _by_height(
        self,
        begin: int,
        turn: Sequence[tuple[float, int]] | None = None,
        before: Sequence[tuple[int, ...]] | None = None,
    ) -> list[int]:
        """This order, but from `begin` on by turns, as long as there are registers; `before` comes before each value.

        By default what most waits for comes first, and whoever overwrites an argument still does, so that no move is
        added.
        """
        stretch, turn, before = self.stretch, turn or self._from_the_highest, before or self._with_last_users
        file = stretch.file
        after: list[list[int]] = [[] for _ in before]
        for i, firsts in enumerate(before):
            for first in firsts:
                after[first].append(i)
        pressure = Pressure(stretch)
        waiting = [*map(len, before)]
        groups: dict[int, Group] = {}
        """Which group a value that is ready is in: that changes when it becomes the last to read an argument."""
        ready: dict[Group, list[tuple[tuple[float, int], int]]] = {}
        order: list[int] = []

        def offer(i: int) -> None:
            groups[i] = file[i], pressure.taken(i)
            heappush(ready.setdefault(groups[i], []), (turn[i], i))

        def take(i: int) -> None:
            groups.pop(i, None)
            waiting[i] = -1
            order.append(i)
            pressure.take(i)
            for arg in stretch.args[i]:
                if pressure.left[arg] == 1:
                    for user in stretch.users[arg]:
                        if user in groups:
                            offer(user)
            for user in after[i]:
                waiting[user] -= 1
                if not waiting[user]:
                    offer(user)

        for i, count in enumerate(waiting):
            if not count:
                offer(i)
        for i in range(begin):
            take(i)
        while groups:
            for key, heap in ready.items():
                while heap and groups.get(heap[0][1]) != key:
                    heappop(heap)
            cheapest = [(max(0, taken - pressure.spare[of]), heap[0]) for (of, taken), heap in ready.items() if heap]
            take(min(cheapest)[1][1])
        return order

    @cached_property
    def _from_the_highest(self) -> list[tuple[int, int]]:
        """The turns of the values: first what has the longest way to go."""
        users = self.stretch.users
        height = [0] * len(self.stretch)
        for i in reversed(range(len(height))):
            height[i] = 1 + max([height[user] for user in users[i]], default=0)
        return [(-way, i) for i, way in enumerate(height)]

    @cached_property
    def _with_last_users(self) -> list[tuple[int, ...]]:
        """What comes before each value: what it is made of, and the other users of an argument that it overwrites."""
        stretch = self.stretch
        left = [*stretch.uses]
        before = [*stretch.before]
        for i, args in enumerate(stretch.args):
            for arg in args:
                left[arg] -= 1
            overwritten = next((arg for arg in stretch.overwritable[i] if not left[arg]), None)
            if overwritten is not None:
                others = (user for user in stretch.users[overwritten] if user != i)
                before[i] = tuple(dict.fromkeys((*before[i], *others)))
        return before


@lru_cache(ALIKE)
def _orders(stretch: Stretch) -> _Orders:
    """The orders of a stretch, and of every one like it."""
    return _Orders(stretch)


def scheduling(unit: Unit) -> Unit:
    """The pass: the block in an order that needs fewest moves."""
    return replace(unit, block=schedule(unit.block, unit.graph.results, unit.target, len(unit.convention.scratch)))


def hastening(unit: Unit) -> Unit:
    """The pass: the block in an order that ends sooner; the same unit without one."""
    block = earliest_end(unit.block, unit.graph.results, unit.target, len(unit.convention.scratch))
    return unit if block is unit.block else replace(unit, block=block)


def urgency(unit: Unit) -> Unit:
    """The pass: the block with what has the longest way to go first, whatever moves that takes."""
    return _in_order(unit, attrgetter("urgent"))


def crossing(unit: Unit) -> Unit:
    """The pass: the block with what leads from one file of registers to another first, for that takes longest."""
    return _in_order(unit, attrgetter("crossing_first"))


def _in_order(unit: Unit, best: _Order) -> Unit:
    """The unit with each stretch of its block in the best of its orders."""
    orders = _orders_in(unit.block, unit.graph.results, unit.target, len(unit.convention.scratch))
    return replace(unit, block=_ordered(unit.block, iter(orders), best))


def promise(unit: Unit, most: float = inf) -> tuple[int, int]:
    """About how long the code of what is selected becomes, and about how many cycles its longest way takes.

    That is its values, the moves that a quick order needs, and crowding. No order needs fewer than the forced moves:
    what is longer than `most` with these alone is not looked at further.
    """
    room = len(unit.convention.scratch)
    blocks = [(place(graph), graph.results) for graph in unit.graphs]
    orders = [order for block, results in blocks for order in _orders_in(block, results, unit.target, room)]
    length = sum(len(each.stretch) + each.forced for each in orders)
    for each in orders:
        if length > most:
            break
        length += each.least - each.forced
    return length, reduce(lambda depth, graph: graph.depth_behind(depth), unit.graphs, 1)
