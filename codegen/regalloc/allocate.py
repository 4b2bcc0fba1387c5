"""Register allocation: the search for the fewest moves, and among those for the allocation nearest to the description.

The search is A* over the steps of a routine in execution order. A node is an assignment: the register of each live
value. An edge is one way to carry out a step, at a cost. Equal assignments are one node, so all allocations of the
schedule are compared without listing them. The search is exact if its effort suffices. The cost consists, by weight, of

1. instructions that the allocation adds: moves, saves and restores of registers;
2. departures from the description: an in-place operator that leaves the register of its left operand, a copy that
   shares a live register, an overwritten operand other than the first, or one that makes way for the result;
3. new values in registers that are late in the order of the convention.
"""

from collections.abc import Sequence, Set
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from heapq import heappop, heappush, heappushpop
from itertools import count
from typing import Any, NamedTuple

from setwise.codegen.ir.operations import WRITES
from setwise.codegen.ir.orders import overwritable
from setwise.codegen.ir.values import Value, in_register, original
from setwise.codegen.machine.code import Datum, Instruction, Item, Memory, Register
from setwise.codegen.passes.liveness import ProgramPoint, program_points, reads
from setwise.codegen.passes.state import Allocation, State
from setwise.codegen.regalloc.candidates import RCX, REGISTERS, Registers, bitset, canonical_key, lay_out, number_of
from setwise.codegen.regalloc.edges import EXTRA, NOTHING, Assignment, Edge, Edges, Successors, emit, emitted
from setwise.codegen.regalloc.machine import Machine, Moves, OutOfRegisters, TooLong
from setwise.codegen.regalloc.regions import region_edges
from setwise.codegen.targets.table import Target

EFFORT = 4000
"""The most assignments that a first search expands, in equal shares for all steps. It is exact if no share runs out."""

SWITCHING = 5 * EFFORT
"""The same for a routine with a switch, whose carried values have many assignments; each body pays for a bad one."""

CACHED_PATHS = 1 << 12  # many directions of one fill have the same search

Results = tuple[tuple[Value, Register], ...]


class Bounds(NamedTuple):
    """Lower bounds on the instructions of a routine, for any choice of registers."""

    operations: int
    """The number of instructions without copies and saves, the return included."""
    copies: list[int]
    """The number of copies from each step on: two-operand forms whose operands to overwrite stay live; views too."""
    views: int
    """The number of views among them. A view sees less of its operand's register, or more, and needs no copy."""
    saves: int
    """The number of callee-saved registers that are needed when pressure is highest."""


class SearchPath(NamedTuple):
    """The result of a search: the number of the start and of each step's edge, the cost, and whether it is exact.

    If `numbers` is empty because the search stopped, `cost` is a limit: the search can find no path that costs less.
    """

    numbers: tuple[int, ...]
    cost: float
    exact: bool


@lru_cache(CACHED_PATHS)
def _paths(_: bytes) -> list[SearchPath]:
    """Return a list that is the same for all searches with this key. It holds their path once one has found it."""
    return []


class _RegisterSearch:
    """The search over the assignments of a routine, from the registers of its parameters to those of its results."""

    def __init__(
        self,
        machine: Machine,
        events: Sequence[ProgramPoint],
        bounds: Bounds,
        parameters: dict[Value, Register],
        results: Results,
    ) -> None:
        ends = bitset(number_of(register) for _, register in results)
        needed = {*events[0].live_after, *reads(events[0])} if events else {value for value, _ in results}
        entry = {value: number_of(register) for value, register in parameters.items() if value in needed}
        self.machine = machine
        self.results = results
        self.edges = Edges(machine, _wants(machine.target, events), ends)
        self.points = lay_out(events, tuple(entry), machine.target, machine.constant)
        self.live_at_end = self.points[-1].following if self.points else tuple(entry)
        self.bounds = [EXTRA * copies for copies in bounds.copies]
        self.views = bounds.views
        self.starts = _starts(self.edges, tuple(entry), (*entry.values(),))

    def allocate(self, effort: int, most: float) -> Allocation:
        """Return the cheapest allocation that is found by expanding at most `effort` assignments.

        Raises OutOfRegisters if there is none or the effort does not reach one, and TooLong if it adds more than `most`
        instructions.
        """
        too_much = EXTRA * (most + 1)
        known = _paths(self.canonical_key(effort))
        if not known or (not known[0].numbers and known[0].cost < too_much):
            known[:] = [self.search(effort, too_much)]
        if known[0].cost >= too_much:
            raise TooLong
        return self.along(known[0])

    def canonical_key(self, effort: int) -> bytes:
        """Return a key that is equal only for searches that find the same path."""
        at = {value: number for number, value in enumerate(self.live_at_end)}
        ends = [(at.get(value), number_of(register)) for value, register in self.results]
        starts = [registers for (registers, _, _), _, _ in self.starts]
        name, vectors = self.machine.convention.name, self.machine.target.vectors
        return canonical_key(vectors, self.points, self.edges.wants, (name, self.bounds, starts, ends, effort))

    @cached_property
    def successors(self) -> list[Successors]:
        """The successor functions of all steps, and of the end, where results move to their registers."""
        making, machine = self.edges.making, self.machine
        return [
            *(making(p) if p.event.kind == "make" else partial(region_edges, self.edges, p) for p in self.points),
            partial(_finish, machine, self.live_at_end, self.results),
        ]

    def along(self, way: SearchPath) -> Allocation:
        """Return the allocation of a path, with the instructions of its edges."""
        items: list[Item] = []
        steps = self.starts
        for number, successors in zip(way.numbers, (*self.successors, None), strict=True):
            after, _, writing = steps[number]
            items += emitted(writing)
            steps = successors(after) if successors else []
        _, _, saved = after
        registers = (register for number, register in enumerate(REGISTERS) if saved >> number & 1)
        return Allocation(tuple(items), tuple(registers), way.exact)

    def search(self, effort: int, too_much: float) -> SearchPath:
        """Return the cheapest path, without numbers if the search stops at `too_much`. Raise OutOfRegisters if none."""
        end = len(self.points)
        bounds = [*self.bounds, 0]
        share = effort // (end + 1)
        expanded = [0] * (end + 1)
        cheapest: list[dict[Assignment, list[int]]] = [{} for _ in range(end + 2)]
        """The assignments before each step, each with its least cost so far, in a list of one."""
        ticket = count()
        heap: list[tuple[int, int, int, Assignment, int, list[int], Any]] = [
            (bounds[0] + cost, 0, next(ticket), after, cost, [cost], ((), number))
            for number, (after, cost, _) in enumerate(self.starts)
        ]
        closed = -1  # the last step whose share is used up: no assignment up to there is expanded
        limit = too_much + EXTRA * self.views
        successors = self.successors
        first = None  # the first new successor of a node, not always its best, stays outside the heap: it is often next
        while heap or first is not None:
            least, key, _, before, spent, cheaper, way = heappop(heap) if first is None else heappushpop(heap, first)
            first = None
            at = -key
            if at > end:
                return SearchPath(_numbers(way), spent, closed < 0)
            if at <= closed or cheaper[0] < spent:
                continue
            if least >= limit:
                return SearchPath((), too_much, False)
            expanded[at] += 1
            if expanded[at] > share:
                closed = at
                continue
            known = cheapest[at + 1]
            bound = bounds[at + 1]
            for number, (after, more, _) in enumerate(successors[at](before)):
                cost = spent + more
                there = known.setdefault(after, least_there := [cost])
                if there is not least_there:
                    if cost >= there[0]:
                        continue
                    there[0] = cost
                reached = bound + cost, key - 1, next(ticket), after, cost, there, (way, number)
                if first is None:
                    first = reached
                else:
                    heappush(heap, reached)
        raise OutOfRegisters("more values are needed at once than there are registers: let loops carry fewer")


def _numbers(way: Any) -> tuple[int, ...]:
    """Return the numbers of a path, given as a list that is linked from the last number to the first."""
    numbers: list[int] = []
    while way:
        way, number = way
        numbers.append(number)
    return tuple(numbers[::-1])


def _wants(target: Target, events: Sequence[ProgramPoint]) -> dict[Value, int]:
    """Return the values that need a certain register, each with its number: shift counts, and their addends, in rcx."""
    wants: dict[Value, int] = {}
    values = [event.value for event in events if event.value is not None]
    for value in values:
        rows = target.rows_for(value)
        if rows and all("cl" in row.spellings for row in rows):
            wants[value.args[1]] = RCX
    for value in values:
        # A count may be a sum, as of equal parts: the parts are wanted in rcx too.
        if value in wants and value.op == "add":
            for arg in value.args:
                if arg.constant is None:
                    wants.setdefault(arg, RCX)
    return wants


def _starts(edges: Edges, live: tuple[Value, ...], registers: Registers) -> list[Edge]:
    """Return edges to the assignment at entry, and to others in which a parameter makes way for a shift count."""
    entry: Assignment = registers, (), 0
    starts: list[Edge] = [(entry, 0, NOTHING)]
    for value, register in zip(live, registers, strict=True):
        if edges.wanted >> register & 1 and edges.wants.get(value) != register:
            starts += edges.evict(entry, live, register, range(len(live)))
    return starts


def _finish(machine: Machine, live: tuple[Value, ...], results: Results, before: Assignment) -> list[Edge]:
    """Return the one edge behind the last step: it moves or loads the results to their registers."""
    lie, headers, saved = before
    registers = dict(zip(live, lie, strict=True))
    moves: Moves = {}
    constants: list[Instruction] = []
    for value, register in results:
        to = number_of(register)
        if value.constant is not None:
            constants.append(machine.load_constant(to, value))
        elif registers[value] != to:
            moves[to] = (registers[value], value.lanes)
    ordered = machine.in_order(moves)
    return [(((), headers, saved), EXTRA * len(ordered), emit((*ordered, *constants)))]


def lower_bounds(machine: Machine, events: Sequence[ProgramPoint]) -> Bounds:
    """Return lower bounds on the instructions of a routine, given its steps."""
    target = machine.target
    free = {file: len(registers) for file, registers in machine.free.items()}
    highest, fewest = dict(free), min(free.values())
    operations, views, copies = 1, 0, [0]
    for event in reversed(events):
        value, region = event.value, event.region
        forced = value is not None and value.op != "copy" and _needs_copy(target, value, event.live_after)
        copies.append(copies[-1] + forced)
        if value is not None:
            operations += not value.operation.free
            views += forced and value.operation.free
            if len(event.live_after) > fewest:
                held = [other.file for other in set(map(original, event.live_after)) if other.op not in WRITES]
                for file in highest:
                    highest[file] = max(highest[file], held.count(file))
        elif region is not None and event.kind == "enter":
            operations += (region.kind != "loop") + sum(init.constant is not None for init in region.inits)
        elif region is not None and event.kind == "leave":
            operations += (region.kind == "loop") + sum(value.constant is not None for _, value in event.phi_inputs)
    saves = sum([highest[file] - count for file, count in free.items()])
    return Bounds(operations, copies[::-1], views, saves)


def _needs_copy(target: Target, value: Value, after: Set[Value]) -> bool:
    """Return whether all forms overwrite an operand, and no operand that they may overwrite dies in a register."""
    tied = all(row.tied for row in target.rows_for(value))
    return tied and all(arg in after or not in_register(arg) for arg in overwritable(value))


def allocate_pass(state: State) -> State:
    """Allocate registers, and collect the constants that instructions may read from memory.

    Raises OutOfRegisters if no allocation is found, and TooLong if each has more instructions than `state.most`.
    """
    pool: dict[tuple[int, ...], str] = {}

    def constant_in_memory(value: Value, whole: bool) -> Memory:
        alike = state.target.broadcasts and not whole and value.lanes > 1 and len(set(value.attr)) == 1
        numbers = value.attr[:1] if alike else value.attr
        symbol = pool.setdefault(numbers, f"c{len(pool)}")
        return Memory(64 * len(numbers), symbol=symbol, broadcast=alike)

    parameters = state.graph.parameters
    placed = zip(parameters, state.convention.places([p.lanes for p in parameters]), strict=True)
    places = {value: place for value, place in placed if isinstance(place, Register)}
    ends = state.spilled.results
    results = tuple((r, state.convention.result_for(r.lanes)) for r in ends if r.op not in WRITES)
    events = program_points(state.spilled.block, ends)
    machine = Machine(state.target, state.convention, constant_in_memory)
    switches = any(event.region is not None and event.region.index is not None for event in events)
    bounds = lower_bounds(machine, events)
    # One instruction allocates the slots, one frees them; one saves each saved register, one restores it.
    operations = bounds.operations + 2 * bool(state.spilled.slots)
    if operations + 2 * bounds.saves + bounds.copies[0] - bounds.views > state.most:
        raise TooLong
    search = _RegisterSearch(machine, events, bounds, places, results)
    try:
        allocated = search.allocate(SWITCHING if switches else EFFORT, state.most - operations)
    except OutOfRegisters:
        # A tight fit: look further before giving up.
        allocated = search.allocate(20 * EFFORT, state.most - operations)
    constants = tuple(Datum(name, numbers, 8, 8 * len(numbers)) for numbers, name in pool.items())
    return replace(state, allocated=allocated, constants=constants)
