"""The order inside a block: the description's own, except where another spares moves.

A two-operand instruction needs a move when each argument that it could overwrite is still needed. An argument is
overwritten for nothing by its last user, so the pass makes a user last wherever that saves moves in all, one such wish
at a time, and keeps the description's order otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

from codegen.expr import WRITES, Value, in_register, overwritable
from codegen.place import Block, PlacedRegion
from codegen.targets.table import Target


def schedule(block: Block, results: tuple[Value, ...], target: Target, room: int) -> Block:
    """The block with its straight runs of values in an order that needs fewest moves, as far as wishes go."""
    items: list[Value | PlacedRegion] = []
    run: list[Value] = []
    for position, item in enumerate(block.items):
        if isinstance(item, PlacedRegion):
            items += _Run(run, _read(block.items[position:], results), target, room).best()
            bodies = tuple(schedule(b, _carried(item, n), target, room) for n, b in enumerate(item.bodies))
            items.append(PlacedRegion(item.region, bodies, item.results))
            run = []
        else:
            run.append(item)
    items += _Run(run, set(results), target, room).best()
    return Block(tuple(items))


def estimate(block: Block, results: tuple[Value, ...], target: Target, room: int) -> int:
    """About how many instructions a block becomes: its values, the moves that a quick order needs, crowding."""
    total = 0
    run: list[Value] = []
    for position, item in enumerate((*block.items, None)):
        if isinstance(item, Value):
            run.append(item)
            continue
        total += len(run) + _Run(run, _read(block.items[position:], results), target, room).least()
        run = []
        if item is not None:
            total += sum(estimate(b, _carried(item, n), target, room) for n, b in enumerate(item.bodies))
    return total


def _carried(placed: PlacedRegion, number: int) -> tuple[Value, ...]:
    asked = placed.region.condition
    return (*placed.region.bodies[number], *((asked.value,) if asked is not None else ()))


def _read(items: tuple[Value | PlacedRegion, ...], results: tuple[Value, ...]) -> set[Value]:
    """What is read in later items, or at the end, and is not made in them."""
    read = set(results)
    made: set[Value] = set()
    for item in items:
        if isinstance(item, PlacedRegion):
            region = item.region
            read.update(region.inits, *region.bodies, (region.index,) if region.index is not None else ())
            read.update((region.condition.value,) if region.condition is not None else ())
            for body in item.bodies:
                read |= _read(body.items, ())
                made.update(each for each in body.items if isinstance(each, Value))
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


class _Run:
    """Values in a row, without control flow between them."""

    def __init__(self, values: list[Value], needed_after: set[Value], target: Target, room: int) -> None:
        self.values = values
        self.room = room
        self.vectors = target.vectors
        self.after = needed_after
        self.position = {value: i for i, value in enumerate(values)}
        self.args = [tuple(dict.fromkeys(_registers(v))) for v in values]
        self.users: dict[Value, list[int]] = {}
        for i, args in enumerate(self.args):
            for arg in args:
                self.users.setdefault(arg, []).append(i)
        self.prey = [self._prey(value, target) for value in values]

    def _prey(self, value: Value, target: Target) -> tuple[Value, ...]:
        """The arguments that the instruction could overwrite; none where some form leaves all arguments alone."""
        rows = target.rows_for(value)
        if value.op == "copy" or not rows or not all(row.tied for row in rows):
            return ()
        return tuple(arg for arg in overwritable(value) if in_register(arg))

    def best(self) -> list[Value]:
        """The order with the fewest moves: the description's, or one that keeps few values alive, with wishes met."""
        described = self._improved(list(range(len(self.values))))
        if not described[0]:
            return [self.values[i] for i in described[1]]
        others = (self._improved(base) for base in (self._thrifty(), self._by_kinship()))
        return [self.values[i] for i in min((described, *others), key=lambda found: found[0])[1]]

    def least(self) -> int:
        """What the cheapest of the orders costs before any wish."""
        orders = (list(range(len(self.values))), self._thrifty(), self._by_kinship())
        return min(self._cost(order)[0] for order in orders)

    def _improved(self, base: list[int]) -> tuple[int, list[int]]:
        """The order nearest to `base` with as many wishes met as spare moves, and what it costs."""
        wishes: set[tuple[int, int]] = set()
        order = base
        cost, hungry = self._cost(order)
        while hungry:
            tries = []
            for user, arg in ((i, prey) for i in hungry for prey in self.prey[i] if prey not in self.after):
                wish = wishes | {(other, user) for other in self.users[arg] if other != user}
                tried = self._sorted(base, wish)
                if tried is not None:
                    tries.append((*self._cost(tried), wish, tried))
            best = min(tries, key=lambda found: found[0], default=None)
            if best is None or best[0] >= cost:
                break
            cost, hungry, wishes, order = best
        return cost, order

    def _thrifty(self) -> list[int]:
        """An order that at each step takes what frees most registers."""
        left = {arg: len(users) for arg, users in self.users.items()}
        waiting = {i: sum(arg in self.position for arg in args) for i, args in enumerate(self.args)}
        order: list[int] = []
        while waiting:

            def growth(i: int) -> tuple[int, int]:
                freed = sum(left[arg] == 1 and arg not in self.after for arg in self.args[i])
                return (1 - freed, i)

            chosen = min((i for i, count in waiting.items() if not count), key=growth)
            del waiting[chosen]
            order.append(chosen)
            for arg in self.args[chosen]:
                left[arg] -= 1
            for user in self.users.get(self.values[chosen], ()):
                waiting[user] -= 1
        return order

    def _by_kinship(self) -> list[int]:
        """An order by the parts of a union: next comes the part that shares most with what is already there."""
        parts: list[int] = []
        joints: list[int] = []
        pending = [len(self.values) - 1] if self.values else []
        while pending:
            i = pending.pop()
            below = [self.position[arg] for arg in self.args[i] if arg in self.position]
            inner = i == len(self.values) - 1 or len(self.users.get(self.values[i], ())) == 1
            joins = self.values[i].op == "or" or (self.values[i].op == "and" and len(self.args[i]) == 1)
            if inner and joins and below:
                joints.append(i)
                pending += reversed(below)
            else:
                parts.append(i)
        roots = {part: self._below(part) for part in parts}
        reads = {part: {arg for i in below for arg in self.args[i]} for part, below in roots.items()}
        done: dict[int, None] = {}
        seen: set[Value] = set()
        while roots:
            nearest = max(roots, key=lambda part: (len(reads[part] & seen), -parts.index(part)))
            done.update(dict.fromkeys(sorted(roots.pop(nearest))))
            seen |= reads[nearest]
            for joint in reversed(joints):
                if joint not in done and all(
                    self.position.get(arg, -1) in done or arg not in self.position for arg in self.args[joint]
                ):
                    done[joint] = None
        done.update(dict.fromkeys(range(len(self.values))))
        return list(done)

    def _below(self, i: int) -> set[int]:
        """A value and all in this run that it is made of."""
        found: set[int] = set()
        pending = [i]
        while pending:
            at = pending.pop()
            if at not in found:
                found.add(at)
                pending += [self.position[arg] for arg in self.args[at] if arg in self.position]
        return found

    def _cost(self, order: list[int]) -> tuple[int, list[int]]:
        """Moves that the order needs, with registers beyond those there are counted as well, and who needs a move."""
        left = {arg: len(users) for arg, users in self.users.items()}
        live = {value for value in {*self.users, *self.after} if value not in self.position and in_register(value)}
        spare = {False: self.room, True: self.vectors}
        for value in live:
            spare[value.lanes > 1] -= 1
        least = dict(spare)
        hungry = []
        for i in order:
            value = self.values[i]
            for arg in self.args[i]:
                left[arg] -= 1
                if left[arg] == 0 and arg not in self.after:
                    spare[arg.lanes > 1] += 1
            if self.prey[i] and not any(left[arg] == 0 and arg not in self.after for arg in self.prey[i]):
                hungry.append(i)
            spare[value.lanes > 1] -= value.op not in WRITES
            least[value.lanes > 1] = min(least[value.lanes > 1], spare[value.lanes > 1])
        return len(hungry) + 2 * sum(max(0, -room) for room in least.values()), hungry

    def _sorted(self, base: list[int], wishes: set[tuple[int, int]]) -> list[int] | None:
        """The order nearest to `base` in which every wish is met; None if they go round in a circle."""
        before: dict[int, set[int]] = {i: set() for i in range(len(self.values))}
        for i, args in enumerate(self.args):
            before[i] |= {self.position[arg] for arg in args if arg in self.position}
        for first, second in wishes:
            before[second].add(first)
        order: list[int] = []
        rank = {i: at for at, i in enumerate(base)}
        state = [0] * len(self.values)
        for root in base:
            stack = [(root, iter(sorted(before[root], key=rank.__getitem__)))] if not state[root] else []
            if stack:
                state[root] = 1
            while stack:
                i, pending = stack[-1]
                needed = next((p for p in pending if state[p] != 2), None)
                if needed is None:
                    state[i] = 2
                    order.append(i)
                    stack.pop()
                elif state[needed] == 1:
                    return None
                else:
                    state[needed] = 1
                    stack.append((needed, iter(sorted(before[needed], key=rank.__getitem__))))
        return order
