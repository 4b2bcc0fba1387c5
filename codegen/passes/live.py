"""The placed blocks as one line of events, each with the values that are still needed after it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from setwise.codegen.describe.values import Region, Value, in_register
from setwise.codegen.passes.unit import Block, PlacedRegion


@dataclass(frozen=True, eq=False, slots=True)
class Event:
    """make: a value is made. enter: a region's phis are loaded. body: a body begins, all registers as at enter.
    leave: a body's next values go to the phis. exit: the region is over. `after` is what is needed later.
    """

    kind: Literal["make", "enter", "body", "leave", "exit"]
    after: frozenset[Value]
    value: Value | None = None
    region: Region | None = None
    number: int = 0


def live_events(block: Block, results: Iterable[Value]) -> list[Event]:
    """The events of a routine's outermost block, which must leave `results`."""
    return _events(block, frozenset(_named(tuple(results))))[0]


def _named(values: Sequence[Value]) -> set[Value]:
    """The values that need a register: all but constants; for a place in memory those that say where it is."""
    return set(filter(in_register, values)).union(*(value.args for value in values if value.op == "place"))


def _events(block: Block, after: frozenset[Value]) -> tuple[list[Event], frozenset[Value]]:
    events: list[Event] = []
    for item in reversed(block.items):
        if isinstance(item, PlacedRegion):
            inner, after = _region_events(item, after)
            events += reversed(inner)
        else:
            events.append(Event("make", after, value=item))
            after = (after - {item}) | _named(item.args)
    return events[::-1], after


def _reads(block: Block, after: Iterable[Value]) -> frozenset[Value]:
    """The values that a block, or what comes `after` it, reads from before it."""
    reads = set(after)
    makes: set[Value] = set()
    for item in block.items:
        if isinstance(item, PlacedRegion):
            region = item.region
            loops = region.kind == "loop"
            reads |= _named(region.outside if loops else (*region.outside, *region.asked))
            for body, nexts in zip(item.bodies, region.bodies, strict=True):
                reads |= _reads(body, _named((*nexts, *region.asked) if loops else nexts))
            makes.update(item.results, *region.phis)
        else:
            reads |= _named(item.args)
            makes.add(item)
    return frozenset(reads - makes)


def _region_events(placed: PlacedRegion, after: frozenset[Value]) -> tuple[list[Event], frozenset[Value]]:
    region = placed.region
    beyond = after - set(placed.results)
    events: list[Event] = [Event("exit", after, region=region)]
    below = beyond
    within = beyond
    for number in reversed(range(len(placed.bodies))):
        onward = within if region.falls else beyond
        if region.kind == "loop":
            # What the body reads from outside must be there for the next round too.
            reads = _reads(placed.bodies[number], _named((*region.bodies[number], *region.asked)))
            onward = (onward | reads) - set(region.phis[number])
        leaving = onward | _named(region.bodies[number]) | (_named(region.asked) if region.kind == "loop" else set())
        inner, reads = _events(placed.bodies[number], leaving)
        within = (reads | onward) - set(region.phis[number])
        below |= within
        events = [
            Event("body", within | reads, region=region, number=number),
            *inner,
            Event("leave", onward, region=region, number=number),
            *events,
        ]
    enter = Event("enter", below, region=region)
    needed = below | _named(region.outside) | (_named(region.asked) if region.kind == "when" else set())
    return [enter, *events], frozenset(needed)
