"""The pipeline: from a routine's description to code, as one tuple of named passes.

    trace       the description is run on traced parameters: the graph
    rays        steps, runs and paths become shifts and masks
    algebra     equal values are made once, masks are moved, joined and dropped
    selection   every operation becomes one that the target has an instruction for, or is refused
    arguments   parameters that the convention passes on the stack are read from there
    order       values get their places in blocks
    schedule    another order where that spares moves
    spills      values that find no register wait on the stack
    registers   the exact search for the fewest moves
    flags       tests that repeat what the flags say already go
    operands    operands that commute come in the order that every assembler encodes alike
    frame       saved registers, stack slots, the way out
    checked     every label and datum named is there

Which description of a routine is best, and which masks lie on a path (setwise.codegen.passes.expand.Masks), no pass
decides alone: every way goes as far as selection, and those that promise the shortest code go on. The best is ordered
once more, so that it ends sooner, where that adds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, chain, product
from operator import itemgetter
from typing import Any

from setwise.codegen.board import DIR8, DIRECTION_SETS
from setwise.codegen.describe.graph import Graph, rewrite
from setwise.codegen.describe.layout import Layout
from setwise.codegen.describe.routine import Description, Routine
from setwise.codegen.describe.values import WRITES, Value, parameter
from setwise.codegen.machine.code import Code, Datum, Instruction, Label, Memory, Register
from setwise.codegen.machine.convention import CONVENTIONS, SYSV, Convention
from setwise.codegen.passes.expand import Masks, expand
from setwise.codegen.passes.frame import Frame, with_frame, without_needless_tests
from setwise.codegen.passes.live import live_events
from setwise.codegen.passes.operands import in_short_order
from setwise.codegen.passes.place import Block, place
from setwise.codegen.passes.schedule import estimate, schedule, sooner
from setwise.codegen.passes.select import Refused, select
from setwise.codegen.passes.shallow import shallow
from setwise.codegen.passes.simplify import simplify
from setwise.codegen.passes.spill import spill
from setwise.codegen.registers.allocate import EFFORT, Allocated, Allocation
from setwise.codegen.registers.choices import OutOfRegisters
from setwise.codegen.targets.general import BMI2, X86_64
from setwise.codegen.targets.table import ARGUMENT, Target
from setwise.codegen.targets.vector import AVX2, AVX512, SSE2

TARGETS = {target.name: target for target in (X86_64, BMI2, SSE2, AVX2, AVX512)}


@dataclass(frozen=True)
class Unit:
    """A routine on its way down; each pass fills in the next field."""

    routine: Routine
    target: Target
    convention: Convention
    layout: Layout
    describe: Description
    masks: Masks = Masks()
    graph: Graph = Graph((), ())
    selected: Graph = Graph((), ())
    data: tuple[Datum, ...] = ()
    block: Block = Block(())
    slots: int = 0
    allocated: Allocated = Allocated((), (), True)
    code: Code = Code("", ())


@dataclass(frozen=True)
class Kernel:
    """A routine for one instruction set, layout and calling convention: its code, and the graph that it came from.

    `selected` is that graph in the target's operations, before registers and stack are thought of.
    """

    routine: Routine
    target: Target
    convention: Convention
    layout: Layout
    selected: Graph
    code: Code
    exact: bool
    """Whether the search for registers weighed every allocation of its order."""

    @property
    def name(self) -> str:
        """The routine's name."""
        return self.routine.name


def _trace(unit: Unit) -> Unit:
    given = unit.routine.contract.parameters
    lanes = tuple(unit.layout.lanes if unit.layout.boards and not p.scalar else 1 for p in given)
    values = tuple(parameter(i, each) for i, each in enumerate(lanes))
    results = unit.describe(unit.layout, *values)
    if given[-1].kind == "results":
        starts = accumulate((8 * result.lanes for result in results), initial=0)
        results = tuple(Value("put", (values[-1], result), at) for result, at in zip(results, starts, strict=False))
    return replace(unit, graph=Graph(values, results))


def _rays(unit: Unit) -> Unit:
    return replace(unit, graph=expand(unit.graph, unit.masks))


def _algebra(unit: Unit) -> Unit:
    return replace(unit, graph=simplify(unit.graph, loose=unit.masks.ranks))


def _selection(unit: Unit) -> Unit:
    graph, data = select(unit.graph, unit.target)
    return replace(unit, graph=graph, selected=graph, data=data)


def _arguments(unit: Unit) -> Unit:
    """Parameters that find no register are read from the stack."""
    parameters = unit.graph.parameters
    places = unit.convention.places([p.lanes for p in parameters])
    stack = [value for value, place in zip(parameters, places, strict=True) if place is None]
    read = {value: Value("argument", (), 8 * at) for at, value in enumerate(stack)}
    body = rewrite(Graph((), unit.graph.results), lambda value, old: read.get(old, value))
    return replace(unit, graph=Graph(parameters, body.results))


def _order(unit: Unit) -> Unit:
    return replace(unit, block=place(unit.graph))


def _schedule(unit: Unit) -> Unit:
    room = len(unit.convention.scratch)
    return replace(unit, block=schedule(unit.block, unit.graph.results, unit.target, room))


def _spills(unit: Unit) -> Unit:
    room = len(unit.convention.scratch) + len(unit.convention.saved)
    spilled = spill(unit.block, unit.graph.results, room)
    graph = Graph(unit.graph.parameters, spilled.results)
    return replace(unit, block=spilled.block, slots=spilled.slots, graph=graph)


def _registers(unit: Unit) -> Unit:
    pool: dict[tuple[int, ...], str] = {}

    def constant_in_memory(value: Value) -> Memory:
        alike = unit.target.repeats and value.lanes > 1 and len(set(value.attr)) == 1
        numbers = value.attr[:1] if alike else value.attr
        symbol = pool.setdefault(numbers, f"c{len(pool)}")
        return Memory(64 * len(numbers), symbol=symbol, broadcast=alike)

    parameters = unit.graph.parameters
    placed = zip(parameters, unit.convention.places([p.lanes for p in parameters]), strict=True)
    places = {value: place for value, place in placed if place is not None}
    results = tuple((r, unit.convention.result_for(r.lanes)) for r in unit.graph.results if r.op not in WRITES)
    events = live_events(unit.block, unit.graph.results)
    try:
        allocated = Allocation(unit.target, unit.convention, constant_in_memory).run(events, places, results)
    except OutOfRegisters:
        # A tight fit: look further before giving up.
        search = Allocation(unit.target, unit.convention, constant_in_memory, effort=20 * EFFORT)
        allocated = search.run(events, places, results)
    constants = tuple(Datum(name, numbers, 8, 8 * len(numbers)) for numbers, name in pool.items())
    return replace(unit, allocated=allocated, data=(*unit.data, *constants))


def _flags(unit: Unit) -> Unit:
    return replace(unit, allocated=replace(unit.allocated, items=without_needless_tests(unit.allocated.items)))


def _operands(unit: Unit) -> Unit:
    return replace(unit, allocated=replace(unit.allocated, items=in_short_order(unit.allocated.items)))


def _frame(unit: Unit) -> Unit:
    frame = Frame(unit.allocated.saved, unit.slots)
    wide_result = any(result.lanes > 2 for result in unit.graph.results if result.op not in WRITES)
    items = with_frame(unit.allocated.items, frame, unit.convention, "avx" in unit.target.features, wide_result)
    read = {o.symbol for item in items if isinstance(item, Instruction) for o in item.operands if isinstance(o, Memory)}
    # A constant whose instructions all took it as an immediate lies nowhere.
    data = tuple(datum for datum in unit.data if datum.label in read)
    return replace(unit, code=Code(unit.routine.name, items, data))


def _checked(unit: Unit) -> Unit:
    """Every label and datum that is named is there, and no memory operand still waits for the frame."""
    code = unit.code
    labels = {item.name for item in code.items if isinstance(item, Label)}
    named = {value.name for datum in code.data for value in datum.values if isinstance(value, Label)}
    symbols = {datum.label for datum in code.data}
    for operand in (operand for instruction in code.instructions for operand in instruction.operands):
        if isinstance(operand, Label):
            named.add(operand.name)
        if isinstance(operand, Memory) and operand.symbol is not None and operand.symbol not in symbols:
            raise AssertionError(
                f"{code.name}: no datum is called {operand.symbol}" if operand.symbol != ARGUMENT else ""
            )
    if not named <= labels:
        raise AssertionError(f"{code.name}: no label is called {', '.join(sorted(named - labels))}")
    return unit


Pass = Callable[[Unit], Unit]

PASSES: tuple[tuple[str, Pass], ...] = (
    ("trace", _trace),
    ("rays", _rays),
    ("algebra", _algebra),
    ("selection", _selection),
    ("arguments", _arguments),
    ("order", _order),
    ("schedule", _schedule),
    ("spills", _spills),
    ("registers", _registers),
    ("flags", _flags),
    ("operands", _operands),
    ("frame", _frame),
    ("checked", _checked),
)

RAYS, FRONT, CHOICE, ORDER = 2, 3, 4, 7
"""After so many passes masks have done their work; a target is asked; ways are compared; values have their order."""


MOST_ENDS = 6
"""How many ways go on at most."""


def lower(routine: Routine, isa: str = "x86-64", abi: str = "sysv", lanes: int | None = None) -> Kernel:
    """The kernel of a routine; ValueError in one line where name, convention and routine do not go together."""
    target, convention = _target(routine, isa), _convention(routine, abi)
    layout = _layout(routine, target, lanes)
    ways = (replace(unit, convention=convention) for unit in _shortest(routine, target, layout))
    ordered = [_through(PASSES[CHOICE:ORDER], unit) for unit in ways]
    way, best = min(((unit, _through(PASSES[ORDER:], unit)) for unit in ordered), key=lambda pair: _size(pair[1]))
    best = _sooner(way, best)
    return Kernel(routine, target, convention, layout, best.selected, best.code, best.allocated.exact)


@cache
def _shortest(routine: Routine, target: Target, layout: Layout) -> tuple[Unit, ...]:
    """The ways to describe and mask a routine that promise the shortest code, selected but not yet in order."""
    masked = [_told(routine, layout, ranks) for ranks in ((False, True) if target.rotates else (False,))]
    ways = sorted(chain(*masked), key=lambda unit: (routine.descriptions.index(unit.describe), unit.masks))
    found: dict[Any, tuple[tuple[int, int], Unit]] = {}
    for unit in _different(ways):
        unit = _through(PASSES[FRONT:CHOICE], replace(unit, target=target))
        form = unit.graph.shape
        if form not in found:
            length = estimate(place(unit.graph), unit.graph.results, target, len(SYSV.scratch))
            found[form] = (length, unit.graph.depth), unit
    ends = sorted(found.values(), key=itemgetter(0))
    least = ends[0][0][0]
    return tuple(unit for (length, _), unit in ends if length <= least + 1)[:MOST_ENDS]


@cache
def _told(routine: Routine, layout: Layout, ranks: bool) -> tuple[Unit, ...]:
    """The ways to describe and mask a routine, with ranks in the masks or without, before any target is asked."""
    choices = product(routine.descriptions, (False, True))
    ways = [Unit(routine, X86_64, SYSV, layout, describe, Masks(inner, ranks)) for describe, inner in choices]
    expanded = _different([_through(PASSES[:RAYS], unit) for unit in ways])
    told = [_through(PASSES[RAYS:FRONT], unit) for unit in expanded]
    return (*told, *(replace(unit, graph=shallow(unit.graph)) for unit in told))


def _sooner(way: Unit, best: Unit) -> Unit:
    """The best code of a way, or that of an order which ends sooner, where registers can be found at no more moves."""
    block = sooner(way.block, way.graph.results, way.target, len(way.convention.scratch))
    if block is way.block:
        return best
    try:
        found = _through(PASSES[ORDER:], replace(way, block=block))
    except OutOfRegisters:
        return best
    return min(found, best, key=_size)


def _through(passes: Sequence[tuple[str, Pass]], unit: Unit) -> Unit:
    for _, step in passes:
        unit = step(unit)
    return unit


def _different(units: Sequence[Unit]) -> list[Unit]:
    """Of units with graphs alike the first."""
    found: dict[Any, Unit] = {}
    for unit in units:
        found.setdefault(unit.graph.shape, unit)
    return list(found.values())


def _layout(routine: Routine, target: Target, lanes: int | None) -> Layout:
    """Lanes are boards for a routine of one direction, directions for one of several."""
    if target.widths == (1,):
        if lanes not in (None, 1):
            raise ValueError(f"{target.name} has one lane: leave --lanes out, or use sse2, avx2 or avx512")
        return Layout()
    widths = tuple(width for width in target.widths if routine.boards or width > 2)
    if lanes is not None and lanes not in widths:
        raise ValueError(f"{routine.name} on {target.name} has {', '.join(map(str, widths))} lanes, not {lanes}")
    lanes = lanes or widths[0]
    # Four directions a register on purpose: left and right ones apart, so that they share their runs.
    mixes = (
        not routine.boards
        and target.has("rotl", lanes)
        and (lanes == 8 or len(DIRECTION_SETS.get(routine.direction, DIR8)) < 8)
    )
    return Layout(lanes, routine.boards, mixes)


def _size(unit: Unit) -> tuple[int, int, int]:
    """What makes code better: fewer instructions; then more of them moves, which cost least; then less waiting."""
    copies = ("mov", unit.target.move)
    moves = sum(i.mnemonic in copies and isinstance(i.operands[1], Register) for i in unit.code.instructions)
    return len(unit.code.instructions), -moves, unit.selected.depth


def _target(routine: Routine, isa: str) -> Target:
    if isa not in TARGETS:
        raise ValueError(f"unknown instruction set '{isa}': use one of {', '.join(TARGETS)}")
    if isa not in routine.isas:
        raise Refused(f"{routine.name} does not come for {isa}: use one of {', '.join(routine.isas)}")
    return TARGETS[isa]


def _convention(routine: Routine, abi: str) -> Convention:
    if abi not in CONVENTIONS:
        raise ValueError(f"unknown convention '{abi}': use one of {', '.join(CONVENTIONS)}")
    if abi == "wiki" and [p.kind for p in routine.contract.parameters] not in (
        ["board", "empty"],
        ["board", "occupied"],
    ):
        raise Refused(f"the wiki convention is for (sliders, empty) alone, not for {routine.name}: use sysv or win64")
    return CONVENTIONS[abi]


__all__ = ["PASSES", "TARGETS", "Kernel", "OutOfRegisters", "Refused", "lower"]
