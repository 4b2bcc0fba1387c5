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

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from codegen.convention import Convention
from codegen.expr import WRITES, Condition, Region, Value, in_register, overwritable, reordered
from codegen.live import Event
from codegen.machine import Instruction, Label, Memory, Operand, Register
from codegen.targets.table import Row, Target, build, sized

Cost = tuple[int, int, int]
Places = dict[Value, Register]
Items = tuple[Instruction | Label, ...]

EFFORT = 4000
"""States that may go on, in all; each event has its share. A search that never asks for more is exact."""


VIEWS = frozenset({"low-half", "as-wide"})
"""Operations that only see less of a register, or more of it than is known."""


class OutOfRegisters(Exception):
    """No allocation of this order fits the registers: values must be spilled."""


@dataclass(frozen=True, eq=False)
class _State:
    """Where each live value is, the same at the start of each region around, what it cost, and how it came about."""

    places: Places
    headers: tuple[Places, ...] = ()
    saved: frozenset[Register] = frozenset()
    cost: Cost = (0, 0, 0)
    items: Items = ()
    before: _State | None = None

    def key(self) -> tuple[object, ...]:
        return (frozenset(self.places.items()), tuple(frozenset(h.items()) for h in self.headers), self.saved)

    def then(self, items: Iterable[Instruction | Label], cost: Cost, places: Places, new: Iterable[Register]) -> _State:
        """The state after some more items."""
        total = (self.cost[0] + cost[0], self.cost[1] + cost[1], self.cost[2] + cost[2])
        return _State(places, self.headers, self.saved | frozenset(new), total, tuple(items), self)


@dataclass(frozen=True)
class Allocated:
    """Instructions and labels with registers, the saved registers that they use, and whether the search was exact."""

    items: tuple[Instruction | Label, ...]
    saved: tuple[Register, ...]
    exact: bool


@dataclass
class Allocation:
    """One search: the target's rows, the convention's registers, the constants' places."""

    target: Target
    convention: Convention
    memory: Callable[[Value], Memory]
    """Where a constant lies in read-only memory."""
    effort: int = EFFORT
    wants: dict[Value, Register] = field(default_factory=dict)
    fixed: frozenset[Register] = frozenset()

    def run(self, events: list[Event], parameters: Places, results: tuple[tuple[Value, Register], ...]) -> Allocated:
        """The cheapest allocation; `results` must end in the registers named with them."""
        self._prepare(events, results)
        needed = self._needed_first(events[0] if events else None, results)
        entry = _State({v: r for v, r in parameters.items() if v in needed})
        bounds = self._forced_moves(events)
        expanded = [0] * (len(events) + 1)
        share = self.effort // len(expanded)
        best: dict[tuple[object, ...], Cost] = {}
        ticket = count()
        heap: list[tuple[Cost, int, int, _State]] = [
            (_plus((bounds[0], 0, 0), start.cost), 0, next(ticket), start) for start in self._starts(entry)
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
                    heappush(heap, (_plus((bound, 0, 0), after.cost), -(at + 1), next(ticket), after))
        raise OutOfRegisters

    def _starts(self, entry: _State) -> Iterator[_State]:
        """The state at entry, and those in which a parameter has made way for a shift count first."""
        yield entry
        wanted = set(self.wants.values())
        for value, register in entry.places.items():
            if register in wanted and self.wants.get(value) != register:
                for places, cost, items in self._evict(entry, register, entry.places):
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

    # -- free registers

    def _candidates(
        self, state: _State, value: Value, places: Places, also: Iterable[Register] = ()
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

    def _new_saved(self, register: Register) -> tuple[Register, ...]:
        return (
            (register,)
            if (register.file == "general" and register in self.convention.saved)
            or (register.file == "vector" and register.number in self.convention.saved_vectors)
            else ()
        )

    # -- events

    def _advance(self, state: _State, event: Event) -> Iterator[_State]:
        if event.kind == "make":
            yield from self._make(state, event)
        elif event.kind == "enter":
            yield from self._enter(state, event)
        elif event.kind == "body":
            header = state.headers[-1]
            assert event.region is not None
            carried = zip(event.region.phis[event.number], event.region.phis[0], strict=True)
            places = {**header, **{phi: header[slot] for phi, slot in carried}}
            yield state.then(self._body_label(event), (0, 0, 0), _kept(places, event.after), ())
        elif event.kind == "leave":
            yield from self._leave(state, event)
        else:
            yield self._exit(state, event)

    def _make(self, state: _State, event: Event) -> Iterator[_State]:
        value = event.value
        assert value is not None
        if value.op == "copy":
            yield from self._copy(state, value, event.after)
            return
        if value.op in VIEWS:
            places = {**_kept(state.places, event.after), value: state.places[value.args[0]]}
            yield state.then((), (0, 0, 0), places, ())
            return
        if value.op in WRITES:
            yield from self._write(state, value, event.after)
            return
        for row in self.target.rows_for(value):
            for prepared, extra, items in self._fixed_argument(state, row, value, event.after):
                yield from self._row(prepared, row, value, event.after, extra, items)

    def _write(self, state: _State, value: Value, after: frozenset[Value]) -> Iterator[_State]:
        """A store: it makes no value, and its operands stay where they are."""
        if value.op == "done":
            yield state.then((), (0, 0, 0), {}, ())
        for row in self.target.rows_for(value):
            operands = self._operands(state, row, value.args)
            if operands is not None:
                instruction = build(row, value, Register("general", 0, 64), operands)
                yield state.then((instruction,), (0, 0, 0), _kept(state.places, after), ())

    def _fixed_argument(
        self, state: _State, row: Row, value: Value, after: frozenset[Value]
    ) -> Iterator[tuple[_State, Cost, list[Instruction | Label]]]:
        """The state with a shift count in rcx where the row needs it there, whoever was there moved away."""
        if "cl" not in row.words or state.places[value.args[1]].number == 1:
            yield state, (0, 0, 0), []
            return
        rcx = Register("general", 1, 64)
        for places, cost, items in self._evict(state, rcx, after | set(value.args)):
            count = value.args[1]
            moved = {**places, count: rcx}
            items = [*items, self._move(rcx, places[count])]
            saved = state.saved.union(*(self._new_saved(register) for register in moved.values()))
            new = _State(moved, state.headers, saved, state.cost, state.items, state.before)
            yield new, (cost[0] + 1, cost[1], cost[2]), items

    def _evict(
        self, state: _State, register: Register, live: Iterable[Value]
    ) -> Iterator[tuple[Places, Cost, list[Instruction | Label]]]:
        """The places with `register` free: what lives there is moved to another."""
        wanted = set(live)
        there = [v for v, r in state.places.items() if r == register]
        if not any(v in wanted for v in there):
            yield {v: r for v, r in state.places.items() if r != register}, (0, 0, 0), []
            return
        for other, cost in self._candidates(state, there[0], state.places):
            places = {v: other if r == register else r for v, r in state.places.items()}
            yield places, (cost[0] + 1, cost[1], cost[2]), [self._move(other, register)]

    def _copy(self, state: _State, value: Value, after: frozenset[Value]) -> Iterator[_State]:
        source = state.places[value.args[0]]
        kept = _kept(state.places, after)
        # Both names for one register: no move now; whoever changes it first will have to copy.
        alive = source in kept.values()
        yield state.then((), (0, 1 if alive else 0, 0), {**kept, value: source}, ())
        if alive:
            for register, cost in self._candidates(state, value, state.places):
                places = {**kept, value: register}
                total = (cost[0] + 1, cost[1], cost[2])
                yield state.then((self._move(register, source, value.lanes),), total, places, self._new_saved(register))

    def _row(
        self,
        state: _State,
        row: Row,
        value: Value,
        after: frozenset[Value],
        extra: Cost,
        items: list[Instruction | Label],
    ) -> Iterator[_State]:
        kept = _kept(state.places, after)
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
                for register, cost in self._candidates(state, value, kept, also=dying):
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
                for register, cost in self._candidates(state, value, blocked):
                    if register == first:
                        continue
                    moved = [*items, self._move(register, first, order[0].lanes)]
                    changed = [register, *operands[1:]]
                    if order[0] is order[-1] and len(order) > 1:
                        changed = [register, register]
                    total = (cost[0] + 1, cost[1], cost[2])
                    yield self._done(state, row, ordered, value, kept, register, changed, moved, extra, total, left)

    def _done(
        self,
        state: _State,
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
    ) -> _State:
        departure = 2 if value.keeps and left is not None and register != left else 0
        if not value.keeps and swapped:
            departure = 1
        instruction = build(row, ordered, register, operands)
        total = (extra[0] + cost[0], extra[1] + cost[1] + departure, extra[2] + cost[2])
        places = {**kept, value: register}
        return state.then((*items, instruction), total, places, self._new_saved(register))

    def _operands(self, state: _State, row: Row, args: tuple[Value, ...]) -> list[Operand] | None:
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

    # -- regions

    def _body_label(self, event: Event) -> Items:
        assert event.region is not None
        if event.region.kind == "when":
            return ()
        return (Label(f"{event.region.name}_{event.number}"),)

    def _enter(self, state: _State, event: Event) -> Iterator[_State]:
        region = event.region
        assert region is not None
        asked = region.condition.value if region.kind == "when" and region.condition is not None else region.index
        reserved = {asked: state.places[asked]} if asked is not None and asked.constant is None else {}
        kept = {**_kept(state.places, event.after), **reserved}
        options: list[tuple[Places, Places, Cost, list[Instruction | Label], frozenset[Register]]] = [
            ({}, kept, (0, 0, 0), [], frozenset())
        ]
        for number, (phi, init) in enumerate(zip(region.phis[0], region.inits, strict=True)):
            later = {v: state.places[v] for v in region.inits[number + 1 :] if v.constant is None}
            grown = []
            for phis, places, cost, items, new in options:
                blocked = {**places, **later}
                if init.constant is not None:
                    for register, price in self._candidates(state, phi, blocked):
                        load = self._load_constant(register, init)
                        grown.append(self._placed(phi, register, phis, places, cost, price, items, [load], new))
                    continue
                source = state.places[init]
                if source not in places.values() or (
                    asked is init and source not in _kept(places, event.after).values()
                ):
                    grown.append(self._placed(phi, source, phis, places, cost, (0, 0, 0), items, [], new))
                else:
                    for register, price in self._candidates(state, phi, blocked):
                        price = (price[0] + 1, price[1], price[2])
                        grown.append(
                            self._placed(
                                phi,
                                register,
                                phis,
                                places,
                                cost,
                                price,
                                items,
                                [self._move(register, source, phi.lanes)],
                                new,
                            )
                        )
            options = grown
        for phis, places, cost, items, new in options:
            header = {**{v: r for v, r in places.items() if v in event.after}, **phis}
            start = {**places, **phis}
            following = state.then([*items, *self._go(region, start)], cost, header, new)
            yield _State(
                header, (*state.headers, header), following.saved, following.cost, following.items, following.before
            )

    def _placed(
        self,
        phi: Value,
        register: Register,
        phis: Places,
        places: Places,
        cost: Cost,
        price: Cost,
        items: list[Instruction | Label],
        more: list[Instruction],
        new: frozenset[Register],
    ) -> tuple[Places, Places, Cost, list[Instruction | Label], frozenset[Register]]:
        total = (cost[0] + price[0], cost[1] + price[1], cost[2] + price[2])
        saved = new | frozenset(self._new_saved(register))
        return {**phis, phi: register}, {**places, phi: register}, total, [*items, *more], saved

    def _load_constant(self, register: Register, value: Value) -> Instruction:
        if register.file == "vector":
            if any(value.constant or ()):
                raise OutOfRegisters  # no description carries such a constant into a region
            low = register.at(128)
            if "avx" in self.target.features:
                return Instruction("vpxor" if register.number < 16 else "vpxorq", (low, low, low))
            return Instruction("pxor", (low, low))
        number = value.number
        if number == 0:
            return Instruction("xor", (register.at(32), register.at(32)))
        return Instruction("mov", (register.at(32) if number < 1 << 32 else register, number))

    def _go(self, region: Region, places: Places) -> Items:
        """How control enters a region."""
        if region.kind == "when":
            assert region.condition is not None
            return self._unless(region.condition, places, Label(f"{region.name}_end"))
        if region.kind == "switch":
            assert region.index is not None
            return (Instruction("jmp", (places[region.index],)),)
        return ()

    def _unless(self, condition: Condition, places: Places, label: Label) -> Items:
        register = places[condition.value]
        if condition.kind == "nonzero":
            return (Instruction("test", (register, register)), Instruction("jz", (label,)))
        otherwise = "jae" if condition.kind == "below" else "jb"
        return (Instruction("cmp", (register, condition.bound)), Instruction(otherwise, (label,)))

    def _leave(self, state: _State, event: Event) -> Iterator[_State]:
        region = event.region
        assert region is not None
        header = state.headers[-1]
        if any(state.places.get(v) != r for v, r in header.items() if v in event.after):
            return
        nexts = region.bodies[event.number]
        moves: dict[Register, tuple[Register, int]] = {}
        constants: list[Instruction] = []
        for phi, following in zip(region.phis[0], nexts, strict=True):
            if following.constant is not None:
                constants.append(self._load_constant(header[phi], following))
            elif state.places[following] != header[phi]:
                moves[header[phi]] = (state.places[following], phi.lanes)
        ordered = self._in_order(moves)
        if ordered is None:
            return
        items: list[Instruction | Label] = [*ordered]
        last = event.number == len(region.bodies) - 1
        label = region.name
        if region.kind == "loop":
            assert region.condition is not None
            register = state.places[region.condition.value]
            if region.condition.kind == "nonzero":
                items = [Instruction("test", (register, register)), *items, Instruction("jnz", (Label(f"{label}_0"),))]
            else:
                test = Instruction("cmp", (register, region.condition.bound))
                again = "jb" if region.condition.kind == "below" else "jae"
                items = [test, *items, Instruction(again, (Label(f"{label}_0"),))]
            # Behind the test: mov 0, for xor would write the flags.
            items[-1:-1] = [Instruction("mov", (c.operands[0], 0)) if c.mnemonic == "xor" else c for c in constants]
        else:
            items += constants
            if not last and not region.falls:
                items.append(Instruction("jmp", (Label(f"{label}_end"),)))
        yield state.then(items, (len(ordered), 0, 0), {}, ())

    def _exit(self, state: _State, event: Event) -> _State:
        region = event.region
        assert region is not None
        header = state.headers[-1]
        places = {v: r for v, r in header.items() if v in event.after}
        for value in event.after:
            if value.region is region:
                places[value] = header[region.phis[0][int(value.attr)]]
        label = () if region.kind == "loop" else (Label(f"{region.name}_end"),)
        new = state.then(label, (0, 0, 0), places, ())
        return _State(places, state.headers[:-1], new.saved, new.cost, new.items, new.before)

    def _move(self, to: Register, source: Register, lanes: int = 1) -> Instruction:
        mnemonic = "mov" if to.file == "general" else self.target.move
        return Instruction(mnemonic, (sized(to, lanes), sized(source, lanes)))

    def _in_order(self, moves: dict[Register, tuple[Register, int]]) -> list[Instruction] | None:
        """Moves (to, from, lanes) that all happen at once, one by one; None if they go round in a circle."""
        left = dict(moves)
        done: list[Instruction] = []
        while left:
            sources = {source for source, _ in left.values()}
            free = next((to for to in left if to not in sources), None)
            if free is not None:
                done.append(self._move(free, *left.pop(free)))
                continue
            to, (source, _) = left.popitem()
            if to.file != "general":
                return None
            # In a circle two registers change places: `to` is right then, and what it held is found in `source`.
            done.append(Instruction("xchg", (to, source)))
            left = {t: (source if s == to else s, n) for t, (s, n) in left.items()}
            left = {t: (s, n) for t, (s, n) in left.items() if t != s}
        return done

    # -- the end

    def _finish(self, state: _State, results: tuple[tuple[Value, Register], ...]) -> Iterator[_State]:
        moves: dict[Register, tuple[Register, int]] = {}
        constants: list[Instruction] = []
        for value, register in results:
            if value.constant is not None:
                constants.append(self._load_constant(register, value))
            elif state.places[value] != register:
                moves[register] = (state.places[value], value.lanes)
        ordered = self._in_order(moves)
        if ordered is not None:
            yield state.then([*ordered, *constants], (len(ordered), 0, 0), {}, ())


def _plus(one: Cost, other: Cost) -> Cost:
    return (one[0] + other[0], one[1] + other[1], one[2] + other[2])


def _allocated(last: _State, exact: bool) -> Allocated:
    items: list[Instruction | Label] = []
    at: _State | None = last
    while at is not None:
        items[:0] = at.items
        at = at.before
    return Allocated(tuple(items), tuple(sorted(last.saved)), exact)


def _kept(places: Places, after: Iterable[Value]) -> Places:
    wanted = set(after)
    return {value: register for value, register in places.items() if value in wanted}


def _registers(operand: Operand) -> tuple[Register, ...]:
    return (operand,) if isinstance(operand, Register) else ()


def _file(value: Value) -> str:
    return "vector" if value.lanes > 1 else "general"
