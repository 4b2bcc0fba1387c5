"""Spill values to the stack where register pressure exceeds the register file.

The victim is the live value with the farthest next use (Belady 1966), if possible of those that no region reads or
returns. It is stored where it is defined and reloaded before its next use, and keeps that register until the pressure
takes it again. A carried value of a region may be in a slot from one body to the next. At the end of a body the next
values are stored in turn, so a slot that is still read is first copied aside.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain

from setwise.codegen.ir.operations import WRITES
from setwise.codegen.ir.orders import overwritable
from setwise.codegen.ir.values import Region, Value, original, same
from setwise.codegen.machine.code import RegisterFile
from setwise.codegen.passes.liveness import (
    ProgramPoint,
    entry_conditions,
    loop_conditions,
    program_points,
    reads,
    register_operands,
)
from setwise.codegen.passes.select import load_constant
from setwise.codegen.passes.stack_arguments import parameter_stores
from setwise.codegen.passes.state import Block, RegionBlock, Spilled, State
from setwise.codegen.targets.table import Target

Variable = tuple[Region, int]
"""A carried value of a loop or another region: the region, and the number of the value there."""

Items = list[Value | RegionBlock]

Path = tuple[int, ...]
"""The position of an item: (2, 0, 5) is item 5 of body 0 of the region that is item 2 of the outermost block."""

ENTRY: Path = (-1,)  # in front of all items


@dataclass
class SpillSet:
    """The spilled values: the first slot of 8 bytes of each, and `size`, the number of slots.

    `splits`: the items in front of which a value gives its register up, in the block of its definition or reload.
    """

    slots: dict[Value | Variable, int] = field(default_factory=dict)
    splits: dict[Value, set[Path]] = field(default_factory=dict)
    size: int = 0

    def add(self, spilled: Value | Variable) -> None:
        """Give a value slots, one for each lane, unless it has some."""
        lanes = spilled.lanes if isinstance(spilled, Value) else spilled[0].inits[spilled[1]].lanes
        if spilled not in self.slots:
            self.slots[spilled] = _align(self.size, lanes)
            self.size = self.slots[spilled] + lanes

    def split(self, value: Value, at: Path) -> None:
        """Let the value be in no register from item `at` on until it is reloaded."""
        self.add(value)
        self.splits.setdefault(value, set()).add(at)

    def is_kept(self, value: Value, since: Path, now: Path) -> bool:
        """Return whether a value that got its register at item `since` still has it at item `now`."""
        depth = len(since)
        return now[: depth - 1] == since[:-1] and not any(
            len(split) == depth and since < split <= now[:depth] for split in self.splits.get(value, ())
        )


class Rewriting:
    """The rewriting of a block with the stores and reloads of a spill set. A reload may become its value's new name."""

    def __init__(self, spills: SpillSet) -> None:
        self.spills = spills
        self.slots = spills.size
        self.path: Path = ENTRY
        self.carried_slots: dict[Value, int] = {}
        """The slots of phis and results that a region carries on the stack."""
        self.names: dict[Value, Value] = {}
        """The new name of each old value: the value of the new block that got a register for it last."""
        self.before: dict[Value, Value] = {}
        """The old value of each new name."""
        self.since: dict[Value, Path] = {}
        """The old item at which each new name got its register."""
        self.carried: dict[Value, list[Variable]] = {}
        """The variables of which each new value is the initial value, a phi or a next value."""
        self.paths: dict[Value | Region | Variable, Path] = {}
        """The old item of each new item or region (of a defined value's store the next), and the end of each body."""

    def spilled(self, block: Block, results: tuple[Value, ...]) -> Spilled:
        """Return the block with stores and reloads, the results by their new names, and the number of slots."""
        items: Items = []
        for value, slot in reversed(self.spills.slots.items()):
            if isinstance(value, Value) and value.op == "param":
                self.add(Value("store", (value,), slot, value.lanes), items)
        for number, item in enumerate(block.items):
            self.path = (number,)
            self.rewrite(item, items)
        self.path = (len(block.items),)
        return Spilled(Block(tuple(items)), self.reload(results, items), self.slots)

    def add(self, item: Value, items: Items) -> None:
        """Append a new item, and record that it belongs to the old item that is being rewritten."""
        items.append(item)
        self.paths[item] = self.path

    def rewrite(self, item: Value | RegionBlock, items: Items) -> None:
        """Append reloads, the item with its new arguments, and the stores of the spilled values that it defines."""
        if isinstance(item, RegionBlock):
            self.region(item, items)
            return
        args = self.reload(item.args, items, stays=True)
        self.name(item, item if same(args, item.args) else item.on(args))
        self.add(self.names[item], items)
        self.keep(item, items)

    def name(self, old: Value, new: Value) -> None:
        """Let an old value have this new name, which gets a register here."""
        self.names[old] = new
        self.before[new] = old
        self.since[new] = self.path

    def keep(self, value: Value, items: Items) -> None:
        """Append the store of a value that has just been defined, if it is spilled."""
        if value in self.spills.slots:
            store = Value("store", (self.names[value],), self.spills.slots[value], value.lanes)
            items.append(store)
            self.paths[store] = (*self.path[:-1], self.path[-1] + 1)

    def slot(self, value: Value) -> int | None:
        """Return the first slot of a value, or None if it has none."""
        return self.carried_slots.get(value, self.spills.slots.get(value))

    def reload(self, values: Sequence[Value], items: Items, *, stays: bool = False) -> tuple[Value, ...]:
        """Return the values by new names; append reloads of those in no register. If `stays`, these may be reused."""
        spilled = {value: slot for value in register_operands(values) if (slot := self.slot(value)) is not None}
        again: dict[Value, Value] = {}
        for value in sorted(spilled, key=spilled.__getitem__):
            name = self.names.get(value, value)
            if value in self.carried_slots or not self.spills.is_kept(value, self.since.get(name, ENTRY), self.path):
                name = Value("reload", (), spilled[value], value.lanes)
                self.add(name, items)
                if stays and value not in self.carried_slots:
                    self.name(value, name)
            again[value] = name
        return tuple([self.renamed(value, again) for value in values])

    def renamed(self, value: Value, again: Mapping[Value, Value]) -> Value:
        """Return the new name of a value, from `again` if there. A memory operand gets new names for base and index."""
        if value.op != "place":
            return again[value] if value in again else self.names.get(value, value)
        args = tuple([self.renamed(arg, again) for arg in value.args])
        return value if same(args, value.args) else value.on(args)

    def store(self, value: Value, slot: int, items: Items) -> None:
        """Append the store of a value, or of a constant, in a slot."""
        (source,) = self.reload((value,), items)
        if source.constant is not None:
            source = load_constant(source)
            self.add(source, items)
        self.add(Value("store", (source,), slot, source.lanes), items)

    def region(self, placed: RegionBlock, items: Items) -> None:
        """Append a region without the carried values that have slots: they are stored before it and in its bodies."""
        old, path = placed.region, self.path
        away = {i: self.spills.slots[old, i] for i in range(len(old.inits)) if (old, i) in self.spills.slots}
        kept = [i for i in range(len(old.inits)) if i not in away]
        for i, slot in away.items():
            self.store(old.inits[i], slot, items)
            self.carried_slots.update((phis[i], slot) for phis in old.phis)
        entered = self.reload((*(old.inits[i] for i in kept), *entry_conditions(old)), items)
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
            effects=tuple(tuple(self.names[each] for each in made) for made in old.effects),
            condition=None if old.condition is None else replace(old.condition, value=decides[0]),
            index=None if old.index is None else decides[0],
        )
        self.paths[new] = path
        self.paths.update(((new, number), end) for number, end in enumerate(ends))
        results = [result for result in placed.results if int(result.attr) not in away]
        for result in results:
            self.name(result, replace(result, attr=kept.index(int(result.attr)), region=new))
        items.append(RegionBlock(new, tuple(bodies), tuple(self.names[result] for result in results)))
        for result in results:
            self.keep(result, items)
        self.carried_slots.update((r, away[int(r.attr)]) for r in placed.results if int(r.attr) in away)
        for place, i in enumerate(kept):
            for value in dict.fromkeys(values[place] for values in (new.inits, *new.phis, *new.bodies)):
                self.carried.setdefault(value, []).append((old, i))

    def leave(self, old: Region, number: int, away: Mapping[int, int], items: Items) -> tuple[Value, ...]:
        """Store next values of body `number` in the slots `away`. Return the others, and the value a loop tests."""
        phis, nexts, asked = old.phis[number], old.bodies[number], loop_conditions(old)
        written = {i: slot for i, slot in away.items() if nexts[i] is not phis[i]}
        for i in written:
            if phis[i] in {*nexts, *asked}:  # the slot is still read: copy it aside
                aside = _align(self.slots, phis[i].lanes)
                self.slots = aside + phis[i].lanes
                self.store(phis[i], aside, items)
                self.carried_slots[phis[i]] = aside
        for i, slot in written.items():
            self.store(nexts[i], slot, items)
        return self.reload((*(value for i, value in enumerate(nexts) if i not in away), *asked), items)


def _align(slot: int, lanes: int) -> int:
    """Return the first slot, from this one on, that is aligned for a value of that many lanes."""
    return -(-slot // lanes) * lanes


class _StepPressure:
    """Register pressure at each step of a block."""

    def __init__(self, events: Sequence[ProgramPoint], target: Target, available: Mapping[RegisterFile, int]) -> None:
        self.events = events
        self.target = target
        self.available = available
        self.fewest = min(available.values())
        self.reload_at: dict[Value, int] = {}
        """Spilled values, each with the step of its next reload."""

    def exceeded_file(self, event: ProgramPoint) -> RegisterFile | None:
        """Return a register file whose pressure exceeds its size at a step, or None."""
        fewest, available = self.fewest, self.available
        if event.value is not None and len(event.live_after.union((event.value,), reads(event))) <= fewest:
            return None
        for values in self.live_sets(event):
            if len(values) > fewest:
                # A copy, or a value by another free operation, shares its operand's register.
                held = {original(value) for value in values}
                files = [value.file for value in held if value.op not in WRITES]
                for file in available:
                    if files.count(file) > available[file]:
                        return file
        return None

    def live_sets(self, event: ProgramPoint) -> Iterator[Set[Value]]:
        """Yield the sets of values that are in registers together during a step."""
        read = set(reads(event))
        after = event.live_after - (self.reload_at.keys() - read)
        if event.value is not None:
            yield (after - {event.value}) | read
            yield after | {event.value} | self.interfering_operands(event.value, after)
        elif event.kind == "enter" and event.region is not None:
            phis, inits = event.region.phis[0], event.region.inits
            tested = set(register_operands(entry_conditions(event.region)))
            for at in range(len(phis) + 1):
                # The phis get their registers one by one.
                yield (after - set(phis)) | tested | {*phis[:at], *register_operands(inits[at:])}
        else:
            yield after | read

    def interfering_operands(self, value: Value, after: Set[Value]) -> set[Value]:
        """Return the operands that interfere with the result, if the values `after` are live behind it.

        General operands always do, which reserves a register for the copy. Vector operands do in two-operand forms,
        except one that dies and may be overwritten; with three-operand forms none does.
        """
        vectors = {arg for arg in register_operands(value.args) if arg.file == "vector"}
        others = set(register_operands(value.args)) - vectors
        if not all(row.tied for row in self.target.rows_for(value)):
            return others
        needed = {original(other) for other in after if other is not value}
        dying = [arg for arg in overwritable(value) if arg in vectors and original(arg) not in needed]
        return others | vectors - set(dying[:1])


class _Spiller(_StepPressure):
    """Register pressure of a block with some spills, and the next victims."""

    def __init__(
        self, rewriting: Rewriting, spilled: Spilled, target: Target, available: Mapping[RegisterFile, int]
    ) -> None:
        super().__init__(program_points(spilled.block, spilled.results), target, available)
        self.rewriting = rewriting
        self.paths = [_path(event, rewriting.paths) for event in self.events]
        self.defined = {event.value: at for at, event in enumerate(self.events) if event.value is not None}
        self.uses: dict[Value, list[int]] = {named: [] for value in self.defined for named in (*value.args, value)}
        """The steps that read each value. The keys are in the order of first mention, so that victims do not vary."""
        for at, event in enumerate(self.events):
            for value in reads(event):
                self.uses.setdefault(value, []).append(at)
        self.fixed = {value for event in self.events if event.region is not None for value in reads(event)}
        self.old = rewriting.before | {value: value for value in self.uses if value.op == "param"}
        """The old value of each new one. A reload for a single use has none."""
        self.since = dict.fromkeys(self.old, ENTRY) | rewriting.since
        """The old item at which each new value got its register."""

    def spill_round(self) -> bool:
        """Spill victims where a file is exceeded; stop without one or after a variable. Return if any was spilled."""
        spilled = False
        for at, event in enumerate(self.events):
            for value in [value for value, reload in self.reload_at.items() if reload == at]:
                del self.reload_at[value]
                self.since[value] = self.paths[at]
            while file := self.exceeded_file(event):
                victim = self.choose_victim(at, file)
                if victim is None:
                    return spilled
                spilled = True
                if not isinstance(victim, Value):
                    # Whole regions change, and with them the steps.
                    self.rewriting.spills.add(victim)
                    return True
                place = self.split_point(victim, at)
                assert place is not None
                self.rewriting.spills.split(self.old[victim], place)
                uses = (use for use in self.uses[victim] if use > at and self.events[use].value is not None)
                self.reload_at[victim] = next(uses, len(self.events))
        return spilled

    def split_point(self, value: Value, at: int) -> Path | None:
        """Return the old item in front of which a value can give up its register for a step, or None.

        The item is in the block in which the value got the register.
        """
        since, path = self.since[value], self.paths[at]
        place = path[: len(since)]
        splits = self.rewriting.spills.splits.get(self.old[value], ())
        return place if place[:-1] == since[:-1] and since < place and place not in splits else None

    def choose_victim(self, at: int, file: RegisterFile) -> Value | Variable | None:
        """Return the value of a file with the farthest next use, if possible one that no region reads or returns.

        Only live values that the step does not use count. Without any, return the variable with fewest reads, or None.
        """
        event = self.events[at]
        held = event.live_after - self.reload_at.keys()
        using = set() if event.value is None else {event.value, *reads(event)}
        free = [
            value
            for value in self.uses
            if value in held
            and value not in using
            and value.file == file
            and value.op not in WRITES
            and value in self.old
            and self.split_point(value, at) is not None
        ]
        plain = [value for value in free if value not in self.fixed and value.region is None]
        if free:
            return max(plain or free, key=lambda value: self.next_use(value, at))
        live = set().union(*self.live_sets(event))
        carried = self.rewriting.carried.items()
        variables = chain(*(variables for value, variables in carried if value in live and value.file == file))
        return min(variables, key=self.count_uses, default=None)

    def next_use(self, value: Value, at: int) -> tuple[int, int]:
        """Return a sort key: the next use after a step, of equals the value that is defined first is the greatest."""
        following = next((use for use in self.uses[value] if use > at), len(self.events))
        return following, -self.defined.get(value, -1)

    def count_uses(self, variable: Variable) -> int:
        """Return the number of steps that read a phi of a variable, over all bodies."""
        region, number = variable
        return sum(len(self.uses.get(phis[number], ())) for phis in region.phis)


def _path(event: ProgramPoint, paths: Mapping[Value | Region | Variable, Path]) -> Path:
    """Return the old item that a step of the new block belongs to, by the `paths` of its values and regions."""
    if event.value is not None:
        return paths[event.value]
    assert event.region is not None
    if event.kind == "leave":
        return paths[event.region, event.body]
    path = paths[event.region]
    if event.kind == "body":
        return (*path, event.body, 0)
    return (*path[:-1], path[-1] + (event.kind == "exit"))


def spill(block: Block, results: tuple[Value, ...], target: Target, available: Mapping[RegisterFile, int]) -> Spilled:
    """Insert spills and reloads until the pressure on each file is at most `available`, or no victim is left."""
    pressure = _StepPressure(program_points(block, results), target, available)
    if not any(map(pressure.exceeded_file, pressure.events)):
        return Spilled(block, results, 0)
    spills = SpillSet()
    while True:
        rewriting = Rewriting(spills)
        spilled = rewriting.spilled(block, results)
        if not _Spiller(rewriting, spilled, target, available).spill_round():
            return spilled


def spill_pass(state: State) -> State:
    """Store the parameters that broadcasts read from the stack, and spill where registers do not suffice."""
    general = len(state.convention.scratch) + len(state.convention.saved)
    # A mask is moved to a general register at once, so there are always enough registers for masks.
    available: dict[RegisterFile, int] = {"general": general}
    if state.target.vectors:
        available["vector"] = state.target.vectors
    block = Block((*parameter_stores(state.graph), *state.block.items))
    return replace(state, spilled=spill(block, state.graph.results, state.target, available))
