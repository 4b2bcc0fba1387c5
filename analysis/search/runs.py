"""Code with jumps, tried before it is proved: a few calls of it are stepped, and most wrong code shows in the first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from setwise.analysis.code.decode import Binary
from setwise.analysis.run.caller import word_at
from setwise.analysis.run.contracts import Contract
from setwise.analysis.run.steps import Machine, Start, Trace
from setwise.analysis.run.task import Task
from setwise.analysis.semantics.table import SemanticsError

_CALLS = 16
_BOARDS = (23, 7, 8, 0)
"""How many boards the arrays of a call have: with those that are left over of any round, and without, and none."""
_PATIENCE = 4
"""How many times as long as the code that it comes from may code go on."""


@dataclass(frozen=True)
class _Call:
    registers: Mapping[str, Start]
    stack: Mapping[int, int | str]
    memory: Mapping[str, bytes]
    expected: tuple[int, ...]
    """The words of all results, in the order of the task's, lane by lane; of arrays those of all boards."""


class Runs:
    """Calls that code does as its contract has it, and whether other code does them, too."""

    def __init__(self, contract: Contract, task: Task, binary: Binary) -> None:
        self.task = task
        self._calls: list[tuple[_Call, int]] = []  # with the most instructions that it may take
        for call in _arrays(contract, task) if task.elements else _calls(contract, task):
            steps = self._right(binary, call, 1_000_000)
            if steps:
                self._calls.append((call, _PATIENCE * steps))

    def right(self, binary: Binary) -> bool:
        """Whether the code does all of them; one that does not is wrong."""
        return all(self._right(binary, call, limit) for call, limit in self._calls)

    def _right(self, binary: Binary, call: _Call, limit: int) -> int:
        """How many instructions a call takes; 0 where it does not give what it should, or leaves what is its own."""
        try:
            machine = Machine(binary, call.registers, call.memory, stack=call.stack)
            before = dict(machine.state.registers)
            trace = machine.run(limit)
        except (SemanticsError, ValueError):  # also bytes that are no instruction
            return 0
        kept = all(trace.registers[name] == before[name] for name in self.task.saved)
        return len(trace.steps) if kept and self._words(trace) == call.expected else 0

    def _words(self, trace: Trace) -> tuple[int, ...]:
        if self.task.elements:
            block = trace.buffers[self.task.arrays[-1]]
            return tuple(int.from_bytes(block[at : at + 8], "little") for at in range(0, len(block), 8))
        block = trace.buffers.get("results", b"")
        return tuple(
            word_at(result.place, lane, trace.registers, trace.vectors, block)
            for result in self.task.results
            for lane in range(result.place.lanes)
        )


def _rows(contract: Contract, number: int) -> tuple[list[dict[str, int]], list[list[int]]]:
    """So many cases: the words of the parameters by their names, and those of the results."""
    from setwise.analysis.run.cases import few_cases  # it needs NumPy, which the command's help does not

    cases = few_cases(contract, number)
    rows = zip(*(column.tolist() for column in cases.columns), strict=True)
    return [dict(zip(cases.names, row, strict=True)) for row in rows], cases.expected.tolist()


def _calls(contract: Contract, task: Task) -> Iterator[_Call]:
    """Calls with a board in each argument, or one in each lane of it."""
    rows, expected = _rows(contract, _CALLS * task.lanes)
    size = 8 * sum(result.place.lanes for result in task.results)
    for start in range(0, len(rows), task.lanes):
        registers: dict[str, Start] = {}
        stack: dict[int, int | str] = {}
        for argument in task.arguments:
            place = argument.place
            results = argument.kind == "results"
            words = [0 if results else row[argument.name] for row in rows[start : start + place.lanes]]
            if place.file == "stack":
                stack[place.offset] = "results" if results else words[0]
            else:
                registers[place.register] = "results" if results else words if place.file == "vector" else words[0]
        wanted = expected[start : start + task.lanes]
        words = [wanted[lane][at] for at, result in enumerate(task.results) for lane in range(result.place.lanes)]
        yield _Call(registers, stack, {"results": bytes(size)}, tuple(words))


def _arrays(contract: Contract, task: Task) -> Iterator[_Call]:
    """Calls with arrays, the result apart."""
    for number in _BOARDS:
        rows, expected = _rows(contract, number) if number else ([], [])
        registers: dict[str, Start] = {}
        stack: dict[int, int | str] = {}
        memory: dict[str, bytes] = {}
        for argument in task.arguments:
            value: int | str = number if argument.kind == "count" else argument.name
            if argument.kind != "count":
                memory[argument.name] = b"".join(row.get(argument.name, 0).to_bytes(8, "little") for row in rows)
            if argument.place.file == "stack":
                stack[argument.place.offset] = value
            else:
                registers[argument.place.register] = value
        yield _Call(registers, stack, memory, tuple(row[0] for row in expected))
