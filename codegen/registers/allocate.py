"""Registers: an exact search for the fewest moves, then for the allocation that follows the description's variables.

The search walks the events of a routine in order. An assignment says which register holds which value; each event leads
from one to others, at a cost. Assignments that agree are one, the cheapest way to it is kept, and the most promising
goes on first, so all allocations of the order are weighed without listing them. Costs are compared in this order:

1. instructions that the choice adds: moves, saves and restores of registers;
2. departures from the description: an in-place operator that leaves the register of its left side, a copy that is
   not moved, a first argument that is not the one overwritten, or that makes way for the result;
3. registers first used late in the convention's order.
"""

from __future__ import annotations

from dataclasses import replace
from heapq import heappop, heappush
from itertools import count

from setwise.codegen.describe.operations import WRITES
from setwise.codegen.describe.values import Value, in_register, overwritable
from setwise.codegen.machine.code import Datum, Instruction, Item, Memory, Register
from setwise.codegen.passes.live import Event, live_events
from setwise.codegen.passes.unit import Allocated, Unit
from setwise.codegen.registers.assignments import EXTRA, Assignment, Choices
from setwise.codegen.registers.control import at_region
from setwise.codegen.registers.machine import Machine, Moves, OutOfRegisters
from setwise.codegen.registers.points import RCX, REGISTERS, Registers, lay_out, numbered, together
from setwise.codegen.targets.table import Target

EFFORT = 4000
"""Assignments that may go on, in all; each event has its share. A search that never asks for more is exact."""

SWITCHING = 5 * EFFORT
"""The same where there is a switch: what it carries may lie in many ways, and each body pays for it."""

Results = tuple[tuple[Value, Register], ...]


def allocate(
    machine: Machine,
    events: list[Event],
    parameters: dict[Value, Register],
    results: Results,
    effort: int = EFFORT,
) -> Allocated:
    """The cheapest allocation; `results` must end in the registers named with them.

    OutOfRegisters where there is none, or the effort does not reach one.
    """
    choices = Choices(machine, _wants(machine.target, events), together(numbered(register) for _, register in results))
    needed = _needed_first(events[0] if events else None, results)
    entry = {value: numbered(register) for value, register in parameters.items() if value in needed}
    points = lay_out(events, tuple(entry), machine.target, machine.constant)
    live_at_end = points[-1].following if points else tuple(entry)
    bounds = [EXTRA * moves for moves in _forced_moves(machine.target, events)]
    share = effort // (len(points) + 1)
    expanded = [0] * (len(points) + 1)
    cheapest: list[dict[tuple[Registers, tuple[Registers, ...], int], int]] = [{} for _ in range(len(points) + 2)]
    ticket = count()
    heap = [
        (bounds[0] + start.cost, 0, next(ticket), start, start[:3])
        for start in _starts(choices, tuple(entry), Assignment((*entry.values(),)))
    ]
    closed = -1  # the last event that has had its share: whoever stands there or before it gets no further
    while heap:
        _, behind, _, before, key = heappop(heap)
        at = -behind
        if at > len(points):
            return _allocated(before, closed < 0)
        if at <= closed or cheapest[at].get(key, before.cost) < before.cost:
            continue
        expanded[at] += 1
        if expanded[at] > share:
            closed = at
            continue
        if at == len(points):
            following = _finish(machine, before, live_at_end, results)
        elif points[at].event.kind == "make":
            following = choices.make(before, points[at])
        else:
            following = at_region(choices, before, points[at])
        known = cheapest[at + 1]
        bound = bounds[at + 1] if at < len(points) else 0
        for after in following:
            key, cost = after[:3], after.cost
            if cost < known.get(key, cost + 1):
                known[key] = cost
                heappush(heap, (bound + cost, behind - 1, next(ticket), after, key))
    raise OutOfRegisters("more values are needed at once than there are registers: carry fewer from round to round")


def _wants(target: Target, events: list[Event]) -> dict[Value, int]:
    """Values that must lie in a certain register when they are used: shift counts in rcx."""
    wants: dict[Value, int] = {}
    values = [event.value for event in events if event.value is not None]
    for value in values:
        rows = target.rows_for(value)
        if rows and all("cl" in row.spelt for row in rows):
            wants[value.args[1]] = RCX
    for value in values:
        # A doubled count stays where the count was.
        if value in wants and value.op == "add":
            for arg in value.args:
                if arg.constant is None:
                    wants.setdefault(arg, RCX)
    return wants


def _starts(choices: Choices, live: tuple[Value, ...], entry: Assignment) -> list[Assignment]:
    """The assignment at entry, and those in which a parameter has made way for a shift count first."""
    starts = [entry]
    for value, register in zip(live, entry.registers, strict=True):
        if choices.wanted >> register & 1 and choices.wants.get(value) != register:
            starts += choices.evict(entry, live, register, range(len(live)))
    return starts


def _forced_moves(target: Target, events: list[Event]) -> list[int]:
    """For each event the moves that it and those after it need whatever is chosen: nothing to overwrite dies."""
    bounds = [0]
    for event in reversed(events):
        value = event.value
        forced = (
            value is not None
            and value.op != "copy"
            and all(row.tied for row in target.rows_for(value))
            and all(arg in event.after or not in_register(arg) for arg in overwritable(value))
        )
        bounds.insert(0, bounds[0] + forced)
    return bounds


def _needed_first(first: Event | None, results: Results) -> set[Value]:
    """The values that the first event needs, or leaves to those after it."""
    if first is None:
        return {value for value, _ in results}
    needed = set(first.after)
    if first.value is not None:
        needed |= set(first.value.args)
    if first.region is not None:
        needed.update(first.region.outside, first.region.asked)
    return needed


def _finish(machine: Machine, before: Assignment, live: tuple[Value, ...], results: Results) -> list[Assignment]:
    """The results in their registers."""
    registers = dict(zip(live, before.registers, strict=True))
    moves: Moves = {}
    constants: list[Instruction] = []
    for value, register in results:
        to = numbered(register)
        if value.constant is not None:
            constants.append(machine.load_constant(to, value))
        elif registers[value] != to:
            moves[to] = (registers[value], value.lanes)
    ordered = machine.in_order(moves)
    items = (*ordered, *constants)
    return [before.then((), EXTRA * len(ordered), lambda: items)]


def _allocated(last: Assignment, exact: bool) -> Allocated:
    items: list[Item] = []
    at: Assignment | None = last
    while at is not None:
        items[:0] = at.items()
        at = at.before
    saved = (register for number, register in enumerate(REGISTERS) if last.saved >> number & 1)
    return Allocated(tuple(items), tuple(saved), exact)


def allocation(unit: Unit) -> Unit:
    """The pass: instructions with registers, and the constants that they may read from memory.

    OutOfRegisters where the order fits no registers.
    """
    pool: dict[tuple[int, ...], str] = {}

    def constant_in_memory(value: Value, whole: bool) -> Memory:
        alike = unit.target.repeats and not whole and value.lanes > 1 and len(set(value.attr)) == 1
        numbers = value.attr[:1] if alike else value.attr
        symbol = pool.setdefault(numbers, f"c{len(pool)}")
        return Memory(64 * len(numbers), symbol=symbol, broadcast=alike)

    parameters = unit.graph.parameters
    placed = zip(parameters, unit.convention.places([p.lanes for p in parameters]), strict=True)
    places = {value: place for value, place in placed if isinstance(place, Register)}
    ends = unit.spilled.results
    results = tuple((r, unit.convention.result_for(r.lanes)) for r in ends if r.op not in WRITES)
    events = live_events(unit.spilled.block, ends)
    machine = Machine(unit.target, unit.convention, constant_in_memory)
    switches = any(event.region is not None and event.region.index is not None for event in events)
    try:
        allocated = allocate(machine, events, places, results, effort=SWITCHING if switches else EFFORT)
    except OutOfRegisters:
        # A tight fit: look further before giving up.
        allocated = allocate(machine, events, places, results, effort=20 * EFFORT)
    constants = tuple(Datum(name, numbers, 8, 8 * len(numbers)) for numbers, name in pool.items())
    return replace(unit, allocated=allocated, constants=constants)
