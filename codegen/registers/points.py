"""The events laid out for the search: which values stand where before each event, and what can make a value.

The search holds the registers of the values that live at one point as a tuple, in the order of `Point.live`. A register
is a number there, its place in REGISTERS, so that a set of registers is an integer, a bit for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple

from setwise.codegen.describe.operations import WRITES
from setwise.codegen.describe.orders import overwritable, reordered
from setwise.codegen.describe.values import Region, Value, in_register, place_of
from setwise.codegen.machine.code import Memory, Operand, Register, RegisterFile, vector
from setwise.codegen.machine.convention import WHOLE
from setwise.codegen.passes.live import Event
from setwise.codegen.targets.table import Row, Target

REGISTERS = (
    *(Register("general", number, 64) for number in range(16)),
    *(vector(number, WHOLE) for number in range(32)),
    *(Register("mask", number, 64) for number in range(8)),
)
"""Every register, at the place of its number in the search."""

FIRST: Mapping[RegisterFile, int] = MappingProxyType({"general": 0, "vector": 16, "mask": 48})
"""The number of each file's first register."""

FILES: Mapping[RegisterFile, int] = MappingProxyType(
    {file: sum(1 << at for at, register in enumerate(REGISTERS) if register.file == file) for file in FIRST}
)
"""The set of each file's registers."""

RCX = 1

Registers = tuple[int, ...]
"""Where values lie that stand in a row."""


def numbered(register: Register) -> int:
    """A register's number in the search."""
    return FIRST[register.file] + register.number


def together(registers: Iterable[int]) -> int:
    """A set of registers."""
    union = 0
    for register in registers:
        union |= 1 << register
    return union


class Alternative(NamedTuple):
    """What can make a value: a row of the target, with an order of the arguments."""

    row: Row
    value: Value
    """The value with its arguments in that order."""
    swapped: bool
    """Whether that is not the description's own order, in a form that overwrites its first argument."""
    departs: bool
    """Whether the description's own order tells which argument is overwritten, and it is another."""
    reads: tuple[int, ...]
    """Where in `Point.live` the arguments stand that are read from registers, in order."""
    operands: tuple[Operand | None, ...]
    """The constants among the operands; None for what depends on registers."""
    tied: bool
    """Whether the first argument is overwritten."""
    counts: bool
    """Whether the second argument is a shift count, which must lie in rcx."""

    def placed(self, at: Callable[[Value], Register]) -> list[Operand]:
        """The operands, once it is known in which register a value lies."""
        placed: list[Operand] = []
        for arg, operand in zip(self.value.args, self.operands, strict=True):
            if operand is not None:
                placed.append(operand)
            elif arg.op == "place":
                placed.append(Memory(64 * arg.lanes, at(arg.args[0]), at(arg.args[1]), 8, arg.count))
            else:
                placed.append(at(arg))
        return placed


class Point(NamedTuple):
    """A program point: an event, what lives before it and after it, and where that stands."""

    event: Event
    live: tuple[Value, ...]
    """What has a register before the event."""
    header: tuple[Value, ...]
    """What has a register at the start of the region around the event."""
    following: tuple[Value, ...]
    """What has a register after the event."""
    kept: tuple[int, ...]
    """For `following`, but for what is made now, where each stands: in `live`, for body and exit in `header`."""
    keep: Callable[[Registers], Registers]
    """Of the registers of these the kept ones."""
    homes: Mapping[Value, Sequence[int]] = MappingProxyType({})
    """For values on the way to what the region around carries where that stands in `header`."""
    left: int | None = None
    """Where in `live` the variable stands that the event's value is a new state of, as the description has it."""
    alternatives: tuple[tuple[Alternative, ...], ...] = ()
    """What can make the event's value: for each row of the target that can the orders of arguments."""
    file: RegisterFile = "general"
    """Where the event's value goes."""

    @property
    def value(self) -> Value:
        """The value that the event makes."""
        assert self.event.value is not None
        return self.event.value

    @property
    def region(self) -> Region:
        """The region that the event is about."""
        assert self.event.region is not None
        return self.event.region


def lay_out(
    events: Sequence[Event],
    live: tuple[Value, ...],
    target: Target,
    constant: Callable[[Value, Row], Operand],
) -> list[Point]:
    """The points of a routine at whose entry `live` have registers.

    `constant` tells how a constant is written as an operand of a row.
    """
    points: list[Point] = []
    headers: list[tuple[Value, ...]] = []
    regions: list[Region] = []
    homes = _homes(events)
    for event in events:
        header = headers[-1] if headers else ()
        if event.value is not None:
            where = {value: at for at, value in enumerate(live)}
            alternatives = _alternatives(event.value, where, target, constant)
            around = homes.get(regions[-1], {}) if regions else {}
            point = _making(event, event.value, where, header, around, alternatives)
        else:
            point = _laid_out(event, live, header)
        if event.kind == "enter":
            headers.append(point.following)
            regions.append(point.region)
        elif event.kind == "exit":
            headers.pop()
            regions.pop()
        points.append(point)
        live = point.following
    return points


def _making(
    event: Event,
    value: Value,
    where: Mapping[Value, int],
    header: tuple[Value, ...],
    homes: Mapping[Value, Sequence[int]],
    alternatives: tuple[tuple[Alternative, ...], ...],
) -> Point:
    live = tuple(where)
    if value.op == "done":
        return Point(event, live, header, (), (), _picking(()))
    after = event.after
    kept = tuple([at for at, other in enumerate(live) if other in after])
    following = (*[live[at] for at in kept], *(() if value.op in WRITES else (value,)))
    left = where.get(value.args[0]) if value.in_place and value.args else None
    return Point(event, live, header, following, kept, _picking(kept), homes, left, alternatives, value.file)


def _homes(events: Sequence[Event]) -> dict[Region, dict[Value, list[int]]]:
    """For each region the values from which instructions that overwrite lead to what it carries, and to which of that.

    A place is counted from the end, as it stands in the region's header.
    """
    homes: dict[Region, dict[Value, list[int]]] = {}
    around: list[Region] = []

    def join(value: Value, places: Iterable[int]) -> None:
        known = homes[around[-1]].setdefault(value, [])
        known += [place for place in places if place not in known]

    for event in reversed(events):
        region = event.region
        if event.kind == "exit" and region is not None:
            if around:
                for result in (value for value in event.after if value.region is region):
                    join(region.inits[int(result.attr)], homes[around[-1]].get(result, ()))
            around.append(region)
            homes[region] = {}
        elif event.kind == "enter":
            around.pop()
        elif event.kind == "leave" and region is not None:
            for phi, value in event.left:
                join(value, (place_of(phi, region.phis[0]) - len(region.inits),))
        elif event.value is not None and around:
            for arg in overwritable(event.value):
                join(arg, homes[around[-1]].get(event.value, ()))
    return homes


def _laid_out(event: Event, live: tuple[Value, ...], header: tuple[Value, ...]) -> Point:
    region = event.region
    kept = tuple(at for at, value in enumerate(live) if value in event.after)
    following = tuple(live[at] for at in kept)
    assert region is not None
    if event.kind == "enter":
        return Point(event, live, header, (*following, *region.phis[0]), kept, _picking(kept))
    if event.kind == "leave":
        return Point(event, live, header, (), (), _picking(()))
    # All lies where it lay at the start of the region.
    where = {value: at for at, value in enumerate(header)}
    if event.kind == "body":
        where.update((phi, where[first]) for phi, first in zip(region.phis[event.number], region.phis[0], strict=True))
    else:
        results = sorted((v for v in event.after if v.region is region), key=lambda value: int(value.attr))
        where.update((result, where[region.phis[0][int(result.attr)]]) for result in results)
    following = tuple(value for value in where if value in event.after)
    kept = tuple(where[value] for value in following)
    return Point(event, live, header, following, kept, _picking(kept))


def _picking(kept: tuple[int, ...]) -> Callable[[Registers], Registers]:
    if len(kept) > 1:
        return itemgetter(*kept)
    return lambda registers: tuple([registers[at] for at in kept])


def _alternatives(
    value: Value, where: Mapping[Value, int], target: Target, constant: Callable[[Value, Row], Operand]
) -> tuple[tuple[Alternative, ...], ...]:
    by_row = []
    for row in target.rows_for(value):
        orders = reordered(value) if row.tied else (value,)
        alternatives = []
        overwritten: set[tuple[Value, ...]] = set()
        for number, ordered in enumerate(orders):
            unread = [letter for letter, arg in zip("abc", ordered.args, strict=False) if not in_register(arg)]
            if not all(map(row.folds, unread)) or (row.tied and ordered.args[:1] in overwritten):
                continue  # what can be overwritten is all that orders differ in
            overwritten.add(ordered.args[:1])
            operands = tuple([None if arg.constant is None else constant(arg, row) for arg in ordered.args])
            reads = tuple([where[arg] for arg in ordered.args if in_register(arg)])
            alternatives.append(
                Alternative(
                    row,
                    ordered,
                    number > 0,
                    number > 0 and not value.in_place,
                    reads,
                    operands,
                    row.tied,
                    "cl" in row.spelt,
                )
            )
        if alternatives:
            by_row.append(tuple(alternatives))
    return tuple(by_row)
