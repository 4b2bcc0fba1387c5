"""What one event may lead to: the registers that an instruction can have, and what each choice costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from setwise.codegen.describe.values import WRITES, Value
from setwise.codegen.machine.code import Instruction, Label, Memory, Operand, Register
from setwise.codegen.machine.convention import Convention
from setwise.codegen.registers.steps import RCX, REGISTERS, VECTORS, Step, Way, numbered, together
from setwise.codegen.targets.table import Target, build, sized

EXTRA = 1 << 40
"""What one instruction costs that a choice adds."""
DEPARTURE = 1 << 20
"""What it costs to depart from the description."""
LATE = 1
"""What it costs to take the second register in the convention's order; the third costs twice that."""

Places = tuple[int, ...]
Items = Sequence[Instruction | Label]
Move = tuple[int, int, int]
"""To a register, from another, so many lanes."""

VIEWS = frozenset({"low-half", "as-wide"})
"""Operations that only see less of a register, or more of it than is known."""


class OutOfRegisters(Exception):
    """No allocation of this order fits the registers: values must be spilled."""


class State(NamedTuple):
    """Where the live values are, what lay where at the start of each region around, what it cost, how it came about."""

    places: Places
    headers: tuple[Places, ...] = ()
    saved: int = 0
    """The registers in use that the routine must save."""
    cost: int = 0
    items: Callable[[], Items] = tuple
    """Writes the instructions that led here from the state before."""
    before: State | None = None


class Evicted(NamedTuple):
    """Places in which one register has been made free, what that cost, and the move that it took."""

    places: Places
    cost: int
    moves: tuple[Move, ...]


@dataclass
class Choices:
    """The target's rows, the convention's registers, the constants' places."""

    target: Target
    convention: Convention
    memory: Callable[[Value], Memory]
    """Where a constant lies in read-only memory."""
    wants: dict[Value, int] = field(default_factory=dict)
    """Values that must lie in a certain register when they are used."""
    wanted: int = 0
    """The registers that some value wants."""
    fixed: int = 0
    """Registers that some value wants, or a result: no two of them are alike."""

    def __post_init__(self) -> None:
        free, saved = self.convention.vectors(self.target.vectors)
        self._order = {
            False: tuple(map(numbered, self.convention.scratch)),
            True: tuple(map(numbered, free)),
        }
        self._saved = {
            False: tuple(map(numbered, self.convention.saved)),
            True: tuple(map(numbered, saved)),
        }
        self.preserved = together(self._saved[False]) | together(
            VECTORS + number for number in self.convention.saved_vectors
        )
        self._known: dict[tuple[object, ...], tuple[tuple[int, int], ...]] = {}

    def candidates(
        self, value: Value, taken: int, saved: int, also: tuple[int, ...] = ()
    ) -> tuple[tuple[int, int], ...]:
        """Registers where a new value may go and their costs, the free ones that are alike represented by the first."""
        key = (value.lanes > 1, self.wants.get(value), taken, saved, also)
        if key not in self._known:
            self._known[key] = tuple(self._candidates(*key))
        return self._known[key]

    def _candidates(
        self, vector: bool, want: int | None, taken: int, saved: int, also: tuple[int, ...]
    ) -> list[tuple[int, int]]:
        order = self._order[vector]
        offered: dict[int, int] = {}
        fresh = True
        for register in (*also, *((want,) if want is not None else ()), *order):
            if taken >> register & 1 or register in offered:
                continue
            if self.wanted >> register & 1 and register != want and register not in also:
                continue
            if not self.fixed >> register & 1 and register not in also:
                if not fresh:
                    continue
                fresh = False
            offered[register] = LATE * order.index(register) if register in order else 0
        found = list(offered.items())
        if fresh:
            for register in self._saved[vector]:
                if not taken >> register & 1:
                    extra = 0 if saved >> register & 1 else 2 * EXTRA
                    return [*found, (register, extra + LATE * len(order))]
        if not found:
            # Nothing else is left: one that waits for a shift count, which will push the value out again.
            return [(register, LATE * len(order)) for register in order if not taken >> register & 1]
        return found

    def make(self, state: State, step: Step) -> list[State]:
        """The states in which the event's value is made."""
        places, value = state.places, step.value
        kept = tuple([places[at] for at in step.kept])
        if value.op == "copy":
            return self._copy(state, step, kept)
        if value.op in VIEWS:
            source = places[step.live.index(value.args[0])]
            return [State((*kept, source), state.headers, state.saved, state.cost, tuple, state)]
        if value.op in WRITES:
            # A store makes no value, and its operands stay where they are.
            stores = [partial(self._written, step, places, way, 0) for row in step.ways for way in row]
            return [
                State(kept, state.headers, state.saved, state.cost, items, state)
                for items in (stores if value.op != "done" else [tuple])
            ]
        found: list[State] = []
        for row in step.ways:
            if not row:
                continue
            if "cl" in row[0].row.words and places[row[0].reads[1]] != RCX:
                for moved in self._count_in_rcx(state, step, row[0].reads[1]):
                    saved = state.saved | together(moved.places) & self.preserved
                    for way in row:
                        self._made(state, step, way, moved, tuple([moved.places[at] for at in step.kept]), saved, found)
            else:
                for way in row:
                    self._made(state, step, way, Evicted(places, 0, ()), kept, state.saved, found)
        return found

    def _made(
        self, state: State, step: Step, way: Way, moved: Evicted, kept: Places, saved: int, found: list[State]
    ) -> None:
        """The value made in one way, in each register that it may have; the states are added to those `found`."""
        value, places = step.value, moved.places
        busy = together(kept)
        left = places[step.left] if step.left is not None else None

        reading = [places[at] for at in way.reads]
        chosen: list[tuple[int, int, tuple[Move, ...]]] = []
        if way.row.tied:
            first = reading[0]
            if not busy >> first & 1:
                chosen.append((first, DEPARTURE if way.swapped and not value.keeps else 0, ()))
            if busy >> first & 1 or value in self.wants:
                for register, cost in self.candidates(value, busy | together(reading[1:]), saved):
                    if register != first:
                        chosen.append((register, cost + EXTRA, ((register, first, way.value.args[0].lanes),)))
        else:
            dying = {r for r in reading if not busy >> r & 1 and (r >= VECTORS) == (value.lanes > 1)}
            candidates = self.candidates(value, busy, saved, also=tuple(sorted(dying)))
            chosen += [(register, cost, ()) for register, cost in candidates]
        for register, cost, moves in chosen:
            cost += state.cost + moved.cost + (2 * DEPARTURE if left is not None and register != left else 0)
            items = partial(self._written, step, places, way, register, (*moved.moves, *moves))
            found.append(
                State((*kept, register), state.headers, saved | 1 << register & self.preserved, cost, items, state)
            )

    def _count_in_rcx(self, state: State, step: Step, at: int) -> list[Evicted]:
        """The places with a shift count moved into rcx, whoever was there moved away."""
        live = (*step.kept, *(i for i, value in enumerate(step.live) if value in step.value.args))
        found = []
        for places, cost, moves in self.evict(state, step.live, RCX, live):
            moved = (*places[:at], RCX, *places[at + 1 :])
            found.append(Evicted(moved, cost + EXTRA, (*moves, (RCX, places[at], 1))))
        return found

    def evict(self, state: State, live: tuple[Value, ...], register: int, needed: Sequence[int]) -> list[Evicted]:
        """The places with `register` free: if one of those `needed` lives there, all there move to another."""
        if register not in [state.places[at] for at in needed]:
            return [Evicted(state.places, 0, ())]
        first = live[state.places.index(register)]
        return [
            Evicted(tuple(other if r == register else r for r in state.places), cost + EXTRA, ((other, register, 1),))
            for other, cost in self.candidates(first, together(state.places), state.saved)
        ]

    def _copy(self, state: State, step: Step, kept: Places) -> list[State]:
        value = step.value
        source = state.places[step.live.index(value.args[0])]
        # Both names for one register: no move now; whoever changes it first will have to copy.
        alive = source in kept
        cost = state.cost + (DEPARTURE if alive else 0)
        found = [State((*kept, source), state.headers, state.saved, cost, tuple, state)]
        if alive:
            for register, price in self.candidates(value, together(state.places), state.saved):
                saved = state.saved | 1 << register & self.preserved
                items = self.moved(((register, source, value.lanes),))
                found.append(State((*kept, register), state.headers, saved, state.cost + price + EXTRA, items, state))
        return found

    def _written(self, step: Step, places: Places, way: Way, register: int, moves: tuple[Move, ...] = ()) -> Items:
        """The moves, then the instruction that makes a value in a register, or writes it to memory."""
        first = way.value.args[0] if way.row.tied else None

        def at(value: Value) -> Register:
            return REGISTERS[register if value is first else places[step.live.index(value)]]

        return [*self.moved(moves)(), build(way.row, way.value, REGISTERS[register], way.placed(at))]

    def moved(self, moves: tuple[Move, ...]) -> Callable[[], Items]:
        """Writes moves."""
        return lambda: [self.move(*move) for move in moves]

    def constant(self, value: Value, immediate: bool) -> Operand:
        """A constant as an operand: a sign-extended 32-bit immediate where there is one, else read-only memory."""
        if value.lanes == 1 and immediate:
            number = value.number
            if number < 1 << 31:
                return number
            if number >= (1 << 64) - (1 << 31):
                return number - (1 << 64)
        return self.memory(value)

    def move(self, to: int, source: int, lanes: int = 1) -> Instruction:
        """A register to a register."""
        mnemonic = "mov" if to < VECTORS else self.target.move
        return Instruction(mnemonic, (sized(REGISTERS[to], lanes), sized(REGISTERS[source], lanes)))

    def in_order(self, moves: dict[int, tuple[int, int]]) -> list[Instruction] | None:
        """Moves (to, from, lanes) that all happen at once, one by one; None if they go round in a circle."""
        left = dict(moves)
        done: list[Instruction] = []
        while left:
            sources = {source for source, _ in left.values()}
            free = next((to for to in left if to not in sources), None)
            if free is not None:
                done.append(self.move(free, *left.pop(free)))
                continue
            to, (source, _) = left.popitem()
            if to >= VECTORS:
                return None
            # In a circle two registers change places: `to` is right then, and what it held is found in `source`.
            done.append(Instruction("xchg", (REGISTERS[to], REGISTERS[source])))
            left = {t: (source if s == to else s, n) for t, (s, n) in left.items()}
            left = {t: (s, n) for t, (s, n) in left.items() if t != s}
        return done
