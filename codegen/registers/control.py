"""What a region leads to: carried values put in their registers, branches, and everything back in place at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from setwise.codegen.describe.values import Condition, Region, Value
from setwise.codegen.machine.code import Instruction, Label, Register
from setwise.codegen.registers.assignments import EXTRA, Assignment, Choices, Items, Registers
from setwise.codegen.registers.machine import Machine, Moves
from setwise.codegen.registers.points import REGISTERS, Point, together


class RegionEntry(NamedTuple):
    """Registers for the carried values so far, what that cost, and the instructions that it took."""

    phis: Registers = ()
    cost: int = 0
    items: tuple[Instruction | Label, ...] = ()


def at_region(choices: Choices, before: Assignment, point: Point) -> list[Assignment]:
    """The assignments that an event of a region leads to."""
    if point.event.kind == "enter":
        return _enter(choices, before, point)
    if point.event.kind == "leave":
        return _leave(choices.machine, before, point)
    header = before.headers[-1]
    registers = tuple([header[at] for at in point.kept])
    if point.event.kind == "body":
        return [Assignment(registers, before.headers, before.saved, before.cost, _given(_body_label(point)), before)]
    label = () if point.region.kind == "loop" else (Label(f"{point.region.name}_end"),)
    return [Assignment(registers, before.headers[:-1], before.saved, before.cost, _given(label), before)]


def _body_label(point: Point) -> Items:
    return () if point.region.kind == "when" else (Label(f"{point.region.name}_{point.event.number}"),)


def _enter(choices: Choices, before: Assignment, point: Point) -> list[Assignment]:
    region = point.region
    at = dict(zip(point.live, before.registers, strict=True))
    asked = next(iter(region.asked), None) if region.kind == "when" else region.index
    kept = tuple([before.registers[i] for i in point.kept])
    options = [RegionEntry()]
    for number, (phi, init) in enumerate(zip(region.phis[0], region.inits, strict=True)):
        later = together(at[v] for v in region.inits[number + 1 :] if v.constant is None)
        options = [
            following
            for option in options
            for following in _carried(choices, option, phi, init, at, together(kept), later, asked, before.saved)
        ]
    go = _go(region, at)
    assignments = []
    for option in options:
        header = (*kept, *option.phis)
        saved = before.saved | together(option.phis) & choices.machine.preserved
        items = _given((*option.items, *go))
        assignments.append(
            Assignment(header, (*before.headers, header), saved, before.cost + option.cost, items, before)
        )
    return assignments


def _carried(
    choices: Choices,
    option: RegionEntry,
    phi: Value,
    init: Value,
    at: dict[Value, int],
    kept: int,
    later: int,
    asked: Value | None,
    saved: int,
) -> list[RegionEntry]:
    """One more carried value: where its first value is, or moved or loaded to where it may be."""
    reserved = 1 << at[asked] if asked in at else 0
    taken = kept | together(option.phis)
    source = at.get(init)
    if source is not None and not (taken if init is asked else taken | reserved) >> source & 1:
        return [RegionEntry((*option.phis, source), option.cost, option.items)]
    entries = []
    for register, cost in choices.candidates(phi, taken | reserved | later, saved):
        if source is None:
            item = choices.machine.load_constant(register, init)
        else:
            item, cost = choices.machine.move(register, source, phi.lanes), cost + EXTRA
        entries.append(RegionEntry((*option.phis, register), option.cost + cost, (*option.items, item)))
    return entries


def _go(region: Region, at: dict[Value, int]) -> Items:
    """How control enters a region."""
    if region.kind == "when":
        assert region.condition is not None
        return _unless(region.condition, REGISTERS[at[region.condition.value]], Label(f"{region.name}_end"))
    if region.kind == "switch":
        assert region.index is not None
        return (Instruction("jmp", (REGISTERS[at[region.index]],)),)
    return ()


def _unless(condition: Condition, register: Register, label: Label) -> Items:
    if condition.kind == "nonzero":
        return (Instruction("test", (register, register)), Instruction("jz", (label,)))
    otherwise = "jae" if condition.kind == "below" else "jb"
    return (Instruction("cmp", (register, condition.bound)), Instruction(otherwise, (label,)))


def _leave(machine: Machine, before: Assignment, point: Point) -> list[Assignment]:
    region = point.region
    at = dict(zip(point.live, before.registers, strict=True))
    header = dict(zip(point.header, before.headers[-1], strict=True))
    if any(at.get(v) != r for v, r in header.items() if v in point.event.after):
        return []
    moves: Moves = {}
    constants: list[Instruction] = []
    for phi, following in zip(region.phis[0], region.bodies[point.event.number], strict=True):
        if following.constant is not None:
            constants.append(machine.load_constant(header[phi], following))
        elif at[following] != header[phi]:
            moves[header[phi]] = (at[following], phi.lanes)
    ordered = machine.in_order(moves)
    if ordered is None:
        return []
    items: list[Instruction | Label] = [*ordered]
    last = point.event.number == len(region.bodies) - 1
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
    return [Assignment((), before.headers, before.saved, before.cost + EXTRA * len(ordered), _given(items), before)]


def _given(items: Items) -> Callable[[], Items]:
    return lambda: items
