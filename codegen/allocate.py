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

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count

from codegen.choices import Cost, OutOfRegisters, Places, State, plus
from codegen.control import Control
from codegen.expr import Value, in_register, overwritable
from codegen.live import Event
from codegen.machine import Instruction, Label, Register

EFFORT = 4000
"""States that may go on, in all; each event has its share. A search that never asks for more is exact."""


@dataclass(frozen=True)
class Allocated:
    """Instructions and labels with registers, the saved registers that they use, and whether the search was exact."""

    items: tuple[Instruction | Label, ...]
    saved: tuple[Register, ...]
    exact: bool


@dataclass
class Allocation(Control):
    """One search."""

    effort: int = EFFORT

    def run(self, events: list[Event], parameters: Places, results: tuple[tuple[Value, Register], ...]) -> Allocated:
        """The cheapest allocation; `results` must end in the registers named with them."""
        self._prepare(events, results)
        needed = self._needed_first(events[0] if events else None, results)
        entry = State({v: r for v, r in parameters.items() if v in needed})
        bounds = self._forced_moves(events)
        expanded = [0] * (len(events) + 1)
        share = self.effort // len(expanded)
        best: dict[tuple[object, ...], Cost] = {}
        ticket = count()
        heap: list[tuple[Cost, int, int, State]] = [
            (plus((bounds[0], 0, 0), start.cost), 0, next(ticket), start) for start in self._starts(entry)
        ]
        exact = True
        while heap:
            _, behind, _, state = heappop(heap)
            at = -behind
            if at > len(events):
                return _allocated(state, exact)
            if at < len(events) and best.get((at, *state.key()), state.cost) < state.cost:
                continue
            expanded[at] += 1
            if expanded[at] > share:
                exact = False
                continue
            following = self._finish(state, results) if at == len(events) else self._advance(state, events[at])
            for after in following:
                key = (at + 1, *after.key())
                if key not in best or after.cost < best[key]:
                    best[key] = after.cost
                    bound = bounds[at + 1] if at < len(events) else 0
                    heappush(heap, (plus((bound, 0, 0), after.cost), -(at + 1), next(ticket), after))
        raise OutOfRegisters

    def _starts(self, entry: State) -> Iterator[State]:
        """The state at entry, and those in which a parameter has made way for a shift count first."""
        yield entry
        wanted = set(self.wants.values())
        for value, register in entry.places.items():
            if register in wanted and self.wants.get(value) != register:
                for places, cost, items in self.evict(entry, register, entry.places):
                    yield entry.then(items, cost, places, ())

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
        rcx = Register("general", 1, 64)
        for event in events:
            rows = self.target.rows_for(event.value) if event.value is not None else ()
            if event.value is not None and rows and all("cl" in row.words for row in rows):
                self.wants[event.value.args[1]] = rcx
        for event in events:
            # A doubled count stays where the count was.
            if event.value is not None and event.value in self.wants:
                for arg in event.value.args:
                    if event.value.op == "add" and arg.constant is None:
                        self.wants.setdefault(arg, rcx)
        self.fixed = frozenset({register for _, register in results} | set(self.wants.values()))

    def _advance(self, state: State, event: Event) -> Iterator[State]:
        return self.make(state, event) if event.kind == "make" else self.region(state, event)

    def _finish(self, state: State, results: tuple[tuple[Value, Register], ...]) -> Iterator[State]:
        moves: dict[Register, tuple[Register, int]] = {}
        constants: list[Instruction] = []
        for value, register in results:
            if value.constant is not None:
                constants.append(self.load_constant(register, value))
            elif state.places[value] != register:
                moves[register] = (state.places[value], value.lanes)
        ordered = self.in_order(moves)
        if ordered is not None:
            yield state.then([*ordered, *constants], (len(ordered), 0, 0), {}, ())


def _allocated(last: State, exact: bool) -> Allocated:
    items: list[Instruction | Label] = []
    at: State | None = last
    while at is not None:
        items[:0] = at.items
        at = at.before
    return Allocated(tuple(items), tuple(sorted(last.saved)), exact)
