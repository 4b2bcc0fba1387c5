"""Stack slots: a block in which some values are stored where they are made, and fetched where they are used again.

What is fetched stays in its register until that is given up once more. What a region carries may lie in a slot from one
body to the next. At the end of a body all next values are stored at once, as it were: what one slot holds and another
takes over is put aside first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from setwise.codegen.describe.values import Region, Value, same
from setwise.codegen.passes.live import asked_first, asked_last, in_registers
from setwise.codegen.passes.unit import Block, PlacedRegion, Spilled

Variable = tuple[Region, int]
"""What a region carries, by its place among that."""

Items = list[Value | PlacedRegion]

Path = tuple[int, ...]
"""An item's number in its block, behind the paths of the regions around it, each with the number of the body."""

ENTRY: Path = (-1,)


@dataclass
class Waiting:
    """What waits on the stack: the first slot of 8 bytes of each, and how many slots there are.

    A value's register is given up in front of items of the block in which the value was made, or fetched.
    """

    slots: dict[Value | Variable, int] = field(default_factory=dict)
    given_up: dict[Value, set[Path]] = field(default_factory=dict)
    size: int = 0

    def add(self, waiting: Value | Variable) -> None:
        """One more, unless it waits already."""
        lanes = waiting.lanes if isinstance(waiting, Value) else waiting[0].inits[waiting[1]].lanes
        if waiting not in self.slots:
            self.slots[waiting] = _multiple(self.size, lanes)
            self.size = self.slots[waiting] + lanes

    def give_up(self, value: Value, at: Path) -> None:
        """The value is in no register from there on until it is fetched."""
        self.add(value)
        self.given_up.setdefault(value, set()).add(at)

    def keeps(self, value: Value, made: Path, now: Path) -> bool:
        """Whether the register that the value got in one place is still its own in another."""
        depth = len(made)
        return now[: depth - 1] == made[:-1] and not any(
            len(given_up) == depth and made < given_up <= now[:depth] for given_up in self.given_up.get(value, ())
        )


class Rewriting:
    """A block with its stores and fetches."""

    def __init__(self, waiting: Waiting) -> None:
        self.waiting = waiting
        self.slots = waiting.size
        self.path: Path = ENTRY
        self.lies: dict[Value, int] = {}
        """The slots of what regions carry there: of their phis and results."""
        self.now: dict[Value, Value] = {}
        self.before: dict[Value, Value] = {}
        """What each value was that is called something else now."""
        self.carried: dict[Value, list[Variable]] = {}
        """What goes into a register that a region carries, is there, or comes out of it."""
        self.made: dict[Value, tuple[Value, Path]] = {}
        """The name under which each value got its register last, and where."""
        self.since: dict[Value, Path] = {}
        """Where each of these names got its register."""
        self.paths: dict[Value | Region | Variable, Path] = {}
        """For each new item the old one that it belongs to; to the next one what is stored behind one. For each body of
        a region its end.
        """

    def spilled(self, block: Block, results: tuple[Value, ...]) -> Spilled:
        """The block, and the results as they are called there."""
        items: Items = []
        for value, slot in reversed(self.waiting.slots.items()):
            if isinstance(value, Value) and value.op == "param":
                self.add(Value("store", (value,), slot, value.lanes), items)
        for number, item in enumerate(block.items):
            self.path = (number,)
            self.rewrite(item, items)
        self.path = (len(block.items),)
        return Spilled(Block(tuple(items)), self.fetched(results, items), self.slots)

    def add(self, item: Value, items: Items) -> None:
        """One more item, which belongs to the old one that is rewritten."""
        items.append(item)
        self.paths[item] = self.path

    def rewrite(self, item: Value | PlacedRegion, items: Items) -> None:
        """One item, and what is stored and fetched for it."""
        if isinstance(item, PlacedRegion):
            self.region(item, items)
            return
        args = self.fetched(item.args, items, stays=True)
        self.called(item, item if same(args, item.args) else item.on(args))
        self.add(self.now[item], items)
        self.keep(item, items)

    def called(self, old: Value, new: Value) -> None:
        """An old value's new name."""
        self.now[old] = new
        self.holds(old, new)

    def holds(self, old: Value, new: Value) -> None:
        """This name of the value has a register from here on."""
        self.before[new] = old
        self.made[old] = new, self.path
        self.since[new] = self.path

    def keep(self, value: Value, items: Items) -> None:
        """What has just been made is stored, if it is to wait."""
        if value in self.waiting.slots:
            store = Value("store", (self.now[value],), self.waiting.slots[value], value.lanes)
            items.append(store)
            self.paths[store] = (*self.path[:-1], self.path[-1] + 1)

    def slot(self, value: Value) -> int | None:
        """Where it waits."""
        return self.lies.get(value, self.waiting.slots.get(value))

    def fetched(self, values: Sequence[Value], items: Items, *, stays: bool = False) -> tuple[Value, ...]:
        """The values under their new names, fetched if they wait; to keep their registers, where one `stays`."""
        slots = {value: slot for value in in_registers(values) if (slot := self.slot(value)) is not None}
        again: dict[Value, Value] = {}
        for value in sorted(slots, key=slots.__getitem__):
            name, made = self.made.get(value, (value, ENTRY))
            if value in self.lies or not self.waiting.keeps(value, made, self.path):
                name = Value("reload", (), slots[value], value.lanes)
                self.add(name, items)
                if stays and value not in self.lies:
                    self.holds(value, name)
            again[value] = name
        return tuple([self.renamed(value, again) for value in values])

    def renamed(self, value: Value, again: Mapping[Value, Value]) -> Value:
        """The value under its new name; a place in memory with those of what says where it is."""
        if value.op != "place":
            return again[value] if value in again else self.now.get(value, value)
        args = tuple([self.renamed(arg, again) for arg in value.args])
        return value if same(args, value.args) else value.on(args)

    def stored(self, value: Value, slot: int, items: Items) -> None:
        """A value, or a constant, goes into a slot."""
        (source,) = self.fetched((value,), items)
        if source.constant is not None:
            source = load_constant(source)
            self.add(source, items)
        self.add(Value("store", (source,), slot, source.lanes), items)

    def region(self, placed: PlacedRegion, items: Items) -> None:
        """A region, without what it carries in slots."""
        old, path = placed.region, self.path
        away = {i: self.waiting.slots[old, i] for i in range(len(old.inits)) if (old, i) in self.waiting.slots}
        kept = [i for i in range(len(old.inits)) if i not in away]
        for i, slot in away.items():
            self.stored(old.inits[i], slot, items)
            self.lies.update((phis[i], slot) for phis in old.phis)
        entered = self.fetched((*(old.inits[i] for i in kept), *asked_first(old)), items)
        bodies: list[Block] = []
        ends: list[Path] = []
        left: list[tuple[Value, ...]] = []
        for number, body in enumerate(placed.bodies):
            inner: Items = []
            for at, item in enumerate(body.items):
                self.path = (*path, number, at)
                self.rewrite(item, inner)
            self.path = (*path, number, len(body.items))
            ends.append(self.path)
            left.append(self.leave(old, number, away, inner))
            bodies.append(Block(tuple(inner)))
        self.path = path
        decides = (*entered[len(kept) :], *left[0][len(kept) :])
        new = replace(
            old,
            inits=entered[: len(kept)],
            phis=tuple(tuple(phis[i] for i in kept) for phis in old.phis),
            bodies=tuple(values[: len(kept)] for values in left),
            effects=tuple(tuple(self.now[each] for each in made) for made in old.effects),
            condition=None if old.condition is None else replace(old.condition, value=decides[0]),
            index=None if old.index is None else decides[0],
        )
        self.paths[new] = path
        self.paths.update(((new, number), end) for number, end in enumerate(ends))
        results = [result for result in placed.results if int(result.attr) not in away]
        for result in results:
            self.called(result, replace(result, attr=kept.index(int(result.attr)), region=new))
        items.append(PlacedRegion(new, tuple(bodies), tuple(self.now[result] for result in results)))
        for result in placed.results:
            if int(result.attr) not in away:
                self.keep(result, items)
            else:
                self.lies[result] = away[int(result.attr)]
        for place, i in enumerate(kept):
            for value in dict.fromkeys(values[place] for values in (new.inits, *new.phis, *new.bodies)):
                self.carried.setdefault(value, []).append((old, i))

    def leave(self, old: Region, number: int, away: Mapping[int, int], items: Items) -> tuple[Value, ...]:
        """The end of a body: its next values go to their slots; those that stay in registers, and what is asked."""
        phis, nexts, asked = old.phis[number], old.bodies[number], asked_last(old)
        written = {i: slot for i, slot in away.items() if nexts[i] is not phis[i]}
        for i in written:
            if phis[i] in {*nexts, *asked}:
                aside = _multiple(self.slots, phis[i].lanes)
                self.slots = aside + phis[i].lanes
                self.stored(phis[i], aside, items)
                self.lies[phis[i]] = aside
        for i, slot in written.items():
            self.stored(nexts[i], slot, items)
        return self.fetched((*(value for i, value in enumerate(nexts) if i not in away), *asked), items)


def _multiple(slot: int, lanes: int) -> int:
    """The first slot from there on at a multiple of so many, where so many lanes can be aligned."""
    return -(-slot // lanes) * lanes


def load_constant(value: Value) -> Value:
    """A constant that goes into a register."""
    wide = value.lanes > 1
    return Value("load-constant", (value,) if wide else (), None if wide else value.attr, value.lanes)
