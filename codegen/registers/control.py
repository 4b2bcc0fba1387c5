"""What a region leads to: carried values put in their registers, branches, and everything back in place at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from setwise.codegen.describe.values import Condition, Region, Value
from setwise.codegen.machine.code import Instruction, Label, Register
from setwise.codegen.registers.choices import EXTRA, Choices, Items, OutOfRegisters, Places, State
from setwise.codegen.registers.steps import REGISTERS, VECTORS, Step, together


class Entered(NamedTuple):
    """Registers for the carried values so far, what that cost, and the instructions that it took."""

    phis: Places = ()
    cost: int = 0
    items: tuple[Instruction | Label, ...] = ()


class Control(Choices):
    """The choices at the start and the end of regions and their bodies."""

    def region(self, state: State, step: Step) -> list[State]:
        """The states that an event of a region leads to."""
        if step.event.kind == "enter":
            return self._enter(state, step)
        if step.event.kind == "leave":
            return self._leave(state, step)
        header = state.headers[-1]
        places = tuple([header[at] for at in step.kept])
        if step.event.kind == "body":
            return [State(places, state.headers, state.saved, state.cost, _given(self._body_label(step)), state)]
        label = () if step.region.kind == "loop" else (Label(f"{step.region.name}_end"),)
        return [State(places, state.headers[:-1], state.saved, state.cost, _given(label), state)]

    def _body_label(self, step: Step) -> Items:
        return () if step.region.kind == "when" else (Label(f"{step.region.name}_{step.event.number}"),)

    def _enter(self, state: State, step: Step) -> list[State]:
        region = step.region
        at = dict(zip(step.live, state.places, strict=True))
        asked = region.condition.value if region.kind == "when" and region.condition is not None else region.index
        kept = tuple([state.places[i] for i in step.kept])
        options = [Entered()]
        for number, (phi, init) in enumerate(zip(region.phis[0], region.inits, strict=True)):
            later = together(at[v] for v in region.inits[number + 1 :] if v.constant is None)
            options = [
                following
                for option in options
                for following in self._carried(option, phi, init, at, together(kept), later, asked, state.saved)
            ]
        go = self._go(region, at)
        found = []
        for option in options:
            header = (*kept, *option.phis)
            saved = state.saved | together(option.phis) & self.preserved
            items = _given((*option.items, *go))
            found.append(State(header, (*state.headers, header), saved, state.cost + option.cost, items, state))
        return found

    def _carried(
        self,
        option: Entered,
        phi: Value,
        init: Value,
        at: dict[Value, int],
        kept: int,
        later: int,
        asked: Value | None,
        saved: int,
    ) -> list[Entered]:
        """One more carried value: where its first value is, or moved or loaded to where it may be."""
        reserved = 1 << at[asked] if asked in at else 0
        taken = kept | together(option.phis)
        source = at.get(init)
        if source is not None and not (taken if init is asked else taken | reserved) >> source & 1:
            return [Entered((*option.phis, source), option.cost, option.items)]
        found = []
        for register, cost in self.candidates(phi, taken | reserved | later, saved):
            if source is None:
                item = self.load_constant(register, init)
            else:
                item, cost = self.move(register, source, phi.lanes), cost + EXTRA
            found.append(Entered((*option.phis, register), option.cost + cost, (*option.items, item)))
        return found

    def load_constant(self, to: int, value: Value) -> Instruction:
        """A constant into a register."""
        register = REGISTERS[to]
        if to >= VECTORS:
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

    def _go(self, region: Region, at: dict[Value, int]) -> Items:
        """How control enters a region."""
        if region.kind == "when":
            assert region.condition is not None
            return self._unless(region.condition, REGISTERS[at[region.condition.value]], Label(f"{region.name}_end"))
        if region.kind == "switch":
            assert region.index is not None
            return (Instruction("jmp", (REGISTERS[at[region.index]],)),)
        return ()

    def _unless(self, condition: Condition, register: Register, label: Label) -> Items:
        if condition.kind == "nonzero":
            return (Instruction("test", (register, register)), Instruction("jz", (label,)))
        otherwise = "jae" if condition.kind == "below" else "jb"
        return (Instruction("cmp", (register, condition.bound)), Instruction(otherwise, (label,)))

    def _leave(self, state: State, step: Step) -> list[State]:
        region = step.region
        at = dict(zip(step.live, state.places, strict=True))
        header = dict(zip(step.header, state.headers[-1], strict=True))
        if any(at.get(v) != r for v, r in header.items() if v in step.event.after):
            return []
        moves: dict[int, tuple[int, int]] = {}
        constants: list[Instruction] = []
        for phi, following in zip(region.phis[0], region.bodies[step.event.number], strict=True):
            if following.constant is not None:
                constants.append(self.load_constant(header[phi], following))
            elif at[following] != header[phi]:
                moves[header[phi]] = (at[following], phi.lanes)
        ordered = self.in_order(moves)
        if ordered is None:
            return []
        items: list[Instruction | Label] = [*ordered]
        last = step.event.number == len(region.bodies) - 1
        if region.kind == "loop":
            assert region.condition is not None
            register = REGISTERS[at[region.condition.value]]
            start = Label(f"{region.name}_0")
            if region.condition.kind == "nonzero":
                items = [Instruction("test", (register, register)), *items, Instruction("jnz", (start,))]
            else:
                test = Instruction("cmp", (register, region.condition.bound))
                again = "jb" if region.condition.kind == "below" else "jae"
                items = [test, *items, Instruction(again, (start,))]
            # Behind the test: mov 0, for xor would write the flags.
            items[-1:-1] = [Instruction("mov", (c.operands[0], 0)) if c.mnemonic == "xor" else c for c in constants]
        else:
            items += constants
            if not last and not region.falls:
                items.append(Instruction("jmp", (Label(f"{region.name}_end"),)))
        return [State((), state.headers, state.saved, state.cost + EXTRA * len(ordered), _given(items), state)]


def _given(items: Items) -> Callable[[], Items]:
    return lambda: items
