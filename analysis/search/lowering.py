"""The translation of a program back to code, with codegen's passes, which schedule it and allocate registers."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace

from setwise.analysis.code.binary import assembled_code
from setwise.analysis.code.decode import Binary
from setwise.analysis.search.forms import Form, Spelling, takes_all_registers
from setwise.analysis.search.program import Argument, Known, Program, ProgramStep
from setwise.codegen.assemble import NotEncodable
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.operations import COMMUTATIVE
from setwise.codegen.ir.values import Value, parameter
from setwise.codegen.kernel import Plan
from setwise.codegen.machine.code import Code
from setwise.codegen.passes.schedule import schedule_pass
from setwise.codegen.passes.select import load_constant
from setwise.codegen.passes.state import Block, State
from setwise.codegen.pipeline import CODE, run_passes
from setwise.codegen.targets.table import Row, Target


@dataclass(frozen=True)
class _Lifted(Target):
    """A target extended by the instructions of a program."""

    def rows_for(self, value: Value) -> tuple[Row, ...]:
        """Return the row that a lifted value carries, or else the target's own rows."""
        return (value.attr.row,) if isinstance(value.attr, Form) else super().rows_for(value)


def shortest(program: Program, plan: Plan) -> Code | None:
    """Return a program's code in its own order, or rescheduled if that has fewer instructions; None if it has none."""
    steps = {step.number: step for step in program.steps}
    carries = [step for step in program.steps if step.form.carry is not None]
    for step in carries:  # the carry must still be that of the same operation
        setter = steps.get(step.args[-1]) if isinstance(step.args[-1], int) else None
        if setter is None or (setter.form, setter.args) != (step.form.carry, step.args[len(step.form.files) : -1]):
            return None
    codes = []
    for order in (lambda state: state, schedule_pass)[: 1 if carries else 2]:  # a schedule may part it from its reader
        try:
            codes.append(_code(program, plan, order))
        except ValueError:  # out of registers, or too large a frame
            continue
    return min(codes, key=lambda code: len(code.items), default=None)


def binary_of_code(code: Code) -> Binary | None:
    """Return the assembled code, or None if no assembler can encode it."""
    try:
        return assembled_code(code)
    except NotEncodable:
        return None


def _code(program: Program, plan: Plan, order: Callable[[State], State]) -> Code:
    target = _Lifted(**{field.name: getattr(plan.target, field.name) for field in fields(Target)})
    if not all(takes_all_registers(step.form) for step in program.steps):
        target = replace(target, vectors=min(16, target.vectors))
    writing = _Writing(program, plan, target)
    results = tuple(writing.values())
    block = Block(tuple(writing.items))
    state = State(plan.routine, plan.layout, plan.routine.descriptions[0], target=target, convention=plan.convention)
    state = order(replace(state, graph=Graph(writing.parameters, results), block=block))
    return run_passes(CODE, state).code


class _Writing:
    """The translation of a program to values of codegen; `items` are its instructions, in order."""

    def __init__(self, program: Program, plan: Plan, target: Target) -> None:
        self.program, self.target = program, target
        given = plan.routine.contract.parameters
        lanes = [p.lanes for p in program.parameters[: len(given)]]
        self.parameters = tuple(parameter(at, count) for at, count in enumerate(lanes))
        self.items: list[Value] = []
        self.known: dict[int, Value] = {}
        self._loaded: dict[Value, Value] = {}
        self._constants: dict[tuple[tuple[int, ...], int], Value] = {}
        places = plan.convention.places(lanes)
        self._stack = {at: place for at, place in enumerate(places) if isinstance(place, int)}

    def values(self) -> Iterator[Value]:
        """Create all values and append the instructions to `items`. Yield the stores, then the results in registers."""
        written = []
        for step in self.program.steps:
            value = self._made(step)
            self.items.append(value)
            self.known[step.number] = value
            if step.form.file is None:
                written.append(value)
        yield from written
        for result in self.program.results:
            yield self._result(result)

    def _result(self, result: Argument) -> Value:
        if isinstance(result, int):
            return self._value(result)
        lanes = 1 if result.file == "general" else 8
        constant = self._constant(result, lanes)
        return constant if lanes == 1 else self._in_register(constant)

    def _made(self, step: ProgramStep) -> Value:
        form, args = step.form, list(step.args[: len(step.form.files)])
        row = form.row
        if form.op in COMMUTATIVE and not row.tied and isinstance(args[0], Known):
            args.reverse()
        holes = row.holes if isinstance(row, Spelling) else ()
        bits = {"abc".index(hole.letter): hole.bits for hole in holes if hole.letter != "d"}
        values = []
        last = len(args) - 1
        either = form.op in COMMUTATIVE and not all(isinstance(arg, Known) for arg in args)
        for at, arg in enumerate(args):
            if isinstance(arg, int):
                values.append(self._value(arg))
                continue
            lanes = bits.get(at, form.bits) // 64 if arg.file == "vector" else 1
            constant = self._constant(arg, lanes)
            folds = "abc"[at] in row.folds or (either and at != last and "abc"[last] in row.folds)
            values.append(constant if folds else self._in_register(constant))
        if form.op in COMMUTATIVE and row.tied and values[0].constant is not None:
            values.reverse()
        return form.value(*values)

    def _value(self, number: int) -> Value:
        if number not in self.known:
            if number in self._stack:
                self.known[number] = Value("argument", (), self._stack[number])
                self.items.append(self.known[number])
            else:
                self.known[number] = self.parameters[number]
        return self.known[number]

    def _constant(self, known: Known, lanes: int) -> Value:
        words = known.words[:lanes]
        if (words, lanes) not in self._constants:
            self._constants[words, lanes] = Value("const", (), words, lanes)
        return self._constants[words, lanes]

    def _in_register(self, constant: Value) -> Value:
        if constant not in self._loaded:
            self._loaded[constant] = load_constant(constant)
            self.items.append(self._loaded[constant])
        return self._loaded[constant]
