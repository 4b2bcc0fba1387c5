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
from operator import itemgetter

from setwise.codegen.describe.operations import WRITES
from setwise.codegen.describe.values import Value, in_register, overwritable
from setwise.codegen.machine.code import RegisterFile
from setwise.codegen.machine.convention import MASKS
from setwise.codegen.passes.place import place
from setwise.codegen.passes.unit import Block, PlacedRegion, Unit
from setwise.codegen.targets.table import Target

WIDTH = 4
"""How many instructions begin in a cycle, about: so many units for general registers, or for vectors, there are."""


def schedule(block: Block, results: tuple[Value, ...], target: Target, room: int) -> Block:
    """The block with its straight stretches of values in an order that needs fewest moves, as far as wishes go."""
    return _ordered(block, results, lambda stretch, after: _Stretch(stretch, after, target, room).best())


def earliest_end(block: Block, results: tuple[Value, ...], target: Target, room: int) -> Block:
    """The block with the last parts of its straight stretches in an order that ends sooner, at no more moves."""
    return _ordered(block, results, lambda stretch, after: _Stretch(stretch, after, target, room).soonest())


def _ordered(
    block: Block, results: tuple[Value, ...], order: Callable[[list[Value], set[Value]], list[Value]]
) -> Block:
    """The block with each stretch, of which so much is needed after it, in that order; itself where that is so."""
    items: list[Value | PlacedRegion] = []
    stretch: list[Value] = []
    for position, item in enumerate(block.items):
        if isinstance(item, PlacedRegion):
            items += order(stretch, _read(block.items[position:], results))
            bodies = tuple(_ordered(b, _carried(item, n), order) for n, b in enumerate(item.bodies))
            items.append(item if bodies == item.bodies else PlacedRegion(item.region, bodies, item.results))
            stretch = []
        else:
            stretch.append(item)
    items += order(stretch, set(results))
    return block if tuple(items) == block.items else Block(tuple(items))


def estimate(block: Block, results: tuple[Value, ...], target: Target, room: int) -> int:
    """About how many instructions a block becomes: its values, the moves that a quick order needs, crowding."""
    total = 0
    stretch: list[Value] = []
    for position, item in enumerate((*block.items, None)):
        if isinstance(item, Value):
            stretch.append(item)
            continue
        total += len(stretch) + _Stretch(stretch, _read(block.items[position:], results), target, room).least()
        stretch = []
        if item is not None:
            total += sum(estimate(b, _carried(item, n), target, room) for n, b in enumerate(item.bodies))
    return total


def _carried(placed: PlacedRegion, number: int) -> tuple[Value, ...]:
    return (*placed.region.bodies[number], *placed.region.asked)


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
            read.update(_registers(item))
            made.add(item)
    return {value for value in read - made if in_register(value)}


def _registers(value: Value) -> Iterator[Value]:
    """The values whose registers an instruction reads."""
    for arg in value.args:
        if arg.op == "place":
            yield from arg.args
        elif in_register(arg):
            yield arg


class _Stretch:
    """Values in a row, without control flow between them.

    In here a value is a number: its position, or for those from outside one behind the last position.
    """

    def __init__(self, values: list[Value], needed_after: set[Value], target: Target, room: int) -> None:
        self.values = values
        read = [tuple(dict.fromkeys(_registers(value))) for value in values]
        outside = dict.fromkeys((*(arg for args in read for arg in args), *filter(in_register, needed_after)))
        number = {value: i for i, value in enumerate(dict.fromkeys((*values, *outside)))}
        self.args = [tuple(number[arg] for arg in args) for args in read]
        self.before = [tuple(arg for arg in args if arg < len(values)) for args in self.args]
        self.overwritable = [tuple(number[arg] for arg in _overwritable(value, target)) for value in values]
        self.users: list[list[int]] = [[] for _ in number]
        for i, args in enumerate(self.args):
            for arg in args:
                self.users[arg].append(i)
        self.stays = {number[value] for value in needed_after if value in number}
        self.file = [value.file for value in number]
        self.spare: dict[RegisterFile, int] = {"general": room, "vector": target.vectors, "mask": len(MASKS)}
        for file in self.file[len(values) :]:
            self.spare[file] -= 1
        self.forced = self._forced()

    def best(self) -> list[Value]:
        """The order with the fewest moves: the description's, or one that keeps few values alive, with wishes met."""
        return [self.values[i] for i in self._cheapest(self._improved)[1]]

    def least(self) -> int:
        """What the cheapest of the orders costs before any wish."""
        return self._cheapest(lambda order: (self._cost(order)[0], order))[0]

    def _cheapest(self, priced: Callable[[list[int]], tuple[int, list[int]]]) -> tuple[int, list[int]]:
        """The first of the orders that costs least, and what it costs."""
        cheapest = priced(list(range(len(self.values))))
        for base in (self._thrifty, self._by_kinship):
            if cheapest[0] > self.forced:
                cheapest = min(cheapest, priced(base()), key=itemgetter(0))
        return cheapest

    def _forced(self) -> int:
        """Moves that every order needs: a user gets an argument to overwrite, an argument goes to one user at most."""
        overwriter: dict[int, int] = {}

        def match(user: int, tried: set[int]) -> bool:
            for arg in self.overwritable[user]:
                if arg not in self.stays and arg not in tried:
                    tried.add(arg)
                    if arg not in overwriter or match(overwriter[arg], tried):
                        overwriter[arg] = user
                        return True
            return False

        return sum(not match(user, set()) for user, args in enumerate(self.overwritable) if args)

    def _improved(self, base: list[int]) -> tuple[int, list[int]]:
        """The order nearest to `base` with as many wishes met as spare moves, and what it costs."""
        wishes: set[tuple[int, int]] = set()
        order = base
        cost, unmatched = self._cost(order)
        while cost > self.forced:
            tries = []
            for user, arg in ((i, arg) for i in unmatched for arg in self.overwritable[i] if arg not in self.stays):
                wish = wishes | {(other, user) for other in self.users[arg] if other != user}
                tried = self._sorted(base, wish)
                if tried is not None:
                    tries.append((*self._cost(tried), wish, tried))
            best = min(tries, key=itemgetter(0), default=None)
            if best is None or best[0] >= cost:
                break
            cost, unmatched, wishes, order = best
        return cost, order

    def _thrifty(self) -> list[int]:
        """An order that at each step takes what frees most registers."""
        return self._listed(self.before, lambda i, left, _: (-sum(left[arg] == 1 for arg in self.args[i]), i))

    def _listed(
        self,
        before: Sequence[tuple[int, ...]],
        turn: Callable[[int, list[int], dict[RegisterFile, int]], tuple[int, ...]],
    ) -> list[int]:
        """The order in which each value waits for those `before` it, and of those that may come the least `turn` does.

        It is asked with how many still take each value, and how many registers of each file are left.
        """
        after: list[list[int]] = [[] for _ in before]
        for i, firsts in enumerate(before):
            for first in firsts:
                after[first].append(i)
        left = self._uses()
        spare = dict(self.spare)
        waiting = [len(firsts) for firsts in before]
        ready = [i for i, count in enumerate(waiting) if not count]
        order: list[int] = []
        while ready:
            chosen = min(ready, key=lambda i: turn(i, left, spare))
            ready.remove(chosen)
            order.append(chosen)
            spare[self.file[chosen]] -= self.values[chosen].op not in WRITES
            for arg in self.args[chosen]:
                left[arg] -= 1
                spare[self.file[arg]] += not left[arg]
            for user in after[chosen]:
                waiting[user] -= 1
                if not waiting[user]:
                    ready.append(user)
        return order

    def soonest(self) -> list[Value]:
        """Of the orders that take some last part of this one by height the first that ends soonest at no more moves.

        This one, where none ends a whole cycle sooner.
        """
        order = list(range(len(self.values)))
        begins = [len(order) * eighths // 8 for eighths in range(8)]
        other = min((self._by_height(order, begin) for begin in begins), key=self._cost_and_end)
        (cost, end), (other_cost, other_end) = self._cost_and_end(order), self._cost_and_end(other)
        worth = other_cost <= cost and other_end <= end - 1
        return [self.values[i] for i in (other if worth else order)]

    def _cost_and_end(self, order: list[int]) -> tuple[int, float]:
        """Its cost, and the cycle in which it ends where WIDTH values begin a cycle, in order, and each takes one."""
        ends = [0.0] * len(self.file)
        for at, i in enumerate(order):
            ends[i] = 1 + max((ends[arg] for arg in self.args[i]), default=0.0)
            ends[i] = max(ends[i], 1 + at / WIDTH)
        return self._cost(order)[0], max(ends, default=0)

    def _by_height(self, order: list[int], begin: int) -> list[int]:
        """The order, but from `begin` on what most waits for comes first, as long as there are registers.

        Whoever overwrites an argument in `order` still does, so that no move is added.
        """
        height = [0] * len(order)
        for i in reversed(order):
            height[i] = 1 + max((height[user] for user in self.users[i]), default=0)
        rank = {i: at for at, i in enumerate(order)}

        def turn(i: int, left: list[int], spare: dict[RegisterFile, int]) -> tuple[int, ...]:
            if rank[i] < begin:
                return 0, rank[i]
            file = self.file[i]
            freed = sum(left[arg] == 1 and self.file[arg] == file for arg in self.args[i])
            missing = max(0, (self.values[i].op not in WRITES) - freed - spare[file])
            return 1, missing, -height[i], rank[i]

        return self._listed(self._with_last_users(order), turn)

    def _with_last_users(self, order: list[int]) -> list[tuple[int, ...]]:
        """What comes before each value: what it is made of, and the other users of an argument that it overwrites."""
        left = self._uses()
        before = [*self.before]
        for i in order:
            for arg in self.args[i]:
                left[arg] -= 1
            overwritten = next((arg for arg in self.overwritable[i] if not left[arg]), None)
            if overwritten is not None:
                before[i] = tuple(dict.fromkeys((*before[i], *(user for user in self.users[overwritten] if user != i))))
        return before

    def _by_kinship(self) -> list[int]:
        """An order by the parts of a union: next comes the part that shares most with what is already there."""
        last = len(self.values) - 1
        parts: list[int] = []
        joints: list[int] = []
        pending = [last] if self.values else []
        while pending:
            i = pending.pop()
            inner = i == last or len(self.users[i]) == 1
            joins = self.values[i].op == "or" or (self.values[i].op == "and" and len(self.args[i]) == 1)
            if inner and joins and self.before[i]:
                joints.append(i)
                pending += reversed(self.before[i])
            else:
                parts.append(i)
        roots = {part: self._below(part) for part in parts}
        reads = {part: {arg for i in below for arg in self.args[i]} for part, below in roots.items()}
        done: dict[int, None] = {}
        seen: set[int] = set()
        while roots:
            nearest = max(roots, key=lambda part: (len(reads[part] & seen), -parts.index(part)))
            done.update(dict.fromkeys(sorted(roots.pop(nearest))))
            seen |= reads[nearest]
            for joint in reversed(joints):
                if joint not in done and all(arg in done for arg in self.before[joint]):
                    done[joint] = None
        done.update(dict.fromkeys(range(len(self.values))))
        return list(done)

    def _below(self, i: int) -> set[int]:
        """A value and all in this stretch that it is made of."""
        below: set[int] = set()
        pending = [i]
        while pending:
            at = pending.pop()
            if at not in below:
                below.add(at)
                pending += self.before[at]
        return below

    def _uses(self) -> list[int]:
        """For each value how many take it; one more if it is needed after the stretch."""
        return [len(users) + (value in self.stays) for value, users in enumerate(self.users)]

    def _cost(self, order: list[int]) -> tuple[int, list[int]]:
        """Moves that the order needs, with registers beyond those there are counted as well, and who needs a move."""
        left = self._uses()
        spare = dict(self.spare)
        least = dict(self.spare)
        unmatched = []
        for i in order:
            for arg in self.args[i]:
                left[arg] -= 1
                if not left[arg]:
                    spare[self.file[arg]] += 1
            if self.overwritable[i] and all(left[arg] for arg in self.overwritable[i]):
                unmatched.append(i)
            if self.values[i].op not in WRITES:
                file = self.file[i]
                spare[file] -= 1
                least[file] = min(least[file], spare[file])
        return len(unmatched) + 2 * sum(max(0, -room) for room in least.values()), unmatched

    def _sorted(self, base: list[int], wishes: set[tuple[int, int]]) -> list[int] | None:
        """The order nearest to `base` in which every wish is met; None if they go round in a circle."""
        before = list(self.before)
        for first, second in wishes:
            before[second] += (first,)
        rank = {i: at for at, i in enumerate(base)}
        changed = min((rank[second] for _, second in wishes), default=len(base))
        order: dict[int, None] = dict.fromkeys(base[:changed])
        begun: set[int] = set()
        for root in base[changed:]:
            stack = [root] if root not in order else []
            while stack:
                i = stack[-1]
                waiting = [first for first in before[i] if first not in order]
                if not waiting:
                    order[i] = None
                    stack.pop()
                    continue
                begun.add(i)
                needed = min(waiting, key=rank.__getitem__)
                if needed in begun:
                    return None
                stack.append(needed)
        return list(order)


def _overwritable(value: Value, target: Target) -> tuple[Value, ...]:
    """The arguments that the instruction could overwrite; none where some form leaves all arguments alone."""
    rows = target.rows_for(value)
    if value.op == "copy" or not rows or not all(row.tied for row in rows):
        return ()
    return tuple(arg for arg in overwritable(value) if in_register(arg))


def scheduling(unit: Unit) -> Unit:
    """The pass: the block in an order that needs fewest moves."""
    return replace(unit, block=schedule(unit.block, unit.graph.results, unit.target, len(unit.convention.scratch)))


def hastening(unit: Unit) -> Unit:
    """The pass: the block in an order that ends sooner; the same unit where there is none."""
    block = earliest_end(unit.block, unit.graph.results, unit.target, len(unit.convention.scratch))
    return unit if block is unit.block else replace(unit, block=block)


def promise(unit: Unit) -> tuple[int, int]:
    """About how long the code of what is selected becomes, and how many operations wait for each other in it."""
    graph = unit.graph
    return estimate(place(graph), graph.results, unit.target, len(unit.convention.scratch)), graph.depth
