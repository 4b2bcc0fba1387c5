"""Registers: an exact search for the fewest moves, then for the allocation that follows the description's variables.

The search walks the events of a routine in order. A state says which register holds which value; each event leads from
a state to others, at a cost. States that agree are one, the cheapest way to it is kept, and the most promising state
goes on first, so all allocations of the order are weighed without listing them. Costs are compared in this order:

1. instructions that the choice adds: moves, saves and restores of registers;
2. departures from the description: an in-place operator that leaves the register of its left side, a copy that is
   not moved, a first argument that is not the one overwritten;
3. registers first used late in the convention's order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count

from setwise.codegen.describe.values import WRITES, Value, in_register, overwritable
from setwise.codegen.machine.code import Datum, Instruction, Label, Memory, Register
from setwise.codegen.passes.live import Event, live_events
from setwise.codegen.passes.unit import Allocated, Unit
from setwise.codegen.registers.choices import EXTRA, OutOfRegisters, Places, State
from setwise.codegen.registers.control import Control
from setwise.codegen.registers.steps import RCX, REGISTERS, lay_out, numbered, together

EFFORT = 4000
"""States that may go on, in all; each event has its share. A search that never asks for more is exact."""


@dataclass
class Allocation(Control):
    """One search."""

    effort: int = EFFORT

    def run(
        self, events: list[Event], parameters: dict[Value, Register], results: tuple[tuple[Value, Register], ...]
    ) -> Allocated:
        """The cheapest allocation; `results` must end in the registers named with them."""
        self._prepare(events, results)
        needed = self._needed_first(events[0] if events else None, results)
        entry = {value: numbered(register) for value, register in parameters.items() if value in needed}
        steps = lay_out(events, tuple(entry), self.target, self.constant)
        live_at_end = steps[-1].following if steps else tuple(entry)
        bounds = [EXTRA * moves for moves in self._forced_moves(events)]
        share = self.effort // (len(steps) + 1)
        expanded = [0] * (len(steps) + 1)
        best: list[dict[tuple[Places, tuple[Places, ...], int], int]] = [{} for _ in range(len(steps) + 2)]
        ticket = count()
        heap = [
            (bounds[0] + start.cost, 0, next(ticket), start)
            for start in self._starts(tuple(entry), State((*entry.values(),)))
        ]
        closed = -1  # the last event that has had its share: whoever stands there or before it gets no further
        while heap:
            _, behind, _, state = heappop(heap)
            at = -behind
            if at > len(steps):
                return _allocated(state, closed < 0)
            if at <= closed or best[at].get(state[:3], state.cost) < state.cost:
                continue
            expanded[at] += 1
            if expanded[at] > share:
                closed = at
                continue
            if at == len(steps):
                following = self._finish(state, live_at_end, results)
            elif steps[at].event.kind == "make":
                following = self.make(state, steps[at])
            else:
                following = self.region(state, steps[at])
            known = best[at + 1]
            for after in following:
                key = after[:3]
                if key not in known or after.cost < known[key]:
                    known[key] = after.cost
                    bound = bounds[at + 1] if at < len(steps) else 0
                    heappush(heap, (bound + after.cost, -(at + 1), next(ticket), after))
        raise OutOfRegisters

    def _starts(self, live: tuple[Value, ...], entry: State) -> list[State]:
        """The state at entry, and those in which a parameter has made way for a shift count first."""
        found = [entry]
        for value, register in zip(live, entry.places, strict=True):
            if self.wanted >> register & 1 and self.wants.get(value) != register:
                for moved in self.evict(entry, live, register, range(len(live))):
                    saved = together(moved.places) & self.preserved
                    found.append(State(moved.places, (), saved, moved.cost, self.moved(moved.moves), entry))
        return found

    def _forced_moves(self, events: list[Event]) -> list[int]:
        """For each event the moves that it and those after it need whatever is chosen: nothing to overwrite dies."""
        bounds = [0]
        for event in reversed(events):
            value = event.value
            forced = (
                value is not None
                and value.op != "copy"
                and all(row.tied for row in self.target.rows_for(value))
                and all(arg in event.after or not in_register(arg) for arg in overwritable(value))
            )
            bounds.insert(0, bounds[0] + forced)
        return bounds

    def _needed_first(self, first: Event | None, results: tuple[tuple[Value, Register], ...]) -> set[Value]:
        if first is None:
            return {value for value, _ in results}
        needed = set(first.after)
        if first.value is not None:
            needed |= set(first.value.args)
        if first.region is not None:
            needed |= {*first.region.inits}
            needed |= {first.region.condition.value} if first.region.condition is not None else set()
            needed |= {first.region.index} if first.region.index is not None else set()
        return needed

    def _prepare(self, events: list[Event], results: tuple[tuple[Value, Register], ...]) -> None:
        made = [event.value for event in events if event.value is not None]
        for value in made:
            rows = self.target.rows_for(value)
            if rows and all("cl" in row.words for row in rows):
                self.wants[value.args[1]] = RCX
        for value in made:
            # A doubled count stays where the count was.
            if value in self.wants and value.op == "add":
                for arg in value.args:
                    if arg.constant is None:
                        self.wants.setdefault(arg, RCX)
        self.wanted = together(self.wants.values())
        self.fixed = self.wanted | together(numbered(register) for _, register in results)

    def _finish(
        self, state: State, live: tuple[Value, ...], results: tuple[tuple[Value, Register], ...]
    ) -> list[State]:
        places = dict(zip(live, state.places, strict=True))
        moves: dict[int, tuple[int, int]] = {}
        constants: list[Instruction] = []
        for value, register in results:
            to = numbered(register)
            if value.constant is not None:
                constants.append(self.load_constant(to, value))
            elif places[value] != to:
                moves[to] = (places[value], value.lanes)
        ordered = self.in_order(moves)
        if ordered is None:
            return []
        items = (*ordered, *constants)
        return [State((), state.headers, state.saved, state.cost + EXTRA * len(ordered), lambda: items, state)]


def _allocated(last: State, exact: bool) -> Allocated:
    written: list[tuple[Instruction | Label, ...]] = []
    at: State | None = last
    while at is not None:
        written.append(tuple(at.items()))
        at = at.before
    saved = (register for number, register in enumerate(REGISTERS) if last.saved >> number & 1)
    return Allocated(tuple(item for items in reversed(written) for item in items), tuple(saved), exact)


def allocation(unit: Unit) -> Unit:
    """The pass: instructions with registers, and the constants that they may read from memory.

    OutOfRegisters where the order fits no registers.
    """
    pool: dict[tuple[int, ...], str] = {}

    def constant_in_memory(value: Value) -> Memory:
        alike = unit.target.repeats and value.lanes > 1 and len(set(value.attr)) == 1
        numbers = value.attr[:1] if alike else value.attr
        symbol = pool.setdefault(numbers, f"c{len(pool)}")
        return Memory(64 * len(numbers), symbol=symbol, broadcast=alike)

    parameters = unit.graph.parameters
    placed = zip(parameters, unit.convention.places([p.lanes for p in parameters]), strict=True)
    places = {value: place for value, place in placed if place is not None}
    ends = unit.spilled.results
    results = tuple((r, unit.convention.result_for(r.lanes)) for r in ends if r.op not in WRITES)
    events = live_events(unit.spilled.block, ends)
    try:
        allocated = Allocation(unit.target, unit.convention, constant_in_memory).run(events, places, results)
    except OutOfRegisters:
        # A tight fit: look further before giving up.
        search = Allocation(unit.target, unit.convention, constant_in_memory, effort=20 * EFFORT)
        allocated = search.run(events, places, results)
    constants = tuple(Datum(name, numbers, 8, 8 * len(numbers)) for numbers, name in pool.items())
    return replace(unit, allocated=allocated, constants=constants)
