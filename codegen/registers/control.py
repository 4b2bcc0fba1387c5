"""What a region leads to: carried values put in their registers, branches, and everything back in place at the end."""

from __future__ import annotations

from collections.abc import Callable

from setwise.codegen.describe.control import SIGN
from setwise.codegen.describe.values import Condition, Region, Value
from setwise.codegen.machine.code import Instruction, Item, Label
from setwise.codegen.registers.assignments import EXTRA, Assignment, Choices, Items
from setwise.codegen.registers.machine import Machine, Moves
from setwise.codegen.registers.points import REGISTERS, Point, together


def at_region(choices: Choices, before: Assignment, point: Point) -> list[Assignment]:
    """The assignments that an event of a region leads to."""
    if point.event.kind == "enter":
        return _enter(choices, before, point)
    if point.event.kind == "leave":
        return _leave(choices.machine, before, point)
    registers = point.keep(before.headers[-1])
    if point.event.kind == "body":
        label = () if point.region.kind == "when" else (Label(f"{point.region.name}_{point.event.number}"),)
        return [before.then(registers, items=_given(label))]
    label = () if point.region.kind == "loop" else (Label(f"{point.region.name}_end"),)
    return [before.then(registers, items=_given(label), headers=before.headers[:-1])]


def _enter(choices: Choices, before: Assignment, point: Point) -> list[Assignment]:
    region = point.region
    starts = [before]
    for i in point.kept:
        if before.registers[i] != choices.wants.get(point.live[i], before.registers[i]):
            # Better here than in each round.
            starts += choices.count_in_rcx(before, point.live, i, range(len(point.live)))
    return [after for start in starts for after in _entered(choices, start, point, region)]


def _entered(choices: Choices, before: Assignment, point: Point, region: Region) -> list[Assignment]:
    at = dict(zip(point.live, before.registers, strict=True))
    asked = next(iter(region.asked), None) if region.kind == "when" else region.index
    options = [before.then(point.keep(before.registers))]
    for number, (phi, init) in enumerate(zip(region.phis[0], region.inits, strict=True)):
        later = together(at[v] for v in region.inits[number + 1 :] if v.constant is None)
        options = [
            following for option in options for following in _carried(choices, option, phi, init, at, later, asked)
        ]
    go = _given(_go(region, at))
    return [option.then(option.registers, items=go, headers=(*before.headers, option.registers)) for option in options]


def _carried(
    choices: Choices,
    option: Assignment,
    phi: Value,
    init: Value,
    at: dict[Value, int],
    later: int,
    asked: Value | None,
) -> list[Assignment]:
    """One more carried value: where its first value is, or moved or loaded to where it may be."""
    machine = choices.machine
    reserved = 1 << at[asked] if asked in at else 0
    taken = together(option.registers)
    source = at.get(init)
    if source is not None and not (taken if init is asked else taken | reserved) >> source & 1:
        return [option.then((*option.registers, source))]
    assignments = []
    for register, cost in choices.candidates(phi.file, choices.wants.get(phi), taken | reserved | later, option.saved):
        if source is None:
            item = machine.load_constant(register, init)
        else:
            item, cost = machine.move(register, source, phi.lanes), cost + EXTRA
        registers = (*option.registers, register)
        assignments.append(option.then(registers, cost, _given((item,)), machine.to_save(register)))
    return assignments


def _go(region: Region, at: dict[Value, int]) -> Items:
    """How control enters a region."""
    if region.kind == "when":
        assert region.condition is not None
        return _branch(region.condition, at, Label(f"{region.name}_end"), holds=False)
    if region.kind == "switch":
        assert region.index is not None
        return (Instruction("jmp", (REGISTERS[at[region.index]],)),)
    return ()


_JUMPS = {"nonzero": ("jz", "jnz"), "below": ("jae", "jb"), "at-least": ("jb", "jae")}
_SIGN_JUMPS = {"below": ("js", "jns"), "at-least": ("jns", "js")}


def _branch(condition: Condition, at: dict[Value, int], label: Label, *, holds: bool) -> Items:
    """The test and the jump to a label that is taken if the condition holds, or if it does not."""
    register = REGISTERS[at[condition.value]]
    jumps = _SIGN_JUMPS if condition.bound == SIGN else _JUMPS
    test = ("test", (register, register)) if condition.bound in (0, SIGN) else ("cmp", (register, condition.bound))
    return (Instruction(*test), Instruction(jumps[condition.kind][holds], (label,)))


def _leave(machine: Machine, before: Assignment, point: Point) -> list[Assignment]:
    region = point.region
    at = dict(zip(point.live, before.registers, strict=True))
    header = dict(zip(point.header, before.headers[-1], strict=True))
    # What a shift count displaced goes home.
    moves: Moves = {r: (at[v], v.lanes) for v, r in header.items() if v in point.event.after and at[v] != r}
    constants: list[Instruction] = []
    for phi, following in point.event.left:
        if following.constant is not None:
            constants.append(machine.load_constant(header[phi], following))
        elif at[following] != header[phi]:
            moves[header[phi]] = (at[following], phi.lanes)
    ordered = machine.in_order(moves)
    items: list[Item] = [*ordered, *constants]
    if region.kind == "loop":
        assert region.condition is not None
        test, again = _branch(region.condition, at, Label(f"{region.name}_0"), holds=True)
        # Behind the test: mov 0, for xor would write the flags.
        zeros = (Instruction("mov", (c.operands[0], 0)) if c.mnemonic == "xor" else c for c in constants)
        items = [test, *ordered, *zeros, again]
    elif point.event.number < len(region.bodies) - 1 and not region.falls:
        items.append(Instruction("jmp", (Label(f"{region.name}_end"),)))
    return [before.then((), EXTRA * len(ordered), _given(items))]


def _given(items: Items) -> Callable[[], Items]:
    return lambda: items
