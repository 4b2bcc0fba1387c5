"""Liveness: the values that are live after each step of a routine."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, NamedTuple

from setwise.codegen.ir.operations import WRITES
from setwise.codegen.ir.values import Region, Value, in_register
from setwise.codegen.passes.state import Block, RegionBlock

CACHED_BLOCKS = 8  # the spiller and the allocator ask for the same block in turn


class ProgramPoint(NamedTuple):
    """One step in execution order."""

    kind: Literal["make", "enter", "body", "leave", "exit"]
    """make: define a value, or store. enter: move initial values to the phis of a region. body: begin a body, registers
    as after enter. leave: move the next values to the phis. exit: end the region."""
    live_after: frozenset[Value]
    value: Value | None = None
    """The value that is defined, or the store."""
    region: Region | None = None
    body: int = 0
    """The number of the body that begins or ends, in its region."""
    phi_inputs: tuple[tuple[Value, Value], ...] = ()
    """Pairs of a phi of the first body and its next value, at the end of a body."""


@lru_cache(CACHED_BLOCKS)
def program_points(block: Block, results: tuple[Value, ...]) -> tuple[ProgramPoint, ...]:
    """Return the steps of a block and its regions, in execution order, if `results` are live at the end."""
    return tuple(_events(block, _named(results))[0])


def register_operands(values: Iterable[Value]) -> list[Value]:
    """Return the values that are in registers: no constant or store, and for a memory operand its base and index."""
    found: list[Value] = []
    for value in values:
        if value.op == "place":
            found += [arg for arg in value.args if arg.op not in WRITES]
        elif in_register(value):
            found.append(value)
    return found


def entry_conditions(region: Region) -> tuple[Value, ...]:
    """Return the value that a when or a switch tests on entry; a loop tests none."""
    return (*(region.tested if region.kind == "when" else ()), *region.outside[len(region.inits) :])


def loop_conditions(region: Region) -> tuple[Value, ...]:
    """Return the value that a loop tests after each iteration; for other regions return none."""
    return region.tested if region.kind == "loop" else ()


def reads(event: ProgramPoint) -> tuple[Value, ...]:
    """Return the values whose registers a step reads."""
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
    """Return the upward-exposed uses of items: values that they read, or that are live `after`, but do not define."""
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
            # A value that the body reads from outside stays live across the back edge.
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
