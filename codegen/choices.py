"""What one event may lead to: the registers that an instruction can have, and what each choice costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from codegen.convention import Convention
from codegen.expr import WRITES, Value, in_register, reordered
from codegen.live import Event
from codegen.machine import Instruction, Label, Memory, Operand, Register
from codegen.targets.table import Row, Target, build, sized

Cost = tuple[int, int, int]
"""Instructions that a choice adds, departures from the description, how late in the convention registers come."""

Places = dict[Value, Register]
Items = tuple[Instruction | Label, ...]

VIEWS = frozenset({"low-half", "as-wide"})
"""Operations that only see less of a register, or more of it than is known."""


class OutOfRegisters(Exception):
    """No allocation of this order fits the registers: values must be spilled."""


@dataclass(frozen=True, eq=False)
class State:
    """Where each live value is, the same at the start of each region around, what it cost, and how it came about."""

    places: Places
    headers: tuple[Places, ...] = ()
    saved: frozenset[Register] = frozenset()
    cost: Cost = (0, 0, 0)
    items: Items = ()
    before: State | None = None

    def key(self) -> tuple[object, ...]:
        """What two states share from which the same can follow."""
        return (frozenset(self.places.items()), tuple(frozenset(h.items()) for h in self.headers), self.saved)

    def then(self, items: Iterable[Instruction | Label], cost: Cost, places: Places, new: Iterable[Register]) -> State:
        """The state after some more items."""
        total = (self.cost[0] + cost[0], self.cost[1] + cost[1], self.cost[2] + cost[2])
        return State(places, self.headers, self.saved | frozenset(new), total, tuple(items), self)


@dataclass
class Choices:
    """The target's rows, the convention's registers, the constants' places."""

    target: Target
    convention: Convention
    memory: Callable[[Value], Memory]
    """Where a constant lies in read-only memory."""
    wants: dict[Value, Register] = field(default_factory=dict)
    """Values that must lie in a certain register when they are used."""
    fixed: frozenset[Register] = frozenset()
    """Registers that some value wants, or a result: no two of them are alike."""

    def candidates(
        self, state: State, value: Value, places: Places, also: Iterable[Register] = ()
    ) -> Iterator[tuple[Register, Cost]]:
        """Registers where a new value may go, the free ones that are alike represented by the first."""
        taken = set(places.values())
        offered: set[Register] = set()
        if value.lanes > 1:
            order, saved = self.convention.vectors(self.target.vectors)
        else:
            order, saved = self.convention.scratch, self.convention.saved
        want = self.wants.get(value)
        wanted = set(self.wants.values())
        fresh = True
        for register in [*also, *([want] if want else []), *order]:
            if register in taken or register in offered:
                continue
            if register in wanted and register != want and register not in also:
                continue
            special = register in self.fixed or register in also
            if not special and not fresh:
                continue
            if not special:
                fresh = False
            offered.add(register)
            yield register, (0, 0, order.index(register) if register in order else 0)
        if fresh:
            for register in saved:
                if register not in taken:
                    extra = 0 if register in state.saved else 2
                    yield register, (extra, 0, len(order))
                    return
        if not offered:
            # Nothing else is left: one that waits for a shift count, which will push the value out again.
            yield from ((register, (0, 0, len(order))) for register in order if register not in taken)

    def new_saved(self, register: Register) -> tuple[Register, ...]:
        """The register, if the routine must save it before it uses it."""
        return (
            (register,)
            if (register.file == "general" and register in self.convention.saved)
            or (register.file == "vector" and register.number in self.convention.saved_vectors)
            else ()
        )

    def make(self, state: State, event: Event) -> Iterator[State]:
        """The states in which the event's value is made."""
        value = event.value
        assert value is not None
        if value.op == "copy":
            yield from self._copy(state, value, event.after)
            return
        if value.op in VIEWS:
            places = {**kept_in(state.places, event.after), value: state.places[value.args[0]]}
            yield state.then((), (0, 0, 0), places, ())
            return
        if value.op in WRITES:
            yield from self._write(state, value, event.after)
            return
        for row in self.target.rows_for(value):
            for prepared, extra, items in self._fixed_argument(state, row, value, event.after):
                yield from self._row(prepared, row, value, event.after, extra, items)

    def _write(self, state: State, value: Value, after: frozenset[Value]) -> Iterator[State]:
        """A store: it makes no value, and its operands stay where they are."""
        if value.op == "done":
            yield state.then((), (0, 0, 0), {}, ())
        for row in self.target.rows_for(value):
            operands = self._operands(state, row, value.args)
            if operands is not None:
                instruction = build(row, value, Register("general", 0, 64), operands)
                yield state.then((instruction,), (0, 0, 0), kept_in(state.places, after), ())

    def _fixed_argument(
        self, state: State, row: Row, value: Value, after: frozenset[Value]
    ) -> Iterator[tuple[State, Cost, list[Instruction | Label]]]:
        """The state with a shift count in rcx where the row needs it there, whoever was there moved away."""
        if "cl" not in row.words or state.places[value.args[1]].number == 1:
            yield state, (0, 0, 0), []
            return
        rcx = Register("general", 1, 64)
        for places, cost, items in self.evict(state, rcx, after | set(value.args)):
            count = value.args[1]
            moved = {**places, count: rcx}
            items = [*items, self.move(rcx, places[count])]
            saved = state.saved.union(*(self.new_saved(register) for register in moved.values()))
            new = State(moved, state.headers, saved, state.cost, state.items, state.before)
            yield new, (cost[0] + 1, cost[1], cost[2]), items

    def evict(
        self, state: State, register: Register, live: Iterable[Value]
    ) -> Iterator[tuple[Places, Cost, list[Instruction | Label]]]:
        """The places with `register` free: what lives there is moved to another."""
        wanted = set(live)
        there = [v for v, r in state.places.items() if r == register]
        if not any(v in wanted for v in there):
            yield {v: r for v, r in state.places.items() if r != register}, (0, 0, 0), []
            return
        for other, cost in self.candidates(state, there[0], state.places):
            places = {v: other if r == register else r for v, r in state.places.items()}
            yield places, (cost[0] + 1, cost[1], cost[2]), [self.move(other, register)]

    def _copy(self, state: State, value: Value, after: frozenset[Value]) -> Iterator[State]:
        source = state.places[value.args[0]]
        kept = kept_in(state.places, after)
        # Both names for one register: no move now; whoever changes it first will have to copy.
        alive = source in kept.values()
        yield state.then((), (0, 1 if alive else 0, 0), {**kept, value: source}, ())
        if alive:
            for register, cost in self.candidates(state, value, state.places):
                places = {**kept, value: register}
                total = (cost[0] + 1, cost[1], cost[2])
                yield state.then((self.move(register, source, value.lanes),), total, places, self.new_saved(register))

    def _row(
        self,
        state: State,
        row: Row,
        value: Value,
        after: frozenset[Value],
        extra: Cost,
        items: list[Instruction | Label],
    ) -> Iterator[State]:
        kept = kept_in(state.places, after)
        busy = set(kept.values())
        left = state.places.get(value.args[0]) if value.args else None
        for number, ordered in enumerate(reordered(value) if row.tied else (value,)):
            order = ordered.args
            operands = self._operands(state, row, order)
            if operands is None:
                continue
            others = {r for operand in operands[1:] for r in _registers(operand)}
            reading = {r for operand in operands for r in _registers(operand)}
            if not row.tied:
                dying = [r for r in sorted(reading) if r not in busy and r.file == _file(value)]
                for register, cost in self.candidates(state, value, kept, also=dying):
                    yield self._done(state, row, ordered, value, kept, register, operands, items, extra, cost, left)
                continue
            first = operands[0]
            assert isinstance(first, Register)
            if first not in busy:
                yield self._done(
                    state, row, ordered, value, kept, first, operands, items, extra, (0, 0, 0), left, number
                )
            if first in busy or value in self.wants:
                blocked = {**kept, **{arg: r for arg, r in state.places.items() if r in others}}
                for register, cost in self.candidates(state, value, blocked):
                    if register == first:
                        continue
                    moved = [*items, self.move(register, first, order[0].lanes)]
                    changed = [register, *operands[1:]]
                    if order[0] is order[-1] and len(order) > 1:
                        changed = [register, register]
                    total = (cost[0] + 1, cost[1], cost[2])
                    yield self._done(state, row, ordered, value, kept, register, changed, moved, extra, total, left)

    def _done(
        self,
        state: State,
        row: Row,
        ordered: Value,
        value: Value,
        kept: Places,
        register: Register,
        operands: list[Operand],
        items: list[Instruction | Label],
        extra: Cost,
        cost: Cost,
        left: Register | None,
        swapped: int = 0,
    ) -> State:
        departure = 2 if value.keeps and left is not None and register != left else 0
        if not value.keeps and swapped:
            departure = 1
        instruction = build(row, ordered, register, operands)
        total = (extra[0] + cost[0], extra[1] + cost[1] + departure, extra[2] + cost[2])
        places = {**kept, value: register}
        return state.then((*items, instruction), total, places, self.new_saved(register))

    def _operands(self, state: State, row: Row, args: tuple[Value, ...]) -> list[Operand] | None:
        """Registers of the arguments; constants as immediates or memory operands where the row allows, else None."""
        operands: list[Operand] = []
        for letter, arg in zip("abc", args, strict=False):
            if in_register(arg):
                operands.append(state.places[arg])
            elif arg.op == "place" and row.folds(letter):
                base, index = (state.places[each] for each in arg.args)
                operands.append(Memory(64 * arg.lanes, base, index, 8))
            elif row.folds(letter):
                operands.append(self.constant(arg, immediate=row.tied))
            else:
                return None
        return operands

    def constant(self, value: Value, immediate: bool) -> Operand:
        """A constant as an operand: a sign-extended 32-bit immediate where there is one, else read-only memory."""
        if value.lanes == 1 and immediate:
            number = value.number
            if number < 1 << 31:
                return number
            if number >= (1 << 64) - (1 << 31):
                return number - (1 << 64)
        return self.memory(value)

    def move(self, to: Register, source: Register, lanes: int = 1) -> Instruction:
        """A register to a register."""
        mnemonic = "mov" if to.file == "general" else self.target.move
        return Instruction(mnemonic, (sized(to, lanes), sized(source, lanes)))

    def in_order(self, moves: dict[Register, tuple[Register, int]]) -> list[Instruction] | None:
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
            if to.file != "general":
                return None
            # In a circle two registers change places: `to` is right then, and what it held is found in `source`.
            done.append(Instruction("xchg", (to, source)))
            left = {t: (source if s == to else s, n) for t, (s, n) in left.items()}
            left = {t: (s, n) for t, (s, n) in left.items() if t != s}
        return done


def plus(one: Cost, other: Cost) -> Cost:
    """The sum of two costs."""
    return (one[0] + other[0], one[1] + other[1], one[2] + other[2])


def kept_in(places: Places, after: Iterable[Value]) -> Places:
    """The places of what is needed after."""
    wanted = set(after)
    return {value: register for value, register in places.items() if value in wanted}


def _registers(operand: Operand) -> tuple[Register, ...]:
    return (operand,) if isinstance(operand, Register) else ()


def _file(value: Value) -> str:
    return "vector" if value.lanes > 1 else "general"
