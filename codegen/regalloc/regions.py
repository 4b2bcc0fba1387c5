"""Edges at regions: assign registers to carried values, branch, and at the end of a body restore the assignment."""

from collections.abc import Iterator

from setwise.codegen.ir.operations import SIGN
from setwise.codegen.ir.values import Condition, Region, Value
from setwise.codegen.machine.code import Instruction, Item, Label, Register
from setwise.codegen.regalloc.candidates import REGISTERS, Point, bitset
from setwise.codegen.regalloc.edges import EXTRA, NOTHING, Assignment, Edge, Edges, Items, chained, emit
from setwise.codegen.regalloc.machine import Machine, Moves
from setwise.codegen.targets.operands import sized


def region_edges(edges: Edges, point: Point, before: Assignment) -> list[Edge]:
    """Return the edges of a step that enters or exits a region, or begins or leaves a body."""
    if point.event.kind == "enter":
        return _enter(edges, before, point, point.region)
    if point.event.kind == "leave":
        return _leave(edges.machine, before, point)
    _, headers, saved = before
    registers = point.keep(headers[-1])
    if point.event.kind == "body":
        label = () if point.region.kind == "when" else (Label(f"{point.region.name}_{point.event.body}"),)
        return [((registers, headers, saved), 0, emit(label))]
    label = () if point.region.kind == "loop" else (Label(f"{point.region.name}_end"),)
    return [((registers, headers[:-1], saved), 0, emit(label))]


def _enter(edges: Edges, before: Assignment, point: Point, region: Region) -> list[Edge]:
    registers, headers, saved = before
    at = dict(zip(point.live, registers, strict=True))
    asked = next(iter(region.tested), None) if region.kind == "when" else region.index
    options: list[Edge] = [((point.keep(registers), headers, saved), 0, NOTHING)]
    for number, (phi, init) in enumerate(zip(region.phis[0], region.inits, strict=True)):
        later = bitset(at[v] for v in region.inits[number + 1 :] if v.constant is None)
        options = [
            following
            for option in options
            for following in chained(option, _carried(edges, option[0], phi, init, at, later, asked))
        ]
    go = emit(_go(region, at))
    return [
        step
        for option in options
        for registers, _, saved in option[:1]
        for step in chained(option, [((registers, (*headers, registers), saved), 0, go)])
    ]


def _carried(
    edges: Edges, before: Assignment, phi: Value, init: Value, at: dict[Value, int], later: int, asked: Value | None
) -> list[Edge]:
    """Return edges that give one carried value its register: that of its initial value, or another one.

    `at` has the registers of live values, `later` those of the initial values behind; `asked` is tested on entry.
    """
    machine = edges.machine
    registers, headers, saved = before
    reserved = 1 << at[asked] if asked in at else 0
    taken = bitset(registers)
    source = at.get(init)
    if source is not None and not (taken if init is asked else taken | reserved) >> source & 1:
        return [(((*registers, source), headers, saved), 0, NOTHING)]
    steps: list[Edge] = []
    for register, cost in edges.registers_for(phi.file, edges.wants.get(phi), taken | reserved | later, saved):
        if source is None:
            item = machine.load_constant(register, init)
        else:
            item, cost = machine.move(register, source, phi.lanes), cost + EXTRA
        steps.append((((*registers, register), headers, saved | edges.to_save[register]), cost, emit((item,))))
    return steps


def _go(region: Region, at: dict[Value, int]) -> Items:
    """Return test and jump past a when, or jumps into a switch; nothing for a loop. `at` has registers of values."""
    if region.kind == "when":
        assert region.condition is not None
        return _branch(region.condition, at, Label(f"{region.name}_end"), holds=False)
    if region.kind == "switch":
        assert region.index is not None
        register = REGISTERS[at[region.index]]
        return (Instruction("jmp", (register,)),) if region.addressed else tuple(_compared(region, register))
    return ()


def _compared(region: Region, register: Register) -> Iterator[Instruction]:
    """Yield comparisons and jumps of a switch: cases by twos, the last first, 1 perhaps alone. Case 0 follows."""
    number = len(region.bodies)
    for case in range(number - 2, 0, -2):
        yield Instruction("cmp", (register, case))
        yield Instruction("jz", (Label(f"{region.name}_{case}"),))
        yield Instruction("jae", (Label(f"{region.name}_{case + 1}"),))
    if number % 2 == 0:
        yield Instruction("test", (register, register))
        yield Instruction("jnz", (Label(f"{region.name}_1"),))


_TESTS = {"general": "test", "vector": "vptest", "mask": "kortestb"}
_JUMPS = {1: ("jnz", "jz"), SIGN: ("js", "jns")}
"""The jumps that are taken unless a value is below these bounds, and if it is. They need only a test of the value."""


def _branch(condition: Condition, at: dict[Value, int], label: Label, *, holds: bool) -> Items:
    """Return a test, and a jump to a label that is taken if the condition's outcome is `holds`."""
    register = sized(REGISTERS[at[condition.value]], condition.value.lanes)
    itself = condition.bound in _JUMPS
    test = (_TESTS[register.file], (register, register)) if itself else ("cmp", (register, condition.bound))
    jump = _JUMPS.get(condition.bound, ("jae", "jb"))[holds == (condition.kind == "below")]
    return (Instruction(*test), Instruction(jump, (label,)))


def _leave(machine: Machine, before: Assignment, point: Point) -> list[Edge]:
    registers, headers, saved = before
    region = point.region
    at = dict(zip(point.live, registers, strict=True))
    header = dict(zip(point.header, headers[-1], strict=True))
    # A value that the body has moved, as for a shift count, returns to its register.
    moves: Moves = {r: (at[v], v.lanes) for v, r in header.items() if v in point.event.live_after and at[v] != r}
    constants: list[Instruction] = []
    for phi, following in point.event.phi_inputs:
        if following.constant is not None:
            constants.append(machine.load_constant(header[phi], following))
        elif at[following] != header[phi]:
            moves[header[phi]] = (at[following], phi.lanes)
    ordered = machine.in_order(moves)
    items: list[Item] = [*ordered, *constants]
    if region.kind == "loop":
        assert region.condition is not None
        test, again = _branch(region.condition, at, Label(f"{region.name}_0"), holds=True)
        # xor would overwrite the flags of the test.
        zeros = (Instruction("mov", (c.operands[0], 0)) if c.mnemonic == "xor" else c for c in constants)
        items = [test, *ordered, *zeros, again]
    elif point.event.body < len(region.bodies) - 1 and not region.falls:
        items.append(Instruction("jmp", (Label(f"{region.name}_end"),)))
    return [(((), headers, saved), EXTRA * len(ordered), emit(items))]
