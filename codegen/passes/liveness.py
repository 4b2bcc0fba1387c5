"""The placed blocks as one line of events, each with the values that are still needed after it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, NamedTuple

from setwise.codegen.describe.values import Region, Value, in_register
from setwise.codegen.passes.state import Block, RegionBlock

LATELY = 8
"""How many blocks' events are kept: what spills nothing goes into the search for registers as it is."""


class ProgramPoint(NamedTuple):
    """make: a value is made. enter: a region's phis are loaded. body: a body begins, all registers as at enter.
    leave: a body's next values go to the phis. exit: the region is over. `after` is what is needed later, `left` what
    goes to which phi of the first body.
    """

    kind: Literal["make", "enter", "body", "leave", "exit"]
    live_after: frozenset[Value]
    value: Value | None = None
    region: Region | None = None
    body: int = 0
    phi_inputs: tuple[tuple[Value, Value], ...] = ()


@lru_cache(LATELY)
def program_points(block: Block, results: tuple[Value, ...]) -> tuple[ProgramPoint, ...]:
    """The events of a routine's outermost block, which must leave `results`."""
    return tuple(_events(block, _named(results))[0])


def register_operands(values: Iterable[Value]) -> list[Value]:
    """The values that need a register: all but constants; for a place in memory those that say where it is."""
    found: list[Value] = []
    for value in values:
        if value.op == "place":
            found += value.args
        elif in_register(value):
            found.append(value)
    return found


def entry_conditions(region: Region) -> tuple[Value, ...]:
    """What decides how control enters a region."""
    return (*(region.asked if region.kind == "when" else ()), *region.outside[len(region.inits) :])


def loop_conditions(region: Region) -> tuple[Value, ...]:
    """What decides at the end of a loop's body whether it is run again."""
    return region.asked if region.kind == "loop" else ()


def reads(event: ProgramPoint) -> tuple[Value, ...]:
    """The values whose registers an event reads."""
    region = event.region
    if event.value is not None:
        return tuple(register_operands(event.value.args))
    if region is not None and event.kind == "enter":
        return tuple(register_operands((*region.inits, *entry_conditions(region))))
    if region is not None and event.kind == "leave":
        return tuple(register_operands((*(value for _, value in event.phi_inputs), *loop_conditions(region))))
    return ()


def _named(values: Iterable[Value]) -> frozenset[Value]:
    return frozenset(register_operands(values))


def _events(block: Block, after: frozenset[Value]) -> tuple[list[ProgramPoint], frozenset[Value]]:
    events: list[ProgramPoint] = []
    for item in reversed(block.items):
        if isinstance(item, RegionBlock):
            inner, after = _region_events(item, after)
            events += reversed(inner)
        else:
            events.append(ProgramPoint("make", after, value=item))
            after = (after - {item}) | _named(item.args)
    return events[::-1], after


def upward_exposed(items: tuple[Value | RegionBlock, ...], after: Iterable[Value]) -> frozenset[Value]:
    """Return the upward-exposed uses of items: values that they, or what comes `after`, read from before them."""
    read = set(after)
    makes: set[Value] = set()
    for item in items:
        if isinstance(item, RegionBlock):
            region = item.region
            read |= _named((*region.inits, *entry_conditions(region)))
            for body, nexts in zip(item.bodies, region.bodies, strict=True):
                read |= upward_exposed(body.items, _named((*nexts, *loop_conditions(region))))
            makes.update(item.results, *region.phis)
        else:
            read |= _named(item.args)
            makes.add(item)
    return frozenset(read - makes)


def _region_events(placed: RegionBlock, after: frozenset[Value]) -> tuple[list[ProgramPoint], frozenset[Value]]:
    region = placed.region
    beyond = after - set(placed.results)
    events: list[ProgramPoint] = [ProgramPoint("exit", after, region=region)]
    below = beyond
    within = beyond
    for number in reversed(range(len(placed.bodies))):
        onward = within if region.falls else beyond
        inputs = placed.phi_inputs(number)
        nexts = _named((*(value for _, value in inputs), *loop_conditions(region)))
        if region.kind == "loop":
            # What the body reads from outside must be there for the next round too.
            read = upward_exposed(placed.bodies[number].items, nexts)
            onward = (onward | read) - set(region.phis[number])
        inner, read = _events(placed.bodies[number], onward | nexts)
        within = (read | onward) - set(region.phis[number])
        below |= within
        events = [
            ProgramPoint("body", within | read, region=region, body=number),
            *inner,
            ProgramPoint("leave", onward, region=region, body=number, phi_inputs=inputs),
            *events,
        ]
    enter = ProgramPoint("enter", below, region=region)
    return [enter, *events], below | _named((*region.inits, *entry_conditions(region)))
