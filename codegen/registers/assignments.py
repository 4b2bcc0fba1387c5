"""What one event may lead to: the registers that an instruction can have, and what each choice costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from setwise.codegen.describe.operations import WRITES
from setwise.codegen.describe.values import Value
from setwise.codegen.machine.code import Item, Register, RegisterFile
from setwise.codegen.registers.machine import Machine
from setwise.codegen.registers.points import RCX, REGISTERS, Alternative, Point, Registers, together
from setwise.codegen.targets.table import build

EXTRA = 1 << 40
"""What one instruction costs that a choice adds."""
DEPARTURE = 1 << 20
"""What it costs to depart from the description."""
LATE = 1
"""What it costs to take the second register in the convention's order; the third costs twice that."""

Items = Sequence[Item]
Move = tuple[int, int, int]
"""To a register, from another, so many lanes."""

VIEWS = frozenset({"low-half", "as-wide", "extended"})
"""Operations that only see less of a register, or more of it than is known."""

_OTHERWISE = frozenset({"copy", "done"}) | VIEWS | WRITES
"""Operations that do not make a value by a row in whatever register is best."""


class Assignment(NamedTuple):
    """Registers of the live values, and of those at the start of each region around; the cost, and what led here."""

    registers: Registers
    headers: tuple[Registers, ...] = ()
    saved: int = 0
    """The registers in use that the routine must save."""
    cost: int = 0
    items: Callable[[], Items] = tuple
    """Writes the instructions that led here from the assignment before."""
    before: Assignment | None = None

    def then(
        self,
        registers: Registers,
        cost: int = 0,
        items: Callable[[], Items] = tuple,
        saved: int = 0,
        headers: tuple[Registers, ...] | None = None,
    ) -> Assignment:
        """What comes next: at so much more cost, with so many more registers to save, behind these instructions."""
        headers = self.headers if headers is None else headers
        return Assignment(registers, headers, self.saved | saved, self.cost + cost, items, self)


class Choices:
    """The choices of one search. `wants` are values that must lie in a certain register when they are used.

    No two registers are alike that some value wants, or a result (`ends`).
    """

    def __init__(self, machine: Machine, wants: dict[Value, int], ends: int) -> None:
        self.machine = machine
        self.preserved = machine.preserved
        self.wants = wants
        self.wanted = together(wants.values())
        self._fixed = self.wanted | ends
        self._known: dict[tuple[object, ...], tuple[tuple[int, int], ...]] = {}

    def candidates(
        self,
        file: RegisterFile,
        want: int | None,
        taken: int,
        saved: int,
        also: tuple[int, ...] = (),
        homes: int = 0,
    ) -> tuple[tuple[int, int], ...]:
        """Registers where a new value may go and their costs, the free ones that are alike represented by the first.

        None is like those that a region carries values in (`homes`).
        """
        key = (file, want, taken, saved, also, homes)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = tuple(self._candidates(*key))
        return known

    def _candidates(
        self, file: RegisterFile, want: int | None, taken: int, saved: int, also: tuple[int, ...], homes: int
    ) -> list[tuple[int, int]]:
        order = self.machine.free[file]
        offered: dict[int, int] = {}
        fresh = True
        for register in (*also, *((want,) if want is not None else ()), *order):
            if taken >> register & 1 or register in offered:
                continue
            if self.wanted >> register & 1 and register != want and register not in also:
                continue
            if not (self._fixed | homes) >> register & 1 and register not in also:
                if not fresh:
                    continue
                fresh = False
            offered[register] = LATE * order.index(register) if register in order else 0
        if fresh:
            for register in self.machine.saved[file]:
                if not taken >> register & 1:
                    extra = 0 if saved >> register & 1 else 2 * EXTRA
                    return [*offered.items(), (register, extra + LATE * len(order))]
        if not offered:
            # Nothing else is left: one that waits for a shift count, which will push the value out again.
            return [(register, LATE * len(order)) for register in order if not taken >> register & 1]
        return list(offered.items())

    def make(self, before: Assignment, point: Point) -> list[Assignment]:
        """The assignments in which the event's value is made."""
        registers, value = before.registers, point.value
        kept = point.keep(registers)
        if value.op not in _OTHERWISE:
            assignments: list[Assignment] = []
            for row in point.alternatives:
                if row[0].counts and registers[row[0].reads[1]] != RCX:
                    needed = (*point.kept, *(i for i, value in enumerate(point.live) if value in point.value.args))
                    for start in self.count_in_rcx(before, point.live, row[0].reads[1], needed):
                        self._make_by(row, start, point.keep(start.registers), point, assignments)
                else:
                    self._make_by(row, before, kept, point, assignments)
            return assignments
        if value.op == "copy":
            return self._copy(before, point, kept)
        if value.op in VIEWS:
            return [before.then((*kept, registers[point.live.index(value.args[0])]))]
        if value.op == "done":
            return [before.then(kept)]
        # A store makes no value, and its operands stay where they are.
        alternatives = (alternative for row in point.alternatives for alternative in row)
        return [
            before.then(kept, items=partial(self._written, point, registers, alternative, 0))
            for alternative in alternatives
        ]

    def _make_by(
        self,
        row: tuple[Alternative, ...],
        before: Assignment,
        kept: Registers,
        point: Point,
        assignments: list[Assignment],
    ) -> None:
        """Adds the assignments in which a row has made the value, by each order of arguments, wherever it may be."""
        registers, headers, saved, cost_before, _, _ = before
        value, file = point.value, point.file
        want = self.wants.get(value)
        homes = _homes(before, point, value) if point.homes else 0
        left = registers[point.left] if point.left is not None else None
        cheapest: dict[tuple[int, int], int] = {}
        chosen: list[tuple[int, int, int, tuple[Move, ...]]]
        """Where the value may be made, where the argument that is overwritten goes, at what cost, by which moves."""
        for alternative in row:
            reads = alternative.reads
            first = registers[reads[0]] if reads else 0
            if alternative.tied:
                chosen = []
                dies = first not in kept
                if dies:
                    chosen.append((first, first, DEPARTURE if alternative.swapped and not value.in_place else 0, ()))
                if not dies or want is not None:
                    arg = alternative.value.args[0]
                    needed_there = (self._fixed | homes) >> first & 1
                    its = self._fixed | _homes(before, point, arg) if point.homes else self._fixed
                    taken = together((*kept, *[registers[at] for at in reads[1:]]))
                    for register, cost in self.candidates(file, want, taken, saved, (), homes):
                        if register == first:
                            continue
                        moves = ((register, first, arg.lanes),)
                        chosen.append((register, register, cost + EXTRA, moves))
                        if needed_there or its >> register & 1:
                            # The argument makes way: it is needed there, or the result here.
                            chosen.append((first, register, cost + EXTRA + 3 * DEPARTURE, moves))
            else:
                dying = {r for r in [registers[at] for at in reads] if r not in kept and REGISTERS[r].file == file}
                candidates = self.candidates(file, want, together(kept), saved, tuple(sorted(dying)), homes)
                chosen = [(register, register, cost, ()) for register, cost in candidates]
            for register, to, cost, by in chosen:
                if left is not None and register != left:
                    cost += 2 * DEPARTURE
                if len(row) > 1:
                    if cheapest.get((register, to), cost + 1) <= cost:
                        continue  # the same assignment, at no less: the search keeps the first of the cheapest
                    cheapest[register, to] = cost
                assignments.append(
                    Assignment(
                        (*kept, register) if to == register else (*[to if r == first else r for r in kept], register),
                        headers,
                        saved | ((1 << register | 1 << to) & self.preserved),
                        cost_before + cost,
                        partial(self._written, point, registers, alternative, register, by),
                        before,
                    )
                )

    def count_in_rcx(
        self, before: Assignment, live: tuple[Value, ...], at: int, needed: Sequence[int]
    ) -> list[Assignment]:
        """A shift count moved into rcx, whoever of those `needed` was there moved away."""
        return [
            freed.then(
                (*freed.registers[:at], RCX, *freed.registers[at + 1 :]),
                EXTRA,
                self.moved(((RCX, freed.registers[at], 1),)),
            )
            for freed in self.evict(before, live, RCX, needed)
        ]

    def evict(
        self, before: Assignment, live: tuple[Value, ...], register: int, needed: Sequence[int]
    ) -> list[Assignment]:
        """`register` made free: if one of those `needed` lives there, all there move to another."""
        if register not in [before.registers[at] for at in needed]:
            return [before]
        first = live[before.registers.index(register)]
        return [
            before.then(
                tuple(other if r == register else r for r in before.registers),
                cost + EXTRA,
                self.moved(((other, register, 1),)),
                self.machine.to_save(other),
            )
            for other, cost in self.candidates(
                first.file, self.wants.get(first), together(before.registers), before.saved
            )
        ]

    def _copy(self, before: Assignment, point: Point, kept: Registers) -> list[Assignment]:
        value = point.value
        source = before.registers[point.live.index(value.args[0])]
        # Both names for one register: no move now; whoever changes it first will have to copy.
        if source not in kept:
            return [before.then((*kept, source))]
        assignments = [before.then((*kept, source), DEPARTURE)]
        taken = together(before.registers)
        for register, cost in self.candidates(point.file, self.wants.get(value), taken, before.saved):
            move = self.moved(((register, source, value.lanes),))
            assignments.append(before.then((*kept, register), cost + EXTRA, move, self.machine.to_save(register)))
        return assignments

    def _written(
        self,
        point: Point,
        registers: Registers,
        alternative: Alternative,
        register: int,
        moves: tuple[Move, ...] = (),
    ) -> Items:
        """The moves, then the instruction that makes a value in a register, or writes it to memory."""
        row, value = alternative.row, alternative.value
        first = value.args[0] if row.tied else None

        def at(arg: Value) -> Register:
            return REGISTERS[register if arg is first else registers[point.live.index(arg)]]

        return [*self.moved(moves)(), build(row, value, REGISTERS[register], alternative.placed(at))]

    def moved(self, moves: tuple[Move, ...]) -> Callable[[], Items]:
        """Writes moves."""
        return lambda: [self.machine.move(*move) for move in moves]


def _homes(before: Assignment, point: Point, value: Value) -> int:
    """The registers in which the region around carries what the value is on the way to."""
    places = point.homes.get(value)
    return together([before.headers[-1][place] for place in places]) if places else 0
