"""Moves are fewest: an exhaustive search over machine states finds no allocation of the same graph with fewer.

The search is another one than the code's own, and freer: it may carry out the operations in any order that their
arguments allow, has as many registers as it likes, and may copy any value anywhere at any time. A state is which
operations are done, which values lie in registers, and what the result register holds; registers are otherwise alike.
Only copies cost.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from heapq import heappop, heappush
from itertools import count as ticket

import pytest

from setwise.analysis.code.count import count
from setwise.analysis.code.decode import Binary
from setwise.codegen.assemble import assemble
from setwise.codegen.board import DIR8
from setwise.codegen.catalogue import find
from setwise.codegen.ir.graph import Graph, postorder
from setwise.codegen.ir.operations import COMMUTATIVE
from setwise.codegen.ir.values import Value, parameter
from setwise.codegen.kernel import Kernel, plan
from setwise.codegen.lower import lower
from setwise.codegen.passes.select import select
from setwise.codegen.passes.state import Block
from setwise.codegen.pipeline import lower_forms
from setwise.codegen.targets import TARGETS
from setwise.codegen.targets.table import Target
from tests.codegen.programs import routine, small

FAMILIES = ("dumb7", "kogge-stone")
FORMS = ("occluded", "attacks")
CONVENTIONS = ("wiki", "sysv", "win64")


@dataclass(frozen=True)
class Operation:
    """An operation by numbers: it reads values in registers, and may write over some of them, or anywhere (`free`)."""

    reads: frozenset[int]
    overwrites: frozenset[int]
    free: bool


@dataclass(frozen=True)
class Puzzle:
    """What the search has to do: value number i is made by operation i; a parameter has no operation."""

    operations: tuple[Operation | None, ...]
    result: int
    in_result_register: int | None = None
    """The parameter that comes in the result register, if one does."""


def puzzle(graph: Graph, target: Target, first: int | None = None, block: Block | None = None) -> Puzzle:
    """The puzzle of a selected graph without regions; a copy is the value itself, a constant needs no register.

    Operations are number_of in the order of the block, if there is one.
    """
    number: dict[Value, int] = {}
    operations: list[Operation | None] = []
    by_graph = postorder((*graph.parameters, *graph.results))
    for value in by_graph if block is None else (*graph.parameters, *block.items):
        assert isinstance(value, Value), "straight code only"
        assert value.region is None, "straight code only"
        if value.op == "copy":
            number[value] = number[value.args[0]]
        elif value.constant is None:
            number[value] = len(operations)
            operations.append(_operation(value, number, target))
    (result,) = graph.results
    return Puzzle(tuple(operations), number[result], first)


def _operation(value: Value, number: dict[Value, int], target: Target) -> Operation | None:
    if value.op == "param":
        return None
    rows = target.rows_for(value)
    assert rows, f"no row for {value.op}"
    reads = [number[arg] for arg in value.args if arg.constant is None]
    over = reads if value.op in COMMUTATIVE else reads[:1]
    tied = any(row.tied for row in rows)
    return Operation(frozenset(reads), frozenset(over if tied else ()), not all(row.tied for row in rows))


@dataclass(frozen=True)
class State:
    """Which operations are done, how often each value lies in a register, and the value in the result register."""

    done: frozenset[int]
    registers: tuple[tuple[int, int], ...]
    result: int | None


def fewest(task: Puzzle, at_most: int, *, in_order: bool = False) -> int | None:
    """The least number of moves that solves the puzzle; None if that is more than `at_most`.

    `in_order` allows the operations only in the order of their numbers.
    """
    parameters = {i for i, operation in enumerate(task.operations) if operation is None}
    start = _state(task, frozenset(parameters), dict.fromkeys(parameters - {task.in_result_register}, 1), None)
    if task.in_result_register is not None:
        start = State(start.done, start.registers, task.in_result_register)
    order = ticket()
    best = {start: 0}
    heap = [(0, next(order), start)]
    while heap:
        cost, _, state = heappop(heap)
        if best[state] < cost:
            continue
        if len(state.done) == len(task.operations) and state.result == task.result:
            return cost
        for price, after in _following(task, state, in_order):
            total = cost + price
            if total <= at_most and total < best.get(after, at_most + 1):
                best[after] = total
                # Of states that cost the same the one furthest on goes first; that changes no answer.
                heappush(heap, (total, -len(after.done) * 1_000_000 + next(order), after))
    return None


def _following(task: Puzzle, state: State, in_order: bool) -> Iterator[tuple[int, State]]:
    there = dict(state.registers)
    held = {*there} | ({state.result} - {None})
    for value in held:
        assert value is not None
        yield 1, _state(task, state.done, {**there, value: there.get(value, 0) + 1}, state.result)
        yield 1, _state(task, state.done, there, value)
    for made, operation in enumerate(task.operations):
        if made in state.done:
            continue
        assert operation is not None
        if operation.reads <= held:
            done = state.done | {made}
            for source in operation.overwrites:
                if source in there:
                    left = {**there, source: there[source] - 1}
                    yield 0, _state(task, done, {**left, made: 1}, state.result)
                if source == state.result:
                    yield 0, _state(task, done, there, made)
            if operation.free:
                yield 0, _state(task, done, {**there, made: 1}, state.result)
                yield 0, _state(task, done, there, made)
        if in_order:
            return


def _state(task: Puzzle, done: frozenset[int], registers: dict[int, int], result: int | None) -> State:
    """A state without the values that nobody reads any more: to hold them helps nobody."""
    wanted = _wanted(task, done)
    kept = sorted((value, often) for value, often in registers.items() if often and value in wanted)
    return State(done, tuple(kept), result if result in wanted else None)


@cache
def _wanted(task: Puzzle, done: frozenset[int]) -> frozenset[int]:
    undone = (op.reads for i, op in enumerate(task.operations) if op is not None and i not in done)
    return frozenset({task.result}).union(*undone)


@cache
def least(task: Puzzle, at_most: int) -> int | None:
    """`fewest`, asked once for every shape of graph."""
    return fewest(task, at_most)


def moves(kernel: Kernel) -> int:
    """Moves in the bytes of a kernel."""
    assembled = assemble(kernel.code)
    return count(Binary(assembled.text, assembled.data, assembled.data_offset)).moves


def of_kernel(kernel: Kernel, block: Block | None = None) -> Puzzle:
    """The puzzle that a kernel is a solution of."""
    used = kernel.convention.places([p.lanes for p in kernel.selected.parameters])
    result = kernel.convention.result_for(kernel.selected.results[0].lanes)
    return puzzle(kernel.selected, kernel.target, used.index(result) if result in used else None, block)


@pytest.mark.parametrize("isa", ["x86-64", "bmi2"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("family", FAMILIES)
def test_no_allocation_has_fewer_moves(family: str, form: str, isa: str) -> None:
    for direction in DIR8:
        for abi in CONVENTIONS:
            kernel = lower(find(f"{family}.{form}.{direction.name}"), isa, abi)
            ours = moves(kernel)
            # None would mean that the search cannot even do what our kernel does; less, that it does better.
            assert least(of_kernel(kernel), ours) == ours, f"{kernel.name} {isa} {abi}"
            assert kernel.exact


@pytest.mark.parametrize("name", ["dumb7.attacks.sout", "kogge-stone.attacks.sout", "kogge-stone.occluded.noEa"])
def test_an_allocation_with_a_needless_move_is_caught(name: str) -> None:
    kernel = lower(find(name), "x86-64", "sysv")
    worse = moves(kernel) + 1
    found = fewest(of_kernel(kernel), worse)
    assert found is not None
    assert found < worse


def test_the_search_knows_the_forms() -> None:
    a, b = parameter(0), parameter(1)

    def needed(result: Value, isa: str = "x86-64", first: int | None = None) -> int | None:
        target = TARGETS[isa]
        return fewest(puzzle(select(Graph((a, b), (result,)), target)[0], target, first), 9)

    assert needed(a & b) == 1  # two operands: one of them must come to the result register
    assert needed(a & b, first=1) == 0  # ... unless one is there: and may overwrite either
    assert needed(a - b, first=1) == 1  # ... sub only its first
    assert needed(a + b) == 0  # lea writes anywhere
    assert needed(a << 3) == 0
    assert needed(a << 4) == 1
    assert needed(~a & b, "bmi2") == 0  # andn writes anywhere
    assert needed(~a & b) == 1
    assert needed(a.rotate(8), "bmi2") == 0  # so does rorx
    assert needed(a.rotate(8)) == 1
    assert needed((a >> 8) ^ a) == 1
    assert needed((a >> 8) ^ a, first=0) == 1  # a is needed twice, wherever it comes
    assert needed(a) == 1
    assert needed(a, first=0) == 0
    assert needed(a.copy() & 0xFF0) == 1  # a copy is no operation, a constant needs no register


@pytest.mark.parametrize(
    ("isa", "abi"), [("x86-64", "wiki"), ("x86-64", "win64"), ("bmi2", "sysv"), ("sse2", "sysv"), ("sse2", "wiki")]
)
def test_straight_code_in_its_order_needs_no_more(isa: str, abi: str) -> None:
    """Wherever a parameter comes, in the result's register too."""
    for seed in range(12):
        straight = routine(small(random.Random(seed), ("and", "or", "xor", "sub", "shl", "shr"), 8), 2, batched=True)
        state = next(lower_forms(plan(straight, TARGETS[isa], abi, None)))
        if any(isinstance(item, Value) and item.op not in ("copy", "load-constant") for item in state.block.items):
            ours = moves(state.kernel)
            assert fewest(of_kernel(state.kernel, state.block), ours, in_order=True) == ours, (seed, state.block.items)
            assert state.kernel.exact
