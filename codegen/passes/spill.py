"""Spills: where more values live than there are registers, those that are needed last wait on the stack.

Any value may. One that is made is stored at once, and fetched for each use; what a region carries lies in its slot from
one body to the next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from setwise.codegen.describe.operations import WRITES
from setwise.codegen.describe.values import Region, Value, in_register, overwritable
from setwise.codegen.machine.code import RegisterFile
from setwise.codegen.passes.live import Event, live_events
from setwise.codegen.passes.unit import Block, PlacedRegion, Spilled, Unit
from setwise.codegen.targets.table import Target

Variable = tuple[Region, int]
"""What a region carries, by its place among that."""

Items = list[Value | PlacedRegion]


@dataclass
class _Waiting:
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


def spill(block: Block, results: tuple[Value, ...], target: Target, room: Mapping[RegisterFile, int]) -> Spilled:
    """Store and fetch values until never more than `room` of them need a register of a file at once."""
    waiting = _Waiting()
    while True:
        rewriting = _Rewriting(waiting)
        spilled = rewriting.spilled(block, results)
        if not _Crowd(rewriting, spilled.block, spilled.results, target).relieve(room):
            return spilled


class _Rewriting:
    """A block with its stores and fetches."""

    def __init__(self, waiting: _Waiting) -> None:
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
        slots = {value: slot for value in _registers(values) if (slot := self.slot(value)) is not None}
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
        if value.constant is None:
            (source,) = self.fetched((value,), items)
        else:
            source = _load_constant(value)
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
        asked_before = old.asked if old.kind == "when" else ()
        outside = [old.inits[i] for i in kept]
        fetched = self.fetched((*outside, *old.outside[len(old.inits) :], *asked_before), items)
        asked = fetched[len(old.outside) - len(away) :]
        bodies, nexts = [], []
        for number, body in enumerate(placed.bodies):
            inner: Items = []
            for item in body.items:
                self.rewrite(item, inner)
            nexts_and_asked = self.leave(old, number, away, inner)
            bodies.append(Block(tuple(inner)))
            nexts.append(nexts_and_asked[: len(kept)])
            asked = asked or nexts_and_asked[len(kept) :]
        changed = replace(
            old,
            inits=fetched[: len(kept)],
            phis=tuple(tuple(phis[i] for i in kept) for phis in old.phis),
            bodies=tuple(nexts),
            effects=tuple(tuple(self.now.get(effect, effect) for effect in effects) for effects in old.effects),
            condition=old.condition and replace(old.condition, value=asked[0]),
            index=None if old.index is None else fetched[len(kept)],
        )
        results = []
        for result in placed.results:
            i = int(result.attr)
            if i in away:
                self.lies[result] = away[i]
            else:
                results.append(replace(result, attr=kept.index(i), region=changed))
                self.called(result, results[-1])
        items.append(PlacedRegion(changed, tuple(bodies), tuple(results)))
        for result in placed.results:
            if int(result.attr) not in away:
                self.keep(result, items)
        for new, i in enumerate(kept):
            through = [*(values[new] for values in (changed.inits, *changed.phis, *changed.bodies))]
            through += [result for result in results if result.attr == new]
            for value in dict.fromkeys(through):
                self.carried.setdefault(value, []).append((old, i))

    def leave(self, old: Region, number: int, away: Mapping[int, int], items: Items) -> tuple[Value, ...]:
        """The end of a body: its next values go to their slots; those that stay in registers, and what is asked."""
        phis, nexts = old.phis[number], old.bodies[number]
        asked = old.asked if old.kind == "loop" else ()
        written = {i: slot for i, slot in away.items() if nexts[i] is not phis[i]}
        for i in written:
            # What others take over is put aside before its slot is written.
            if phis[i] in nexts or phis[i] in asked:
                aside, self.slots = self.slots, self.slots + phis[i].lanes
                self.stored(phis[i], aside, items)
                self.lies[phis[i]] = aside
        for i, slot in written.items():
            self.stored(nexts[i], slot, items)
        return self.fetched((*(nexts[i] for i in range(len(nexts)) if i not in away), *asked), items)


def _registers(values: Iterable[Value]) -> Iterator[Value]:
    """The values that are read from registers: all but constants; of a place in memory those that say where it is."""
    for value in values:
        if value.op == "place":
            yield from value.args
        elif in_register(value):
            yield value


def _load_constant(value: Value) -> Value:
    """A constant that goes into a register."""
    return (
        Value("load-constant", (value,), lanes=value.lanes)
        if value.lanes > 1
        else Value("load-constant", (), value.attr)
    )


class _Crowd:
    """Which values need registers at each event of a block, and what may wait where they are too many."""

    def __init__(self, rewriting: _Rewriting, block: Block, results: tuple[Value, ...], target: Target) -> None:
        self.rewriting = rewriting
        self.target = target
        self.events = live_events(block, results)
        lengths = zip(rewriting.item_of, map(_length, block.items), strict=True)
        self.item_of = [item for item, length in lengths for _ in range(length)]
        makes = {event.value: at for at, event in enumerate(self.events) if event.value is not None}
        self.made: Mapping[Value, int] = makes
        self.uses: dict[Value, list[int]] = {named: [] for value in makes for named in (*value.args, value)}
        """At which events a value is read; in the order in which values are named, for sets have none."""
        for at, event in enumerate(self.events):
            for value in _reads(event):
                self.uses.setdefault(value, []).append(at)
        self.fixed = {value for event in self.events if event.region is not None for value in _reads(event)}
        self.old = rewriting.before | {value: value for value in self.uses if value.op == "param"}
        """What the values were before the rewriting; what came in by it was nothing."""
        self.gone: set[Value] = set()
        """What waits from the event on that is looked at, as has been found."""

    def relieve(self, room: Mapping[RegisterFile, int]) -> bool:
        """Where there is not room for all, what waits best does from now on; whether that is more than before."""
        relieved = False
        for at, event in enumerate(self.events):
            while file := self.crowded(event, room):
                victim = self.best(at, file)
                if victim is None:
                    return relieved
                relieved = True
                if not isinstance(victim, Value):
                    # Whole regions change, and with them the events.
                    self.rewriting.waiting.add(victim)
                    return True
                self.rewriting.waiting.add(self.old[victim], self.item_of[at])
                self.gone.add(victim)
        return relieved

    def crowded(self, event: Event, room: Mapping[RegisterFile, int]) -> RegisterFile | None:
        """The registers of which an event needs more than there are."""
        for values in self.moments(event):
            if len(values) > min(room.values()):
                # Another name of a value lies where that one does.
                held = Counter(value.file for value in {_named(value) for value in values} if value.op not in WRITES)
                for file in room:
                    if held[file] > room[file]:
                        return file
        return None

    def moments(self, event: Event) -> Iterator[Set[Value]]:
        """The values that need registers together in the course of an event."""
        reads = set(_reads(event))
        after = event.after - (self.gone - reads)
        if event.value is not None:
            yield (after - {event.value}) | reads
            yield after | {event.value} | self.unwritten(event.value, after)
        elif event.kind == "enter" and event.region is not None:
            phis, inits = event.region.phis[0], event.region.inits
            for at in range(len(phis) + 1):
                # One by one they are put where the region has them.
                yield (after - set(phis)).union(_go(event.region), phis[:at], _registers(inits[at:]))
        else:
            yield after | reads

    def unwritten(self, value: Value, after: Set[Value]) -> set[Value]:
        """The arguments that keep their registers while a value is made.

        None, where it may lie in any register; on general registers all, which leaves some for moves.
        """
        reads = set(_registers(value.args))
        rows = self.target.rows_for(value)
        if not rows or not all(row.tied for row in rows):
            return {arg for arg in reads if arg.file == "general"}
        needed = {_named(other) for other in after if other is not value}
        dying = [
            arg
            for arg in overwritable(value)
            if arg.file == "vector" and in_register(arg) and _named(arg) not in needed
        ]
        return reads - set(dying[:1])

    def best(self, at: int, file: RegisterFile) -> Value | Variable | None:
        """The value that is needed last, if there can be one that no region reads or carries.

        Else what a region carries, with the fewest uses.
        """
        event, since = self.events[at], self.rewriting.waiting.since
        held = event.after - self.gone
        using = set() if event.value is None else {event.value, *_reads(event)}
        free = [
            value
            for value in self.uses
            if value in held
            and value not in using
            and value.file == file
            and value.op not in WRITES
            # What came in by the rewriting is held for its use alone; so is what waits already.
            and value in self.old
            and since.get(self.old[value], len(self.events)) > self.item_of[at]
        ]
        plain = [value for value in free if value not in self.fixed and value.region is None]
        if free:
            return max(plain or free, key=lambda value: self.worth(value, at))
        crowd = set().union(*self.moments(event))
        variables = [
            v
            for value, carried in self.rewriting.carried.items()
            if value in crowd and value.file == file
            for v in carried
        ]
        return min(variables, key=self.accesses, default=None)

    def worth(self, value: Value, at: int) -> tuple[int, int]:
        """The next use after an event; of equals the one that was made first."""
        following = next((use for use in self.uses[value] if use > at), len(self.events))
        return following, -self.made.get(value, -1)

    def accesses(self, variable: Variable) -> int:
        """How often the bodies of its region read what is carried."""
        region, place = variable
        return sum(len(self.uses.get(phis[place], ())) for phis in region.phis)


def _length(item: Value | PlacedRegion) -> int:
    """How many events an item has: a region its start and end, each body its own as well."""
    if isinstance(item, Value):
        return 1
    return 2 + sum(2 + sum(map(_length, body.items)) for body in item.bodies)


def _named(value: Value) -> Value:
    """The value of which it is another name, or another view."""
    while value.operation.free and len(value.args) == 1:
        (value,) = value.args
    return value


def _reads(event: Event) -> tuple[Value, ...]:
    """The values whose registers an event reads."""
    if event.value is not None:
        return tuple(_registers(event.value.args))
    region = event.region
    assert region is not None
    if event.kind == "enter":
        return tuple(_registers((*region.inits, *_go(region))))
    if event.kind == "leave":
        asked = region.asked if region.kind == "loop" else ()
        return tuple(_registers((*region.bodies[event.number], *asked)))
    return ()


def _go(region: Region) -> tuple[Value, ...]:
    """What decides how control enters a region."""
    asked = region.asked if region.kind == "when" else ()
    return tuple(_registers((*asked, *region.outside[len(region.inits) :])))


def spilling(unit: Unit) -> Unit:
    """The pass: the block with stores and fetches, where the registers do not suffice."""
    general = len(unit.convention.scratch) + len(unit.convention.saved)
    room: dict[RegisterFile, int] = {"general": general, "vector": unit.target.vectors}
    return replace(unit, spilled=spill(unit.block, unit.graph.results, unit.target, room))
