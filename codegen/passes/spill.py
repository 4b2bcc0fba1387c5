"""Spills: where more values live than there are registers, the one needed last waits on the stack."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from setwise.codegen.describe.operations import WRITES
from setwise.codegen.describe.values import Region, Value, in_register
from setwise.codegen.passes.live import Event, live_events
from setwise.codegen.passes.unit import Block, PlacedRegion, Spilled, Unit

_STAYS = WRITES | {"phi", "result"}


def spill(block: Block, results: tuple[Value, ...], room: int) -> Spilled:
    """Store and reload values until never more than `room` of them need a general register at once.

    A value that a region reads or carries stays where it is; should that leave too many, the search for registers
    will say so.
    """
    now = Spilled(block, results, 0)
    settled: set[Value] = set()
    while True:
        events = live_events(now.block, now.results)
        crowded = next((i for i, event in enumerate(events) if _pressure(event) > room), None)
        if crowded is None:
            return now
        fixed = settled.union(*(read for event in events if event.region is not None for read in _reads(event.region)))
        here = events[crowded]
        using = {here.value, *here.value.args} if here.value is not None else set()
        free = here.after - fixed - using
        # In the order in which they are named, for sets have none, and of equals the first goes.
        waiting = [v for v in _named(events) if v in free and v.op not in _STAYS]
        if not waiting:
            return now
        victim = max(
            waiting, key=lambda value: (_next_use(value, events[crowded + 1 :]), -_definition_index(value, events))
        )
        now = _Spilling(victim, now.slots, settled, _item_of(crowded, now.block)).apply(now)


def _item_of(number: int, block: Block) -> int:
    """Which of the block's items an event belongs to."""
    for at, item in enumerate(block.items):
        number -= _length(item)
        if number < 0:
            return at
    return len(block.items)


def _length(item: Value | PlacedRegion) -> int:
    """How many events an item has: a region its start and end, each body its own as well."""
    if isinstance(item, Value):
        return 1
    return 2 + sum(2 + sum(map(_length, body.items)) for body in item.bodies)


def _named(events: Sequence[Event]) -> list[Value]:
    """All values that are made or taken as arguments, each once."""
    return list(dict.fromkeys(v for e in events if e.value is not None for v in (*e.value.args, e.value)))


def _definition_index(value: Value, events: Sequence[Event]) -> int:
    """When a value is made: the number of its event, -1 for a parameter."""
    return next((i for i, event in enumerate(events) if event.value is value), -1)


def _pressure(event: Event) -> int:
    here = set(event.after)
    if event.value is not None:
        here |= {event.value, *event.value.args}
    return sum(value.file == "general" and in_register(value) and value.op not in WRITES for value in here)


def _reads(region: Region) -> tuple[tuple[Value, ...], ...]:
    return (region.outside, region.asked, *region.bodies)


def _next_use(value: Value, events: Sequence[Event]) -> int:
    return next((i for i, e in enumerate(events) if e.value is not None and value in e.value.args), len(events))


@dataclass
class _Spilling:
    """One value going to the stack, and fetched from there from item `start` on, where it gets crowded.

    What comes before, a loop over most of the boards perhaps, keeps it in its register. `settled` gathers what must not
    be spilled again.
    """

    victim: Value
    slot: int
    settled: set[Value]
    start: int

    def __post_init__(self) -> None:
        self.fetching = False
        self.new: dict[Value, Value] = {}
        self.settled.add(self.victim)

    def apply(self, old: Spilled) -> Spilled:
        items: tuple[Value | PlacedRegion, ...] = ()
        if self.victim.op == "param":
            items = (Value("store", (self.victim,), self.slot),)
        early = self.block(Block(old.block.items[: self.start])).items
        self.fetching = True
        late = self.block(Block(old.block.items[self.start :])).items
        block = Block((*items, *early, *late))
        return Spilled(block, self.now(old.results), old.slots + 1)

    def now(self, values: Iterable[Value]) -> tuple[Value, ...]:
        return tuple(self.new.get(value, value) for value in values)

    def block(self, old: Block) -> Block:
        items: list[Value | PlacedRegion] = []
        for item in old.items:
            if isinstance(item, PlacedRegion):
                items.append(self.region(item))
                continue
            args = self.now(item.args)
            if self.fetching and self.victim in args:
                again = Value("reload", (), self.slot)
                self.settled.add(again)
                items.append(again)
                args = tuple(again if arg is self.victim else arg for arg in args)
            changed = replace(item, args=args) if args != item.args else item
            self.new[item] = changed
            if item in self.settled:
                self.settled.add(changed)
            items.append(changed)
            if item is self.victim:
                items.append(Value("store", (item,), self.slot))
        return Block(tuple(items))

    def region(self, placed: PlacedRegion) -> PlacedRegion:
        bodies = tuple(map(self.block, placed.bodies))
        changed = placed.region.on(self.now)
        results = tuple(replace(result, region=changed) for result in placed.results)
        self.new.update(zip(placed.results, results, strict=True))
        return PlacedRegion(changed, bodies, results)


def spilling(unit: Unit) -> Unit:
    """The pass: the block with stores and reloads, where the convention's registers do not suffice."""
    room = len(unit.convention.scratch) + len(unit.convention.saved)
    return replace(unit, spilled=spill(unit.block, unit.graph.results, room))
