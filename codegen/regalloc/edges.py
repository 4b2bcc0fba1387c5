"""Edges of the search: the registers that a step can give its value, and the cost of each choice."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from setwise.codegen.ir.operations import VIEWS, WRITES
from setwise.codegen.ir.values import Value, place_of
from setwise.codegen.machine.code import Item, Register, RegisterFile
from setwise.codegen.regalloc.candidates import FILES, RCX, REGISTERS, Point, Registers, RowCandidate, bitset
from setwise.codegen.regalloc.machine import Machine
from setwise.codegen.targets.table import build

EXTRA = 1 << 40
"""The cost of an added instruction."""
DEPARTURE = 1 << 20
"""The cost of a departure from the description."""
LATE = 1
"""The cost of the second register in the order of the convention. The third costs twice that, and so on."""

Items = Sequence[Item]
Move = tuple[int, int, int]
"""A move: destination, source, number of lanes."""

Assignment = tuple[Registers, tuple[Registers, ...], int]
"""A node: the registers of live values, those at the start of each region around, the set of callee-saved ones used."""

Emission = tuple[Any, ...]
"""Instructions that are made on demand, as a function and its arguments: few edges are on the final path."""

Edge = tuple[Assignment, int, Emission]
"""The assignment that an edge leads to, its cost, and its instructions."""

Successors = Callable[[Assignment], list[Edge]]
"""The function from an assignment before a step to the edges that carry out the step."""

NOTHING: Emission = (tuple,)  # no instructions


def emitted(writing: Emission) -> Items:
    """Call the function of an emission with its arguments, and return the instructions that it makes."""
    write, *arguments = writing
    items: Items = write(*arguments)
    return items


def emit(items: Items) -> Emission:
    """Return an emission of the given instructions."""
    return (tuple, items) if items else NOTHING


def chained(first: Edge, steps: Sequence[Edge]) -> list[Edge]:
    """Join the first edge with each of the edges from its end. Return one edge for each."""
    _, cost, writing = first
    return [(after, cost + more, (_both, writing, another)) for after, more, another in steps]


def _both(writing: Emission, another: Emission) -> Items:
    return (*emitted(writing), *emitted(another))


class Edges:
    """The edges of one search. `wants` has the values that need a certain register when used, with its number.

    `ends` is the set of the registers of results. None of these registers is interchangeable with another.
    """

    def __init__(self, machine: Machine, wants: dict[Value, int], ends: int) -> None:
        self.machine = machine
        self.wants = wants
        self.wanted = bitset(wants.values())
        self.to_save = [1 << register & machine.preserved for register in range(len(REGISTERS))]
        self._fixed = self.wanted | ends
        self.registers_for = cache(self._registers_for)

    def _registers_for(
        self, file: RegisterFile, want: int | None, taken: int, saved: int, also: int = 0, homes: int = 0
    ) -> list[tuple[int, int]]:
        """Return the registers that a new value may take, each with its cost; of interchangeable ones only the first.

        `want` is the one that it needs, `taken` those of other values, `saved` the callee-saved ones in use. Those of
        dying operands (`also`) and of carried values (`homes`) are not interchangeable with others.
        """
        order = self.machine.free[file]
        left = [register for register in range(len(REGISTERS)) if also >> register & 1]
        offered: dict[int, int] = {}
        fresh = True
        for register in (*left, *((want,) if want is not None else ()), *order):
            if taken >> register & 1 or register in offered:
                continue
            if self.wanted >> register & 1 and register != want and register not in left:
                continue
            if not (self._fixed | homes) >> register & 1 and register not in left:
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
            # Only registers that shift counts need are left. The count will evict the value again.
            return [(register, LATE * len(order)) for register in order if not taken >> register & 1]
        return list(offered.items())

    def making(self, point: Point) -> Successors:
        """Return the successor function of a step that defines or stores a value."""
        value = point.value
        if value.op == "copy":
            return partial(self._copy, point, place_of(value.args[0], point.live))
        if value.op in VIEWS:
            return partial(_viewed, point, place_of(value.args[0], point.live))
        if value.op in WRITES:
            return partial(self._write, point)
        return partial(self._make, point, self.wants.get(value))

    def _make(self, point: Point, want: int | None, before: Assignment) -> list[Edge]:
        """Return edges for each candidate. A shift count that must be in rcx is moved there first."""
        registers, _, _ = before
        kept, args = point.keep(registers), {*point.value.args}
        steps: list[Edge] = []
        for row in point.candidates:
            if row[0].counts and registers[row[0].reads[1]] != RCX:
                needed = (*point.kept, *(i for i, value in enumerate(point.live) if value in args))
                for start in self.count_in_rcx(before, point.live, row[0].reads[1], needed):
                    made: list[Edge] = []
                    self._make_by(row, start[0], point.keep(start[0][0]), point, want, made)
                    steps += chained(start, made)
            else:
                self._make_by(row, before, kept, point, want, steps)
        return steps

    def _write(self, point: Point, before: Assignment) -> list[Edge]:
        """Return the edges of a store, one for each candidate; none moves values. A `done` has no instructions."""
        registers, headers, saved = before
        after = point.keep(registers), headers, saved
        if point.value.op == "done":
            return [(after, 0, NOTHING)]
        candidates = (candidate for row in point.candidates for candidate in row)
        return [(after, 0, (self._written, point, registers, each, 0)) for each in candidates]

    def _make_by(
        self,
        row: tuple[RowCandidate, ...],
        before: Assignment,
        kept: Registers,
        point: Point,
        want: int | None,
        steps: list[Edge],
    ) -> None:
        """Append the edges of one row to `steps`: for each order of arguments, for each register of the result."""
        registers, headers, saved = before
        to_save, write = self.to_save, self._written
        homes = _homes(headers, point, point.value) if point.homes else 0
        left = registers[point.left] if point.left is not None else -1
        stays = -1  # the set of registers that stay live, computed on demand
        chosen: list[tuple[int, int, int, tuple[Move, ...]]]
        """The register of the result, that to which the operand moves (or the same), the cost, and the moves."""
        for candidate in row:
            first = registers[candidate.reads[0]] if candidate.row.tied else -1
            if first >= 0 and want is None and first not in kept:
                chosen = [(first, first, DEPARTURE * candidate.departs, ())]
            else:
                if stays < 0:
                    stays = bitset(kept)
                if candidate.row.tied:
                    chosen = self._over_first(candidate, first, before, stays, point, want, homes)
                else:
                    dying = bitset([registers[at] for at in candidate.reads]) & ~stays & FILES[point.file]
                    found = self.registers_for(point.file, want, stays, saved, dying, homes)
                    chosen = [(register, register, cost, ()) for register, cost in found]
            for register, to, cost, moves in chosen:
                if left >= 0 and register != left:
                    cost += 2 * DEPARTURE
                lie = (*kept, register) if to == register else (*[to if r == first else r for r in kept], register)
                after = lie, headers, saved | to_save[register] | to_save[to]
                steps.append((after, cost, (write, point, registers, candidate, register, moves)))

    def _over_first(
        self,
        candidate: RowCandidate,
        first: int,
        before: Assignment,
        stays: int,
        point: Point,
        want: int | None,
        homes: int,
    ) -> list[tuple[int, int, int, tuple[Move, ...]]]:
        """Return the choices of a form that overwrites its first operand: in place, in a copy, or after it moves."""
        registers, headers, saved = before
        chosen: list[tuple[int, int, int, tuple[Move, ...]]] = []
        dies = not stays >> first & 1
        if dies:
            chosen.append((first, first, DEPARTURE * candidate.departs, ()))
        if not dies or want is not None:
            arg = candidate.value.args[0]
            needed_there = (self._fixed | homes) >> first & 1
            its = self._fixed | _homes(headers, point, arg) if point.homes else self._fixed
            taken = stays | bitset([registers[at] for at in candidate.reads[1:]])
            for register, cost in self.registers_for(point.file, want, taken, saved, 0, homes):
                if register == first:
                    continue
                moves = ((register, first, arg.lanes),)
                chosen.append((register, register, cost + EXTRA, moves))
                if needed_there or its >> register & 1:
                    # Or the operand moves away: the result may need its register, or the operand the other one.
                    chosen.append((first, register, cost + EXTRA + 3 * DEPARTURE, moves))
        return chosen

    def count_in_rcx(self, before: Assignment, live: tuple[Value, ...], at: int, needed: Sequence[int]) -> list[Edge]:
        """Return edges that move the count at position `at` to rcx; a value there at a `needed` position is evicted."""
        steps: list[Edge] = []
        for freed in self.evict(before, live, RCX, needed):
            registers, headers, saved = freed[0]
            after = (*registers[:at], RCX, *registers[at + 1 :]), headers, saved
            steps += chained(freed, [(after, EXTRA, (self.moved, ((RCX, registers[at], 1),)))])
        return steps

    def evict(self, before: Assignment, live: tuple[Value, ...], register: int, needed: Sequence[int]) -> list[Edge]:
        """Return edges that free a register. If it has a value at a position in `needed`, each moves that elsewhere."""
        registers, headers, saved = before
        if register not in [registers[at] for at in needed]:
            return [(before, 0, NOTHING)]
        first = live[registers.index(register)]
        return [
            (
                (tuple(other if r == register else r for r in registers), headers, saved | self.to_save[other]),
                cost + EXTRA,
                (self.moved, ((other, register, 1),)),
            )
            for other, cost in self.registers_for(first.file, self.wants.get(first), bitset(registers), saved)
        ]

    def _copy(self, point: Point, at: int, before: Assignment) -> list[Edge]:
        registers, headers, saved = before
        value, kept, source = point.value, point.keep(registers), registers[at]
        # Coalesce: both values share a register, and the first instruction that changes it copies.
        if source not in kept:
            return [(((*kept, source), headers, saved), 0, NOTHING)]
        steps: list[Edge] = [(((*kept, source), headers, saved), DEPARTURE, NOTHING)]
        for register, cost in self.registers_for(point.file, self.wants.get(value), bitset(registers), saved):
            after = (*kept, register), headers, saved | self.to_save[register]
            steps.append((after, cost + EXTRA, (self.moved, ((register, source, value.lanes),))))
        return steps

    def _written(
        self, point: Point, registers: Registers, candidate: RowCandidate, register: int, moves: tuple[Move, ...] = ()
    ) -> Items:
        """Return the moves, and behind them the instruction of a candidate, which defines the value or stores it."""
        row, value = candidate.row, candidate.value
        first = value.args[0] if row.tied else None
        lies = dict(zip(point.live, registers, strict=True))

        def at(arg: Value) -> Register:
            return REGISTERS[register if arg is first else lies[arg]]

        return (*self.moved(moves), build(row, value, REGISTERS[register], candidate.placed(at)))

    def moved(self, moves: tuple[Move, ...]) -> Items:
        """Return one instruction for each move, in order."""
        return [self.machine.move(*move) for move in moves]


def _viewed(point: Point, at: int, before: Assignment) -> list[Edge]:
    """Return the one edge of a view, which shares the register of its operand, at position `at` of `live`."""
    registers, headers, saved = before
    return [(((*point.keep(registers), registers[at]), headers, saved), 0, NOTHING)]


def _homes(headers: tuple[Registers, ...], point: Point, value: Value) -> int:
    """Return the set of registers of the carried values in which a chain of overwrites from a value may end."""
    places = point.homes.get(value)
    return bitset([headers[-1][place] for place in places]) if places else 0
