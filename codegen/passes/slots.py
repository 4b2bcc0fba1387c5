"""Stack slots: a block in which some values are stored where they are made, and fetched for each use.

What a region carries may lie in a slot from one body to the next. At the end of a body all next values are stored at
once, as it were: what one slot holds and another takes over is put aside first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from setwise.codegen.describe.values import Region, Value
from setwise.codegen.passes.live import asked_first, asked_last, in_registers
from setwise.codegen.passes.unit import Block, PlacedRegion, Spilled

Variable = tuple[Region, int]
"""What a region carries, by its place among that."""

Items = list[Value | PlacedRegion]


@dataclass
class Waiting:
    """What waits on the stack: the first slot of 8 bytes of each, and how many slots there are.

    A value is fetched from the outermost block's item `since` on. What comes before, a loop over most of the boards
    perhaps, has it in its register.
    """

    slots: dict[Value | Variable, int] = field(default_factory=dict)
    since: dict[Value, int] = field(default_factory=dict)
    size: int = 0

    def add(self, waiting: Value | Variable, since: int = 0) -> None:
        """One more, or an earlier fetch of one that waits already."""
        lanes = waiting.lanes if isinstance(waiting, Value) else waiting[0].inits[waiting[1]].lanes
        if waiting not in self.slots:
            self.slots[waiting] = self.size
            self.size += lanes
        if isinstance(waiting, Value):
            self.since[waiting] = since


class Rewriting:
    """A block with its stores and fetches."""

    def __init__(self, waiting: Waiting) -> None:
        self.waiting = waiting
        self.slots = waiting.size
        self.item = 0
        self.lies: dict[Value, int] = {}
        """The slots of what regions carry there: of their phis and results."""
        self.now: dict[Value, Value] = {}
        self.before: dict[Value, Value] = {}
        """What each value was that is called something else now."""
        self.carried: dict[Value, list[Variable]] = {}
        """What goes into a register that a region carries, is there, or comes out of it."""
        self.item_of: list[int] = []
        """For each item of the new block the old one that it belongs to; to the next one what is stored behind one."""

    def spilled(self, block: Block, results: tuple[Value, ...]) -> Spilled:
        """The block, and the results as they are called there."""
        items: Items = []
        for value, slot in reversed(self.waiting.slots.items()):
            if isinstance(value, Value) and value.op == "param":
                items.append(Value("store", (value,), slot, value.lanes))
        self.item_of += [0] * len(items)
        for self.item, item in enumerate(block.items):
            self.rewrite(item, items)
            stores = items[-1] is not self.now.get(item) if isinstance(item, Value) else False
            self.item_of += [self.item] * (len(items) - len(self.item_of) - stores)
            self.item_of += [self.item + 1] * stores
        self.item = len(block.items)
        fetched = self.fetched(results, items)
        self.item_of += [self.item] * (len(items) - len(self.item_of))
        return Spilled(Block(tuple(items)), fetched, self.slots)

    def rewrite(self, item: Value | PlacedRegion, items: Items) -> None:
        """One item, and what is stored and fetched for it."""
        if isinstance(item, PlacedRegion):
            self.region(item, items)
            return
        args = self.fetched(item.args, items)
        self.called(item, item.on(args) if args != item.args else item)
        items.append(self.now[item])
        self.keep(item, items)

    def called(self, old: Value, new: Value) -> None:
        """An old value's new name."""
        self.now[old] = new
        self.before[new] = old

    def keep(self, value: Value, items: Items) -> None:
        """What has just been made is stored, if it is to wait."""
        if value in self.waiting.slots:
            items.append(Value("store", (self.now[value],), self.waiting.slots[value], value.lanes))

    def slot(self, value: Value) -> int | None:
        """Where it waits now."""
        if value not in self.lies and self.waiting.since.get(value, self.item + 1) <= self.item:
            return self.waiting.slots[value]
        return self.lies.get(value)

    def fetched(self, values: Sequence[Value], items: Items) -> tuple[Value, ...]:
        """The values under their new names, fetched if they wait."""
        slots = {value: slot for value in in_registers(values) if (slot := self.slot(value)) is not None}
        again = {
            value: Value("reload", (), slots[value], value.lanes) for value in sorted(slots, key=slots.__getitem__)
        }
        items += again.values()
        return tuple([self.renamed(value, again) for value in values])

    def renamed(self, value: Value, again: Mapping[Value, Value]) -> Value:
        """The value under its new name; a place in memory with those of what says where it is."""
        if value.op != "place":
            return again[value] if value in again else self.now.get(value, value)
        args = tuple([self.renamed(arg, again) for arg in value.args])
        return value.on(args) if args != value.args else value

    def stored(self, value: Value, slot: int, items: Items) -> None:
        """A value, or a constant, goes into a slot."""
        (source,) = self.fetched((value,), items)
        if source.constant is not None:
            source = _load_constant(source)
            items.append(source)
        items.append(Value("store", (source,), slot, source.lanes))

    def region(self, placed: PlacedRegion, items: Items) -> None:
        """A region, without what it carries in slots."""
        old = placed.region
        away = {i: self.waiting.slots[old, i] for i in range(len(old.inits)) if (old, i) in self.waiting.slots}
        kept = [i for i in range(len(old.inits)) if i not in away]
        for i, slot in away.items():
            self.stored(old.inits[i], slot, items)
            self.lies.update((phis[i], slot) for phis in old.phis)
        entered = self.fetched((*(old.inits[i] for i in kept), *asked_first(old)), items)
        bodies: list[Block] = []
        left: list[tuple[Value, ...]] = []
        for number, body in enumerate(placed.bodies):
            inner: Items = []
            for item in body.items:
                self.rewrite(item, inner)
            left.append(self.leave(old, number, away, inner))
            bodies.append(Block(tuple(inner)))
        decides = (*entered[len(kept) :], *left[0][len(kept) :])
        new = replace(
            old,
            inits=entered[: len(kept)],
            phis=tuple(tuple(phis[i] for i in kept) for phis in old.phis),
            bodies=tuple(values[: len(kept)] for values in left),
            effects=tuple(tuple(self.now[effect] for effect in effects) for effects in old.effects),
            condition=old.condition and replace(old.condition, value=decides[0]),
            index=None if old.index is None else decides[0],
        )
        results = [result for result in placed.results if int(result.attr) not in away]
        for result in results:
            self.called(result, replace(result, attr=kept.index(int(result.attr)), region=new))
        items.append(PlacedRegion(new, tuple(bodies), tuple(self.now[result] for result in results)))
        for result in placed.results:
            if result in results:
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
            if phis[i] in (*nexts, *asked):
                aside, self.slots = self.slots, self.slots + phis[i].lanes
                self.stored(phis[i], aside, items)
                self.lies[phis[i]] = aside
        for i, slot in written.items():
            self.stored(nexts[i], slot, items)
        return self.fetched((*(value for i, value in enumerate(nexts) if i not in away), *asked), items)


def _load_constant(value: Value) -> Value:
    """A constant that goes into a register."""
    wide = value.lanes > 1
    return Value("load-constant", (value,) if wide else (), None if wide else value.attr, value.lanes)
