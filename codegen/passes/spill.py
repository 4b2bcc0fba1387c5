"""Spills: where more values live than there are registers, those that are needed last wait on the stack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain

from setwise.codegen.describe.operations import WRITES
from setwise.codegen.describe.orders import overwritable
from setwise.codegen.describe.values import Region, Value, original
from setwise.codegen.machine.code import RegisterFile
from setwise.codegen.passes.arguments import stores
from setwise.codegen.passes.live import Event, asked_first, in_registers, live_events, reads
from setwise.codegen.passes.slots import ENTRY, Path, Rewriting, Variable, Waiting
from setwise.codegen.passes.unit import Block, Spilled, Unit
from setwise.codegen.targets.table import Target


def spill(block: Block, results: tuple[Value, ...], target: Target, room: Mapping[RegisterFile, int]) -> Spilled:
    """Store and fetch values until never more than `room` of them need a register of a file at once."""
    moments = _Moments(live_events(block, results), target, room)
    if not any(map(moments.crowded, moments.events)):
        return Spilled(block, results, 0)
    waiting = Waiting()
    while True:
        rewriting = Rewriting(waiting)
        spilled = rewriting.spilled(block, results)
        if not _Crowd(rewriting, spilled.block, spilled.results, target, room).relieve():
            return spilled


class _Moments:
    """Which values need registers at each event of a block."""

    def __init__(self, events: Sequence[Event], target: Target, room: Mapping[RegisterFile, int]) -> None:
        self.events = events
        self.target = target
        self.room = room
        self.fewest = min(room.values())
        self.gone: dict[Value, int] = {}
        """What waits at the event that is looked at, as has been found, and at which event it is fetched."""

    def crowded(self, event: Event) -> RegisterFile | None:
        """The registers of which an event needs more than there are."""
        fewest, room = self.fewest, self.room
        if event.value is not None and len(event.after.union((event.value,), reads(event))) <= fewest:
            return None
        for values in self.moments(event):
            if len(values) > fewest:
                # Another name of a value lies where that one does.
                held = {original(value) for value in values}
                if len(held) > fewest:
                    files = [value.file for value in held if value.op not in WRITES]
                    for file in room:
                        if files.count(file) > room[file]:
                            return file
        return None

    def moments(self, event: Event) -> Iterator[Set[Value]]:
        """The values that need registers together in the course of an event."""
        read = set(reads(event))
        after = event.after - (self.gone.keys() - read)
        if event.value is not None:
            yield (after - {event.value}) | read
            yield after | {event.value} | self.unwritten(event.value, after)
        elif event.kind == "enter" and event.region is not None:
            phis, inits = event.region.phis[0], event.region.inits
            decides = set(in_registers(asked_first(event.region)))
            for at in range(len(phis) + 1):
                # One by one they are put where the region has them.
                yield (after - set(phis)) | decides | {*phis[:at], *in_registers(inits[at:])}
        else:
            yield after | read

    def unwritten(self, value: Value, after: Set[Value]) -> set[Value]:
        """The arguments that keep their registers while a value is made: general ones all, which leaves one for moves.

        Of vectors those that the value cannot write over: none, where it may lie in any register.
        """
        vectors = {arg for arg in in_registers(value.args) if arg.file == "vector"}
        others = set(in_registers(value.args)) - vectors
        if not all(row.tied for row in self.target.rows_for(value)):
            return others
        needed = {original(other) for other in after if other is not value}
        dying = [arg for arg in overwritable(value) if arg in vectors and original(arg) not in needed]
        return others | vectors - set(dying[:1])


class _Crowd(_Moments):
    """The same of a block in which some values wait already, and what may wait besides where there are too many."""

    def __init__(
        self,
        rewriting: Rewriting,
        block: Block,
        results: tuple[Value, ...],
        target: Target,
        room: Mapping[RegisterFile, int],
    ) -> None:
        super().__init__(live_events(block, results), target, room)
        self.rewriting = rewriting
        self.paths = [_path(event, rewriting.paths) for event in self.events]
        makes = {event.value: at for at, event in enumerate(self.events) if event.value is not None}
        self.made: Mapping[Value, int] = makes
        self.uses: dict[Value, list[int]] = {named: [] for value in makes for named in (*value.args, value)}
        """At which events a value is read; in the order in which values are named, for sets have none."""
        for at, event in enumerate(self.events):
            for value in reads(event):
                self.uses.setdefault(value, []).append(at)
        self.fixed = {value for event in self.events if event.region is not None for value in reads(event)}
        self.old = rewriting.before | {value: value for value in self.uses if value.op == "param"}
        """What the values were before the rewriting; what came in by it for one use alone was nothing."""
        self.since = dict.fromkeys(self.old, ENTRY) | rewriting.since
        """Where each got its register."""

    def relieve(self) -> bool:
        """Where there is not room for all, what waits best does from now on; whether that is more than before."""
        relieved = False
        for at, event in enumerate(self.events):
            for value in [value for value, until in self.gone.items() if until == at]:
                del self.gone[value]
                self.since[value] = self.paths[at]
            while file := self.crowded(event):
                victim = self.best(at, file)
                if victim is None:
                    return relieved
                relieved = True
                if not isinstance(victim, Value):
                    # Whole regions change, and with them the events.
                    self.rewriting.waiting.add(victim)
                    return True
                place = self.place(victim, at)
                assert place is not None
                self.rewriting.waiting.give_up(self.old[victim], place)
                uses = (use for use in self.uses[victim] if use > at and self.events[use].value is not None)
                self.gone[victim] = next(uses, len(self.events))
        return relieved

    def place(self, value: Value, at: int) -> Path | None:
        """Where its register is given up for an event, in the block in which it got it; None where it has none."""
        since, path = self.since[value], self.paths[at]
        place = path[: len(since)]
        given_up = self.rewriting.waiting.given_up.get(self.old[value], ())
        return place if place[:-1] == since[:-1] and since < place and place not in given_up else None

    def best(self, at: int, file: RegisterFile) -> Value | Variable | None:
        """The value that is needed last, if there can be one that no region reads or carries.

        Else what a region carries, with the fewest uses.
        """
        event = self.events[at]
        held = event.after - self.gone.keys()
        using = set() if event.value is None else {event.value, *reads(event)}
        free = [
            value
            for value in self.uses
            if value in held
            and value not in using
            and value.file == file
            and value.op not in WRITES
            and value in self.old
            and self.place(value, at) is not None
        ]
        plain = [value for value in free if value not in self.fixed and value.region is None]
        if free:
            return max(plain or free, key=lambda value: self.worth(value, at))
        crowd = set().union(*self.moments(event))
        carried = self.rewriting.carried.items()
        variables = chain(*(variables for value, variables in carried if value in crowd and value.file == file))
        return min(variables, key=self.accesses, default=None)

    def worth(self, value: Value, at: int) -> tuple[int, int]:
        """The next use after an event; of equals the one that was made first."""
        following = next((use for use in self.uses[value] if use > at), len(self.events))
        return following, -self.made.get(value, -1)

    def accesses(self, variable: Variable) -> int:
        """How often the bodies of its region read what is carried."""
        region, place = variable
        return sum(len(self.uses.get(phis[place], ())) for phis in region.phis)


def _path(event: Event, paths: Mapping[Value | Region | Variable, Path]) -> Path:
    """Where an event of a new block is in the old one."""
    if event.value is not None:
        return paths[event.value]
    assert event.region is not None
    if event.kind == "leave":
        return paths[event.region, event.number]
    path = paths[event.region]
    if event.kind == "body":
        return (*path, event.number, 0)
    return (*path[:-1], path[-1] + (event.kind == "exit"))


def spilling(unit: Unit) -> Unit:
    """The pass: the block with stores of parameters, and stores and fetches where the registers do not suffice."""
    general = len(unit.convention.scratch) + len(unit.convention.saved)
    # A mask goes into a general register at once, so there are always enough registers for masks.
    room: dict[RegisterFile, int] = {"general": general}
    if unit.target.vectors:
        room["vector"] = unit.target.vectors
    block = Block((*stores(unit.graph), *unit.block.items))
    return replace(unit, spilled=spill(block, unit.graph.results, unit.target, room))
