"""What a region leads to: carried values put in their registers, branches, and everything back in place at the end."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.choices import Choices, Cost, Items, OutOfRegisters, Places, State, kept_in
from codegen.expr import Condition, Region, Value
from codegen.live import Event
from codegen.machine import Instruction, Label, Register


class Control(Choices):
    """The choices at the start and the end of regions and their bodies."""

    def region(self, state: State, event: Event) -> Iterator[State]:
        """The states that an event of a region leads to."""
        if event.kind == "enter":
            yield from self._enter(state, event)
        elif event.kind == "body":
            yield self._body(state, event)
        elif event.kind == "leave":
            yield from self._leave(state, event)
        else:
            yield self._exit(state, event)

    def _body(self, state: State, event: Event) -> State:
        header = state.headers[-1]
        assert event.region is not None
        carried = zip(event.region.phis[event.number], event.region.phis[0], strict=True)
        places = {**header, **{phi: header[slot] for phi, slot in carried}}
        return state.then(self._body_label(event), (0, 0, 0), kept_in(places, event.after), ())

    def _body_label(self, event: Event) -> Items:
        assert event.region is not None
        if event.region.kind == "when":
            return ()
        return (Label(f"{event.region.name}_{event.number}"),)

    def _enter(self, state: State, event: Event) -> Iterator[State]:
        region = event.region
        assert region is not None
        asked = region.condition.value if region.kind == "when" and region.condition is not None else region.index
        reserved = {asked: state.places[asked]} if asked is not None and asked.constant is None else {}
        kept = {**kept_in(state.places, event.after), **reserved}
        options: list[tuple[Places, Places, Cost, list[Instruction | Label], frozenset[Register]]] = [
            ({}, kept, (0, 0, 0), [], frozenset())
        ]
        for number, (phi, init) in enumerate(zip(region.phis[0], region.inits, strict=True)):
            later = {v: state.places[v] for v in region.inits[number + 1 :] if v.constant is None}
            grown = []
            for phis, places, cost, items, new in options:
                blocked = {**places, **later}
                if init.constant is not None:
                    for register, price in self.candidates(state, phi, blocked):
                        load = self.load_constant(register, init)
                        grown.append(self._placed(phi, register, phis, places, cost, price, items, [load], new))
                    continue
                source = state.places[init]
                if source not in places.values() or (
                    asked is init and source not in kept_in(places, event.after).values()
                ):
                    grown.append(self._placed(phi, source, phis, places, cost, (0, 0, 0), items, [], new))
                else:
                    for register, price in self.candidates(state, phi, blocked):
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
                                [self.move(register, source, phi.lanes)],
                                new,
                            )
                        )
            options = grown
        for phis, places, cost, items, new in options:
            header = {**{v: r for v, r in places.items() if v in event.after}, **phis}
            start = {**places, **phis}
            following = state.then([*items, *self._go(region, start)], cost, header, new)
            yield State(
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
        saved = new | frozenset(self.new_saved(register))
        return {**phis, phi: register}, {**places, phi: register}, total, [*items, *more], saved

    def load_constant(self, register: Register, value: Value) -> Instruction:
        """A constant into a register."""
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

    def _leave(self, state: State, event: Event) -> Iterator[State]:
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
                constants.append(self.load_constant(header[phi], following))
            elif state.places[following] != header[phi]:
                moves[header[phi]] = (state.places[following], phi.lanes)
        ordered = self.in_order(moves)
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

    def _exit(self, state: State, event: Event) -> State:
        region = event.region
        assert region is not None
        header = state.headers[-1]
        places = {v: r for v, r in header.items() if v in event.after}
        for value in event.after:
            if value.region is region:
                places[value] = header[region.phis[0][int(value.attr)]]
        label = () if region.kind == "loop" else (Label(f"{region.name}_end"),)
        new = state.then(label, (0, 0, 0), places, ())
        return State(places, state.headers[:-1], new.saved, new.cost, new.items, new.before)
