"""List scheduling of a basic block: its dependence graph, its register pressure, and schedules by priority."""

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from heapq import heappop, heappush
from itertools import chain
from operator import itemgetter

from setwise.codegen.ir.operations import WRITES
from setwise.codegen.ir.orders import borrow_path, overwritable
from setwise.codegen.ir.values import Value, in_register
from setwise.codegen.machine.code import RegisterFile
from setwise.codegen.machine.convention import MASKS
from setwise.codegen.passes.liveness import register_operands
from setwise.codegen.targets.table import Target

WIDTH = 4
"""The most instructions that begin in a cycle: about the number of units for general registers, or for vectors."""

_CROSSING = 2  # cycles of a move between register files: 3 would make slower schedules
_UNITES = WRITES | {"or"}


class BlockDag:
    """The dependence graph of a basic block, and the schedules that depend on it alone.

    An instruction, or several that stay together as in `units`, and the value that the last one defines, is a number:
    its position in the block. Values from outside have the numbers after these. `registers` is the number of general
    registers to use. Equal graphs have equal schedules.
    """

    def __init__(self, values: list[Value], live_out: Collection[Value], target: Target, registers: int) -> None:
        self.instructions = len(values)
        """The number of instructions, with each of those that stay together."""
        apart = units(values)
        read = [_operands(unit) for unit in apart]
        values = [unit[-1] for unit in apart]
        named = chain(values, chain.from_iterable(read), filter(in_register, live_out))
        number = {value: i for i, value in enumerate(dict.fromkeys(named))}
        self.args = tuple([tuple([number[arg] for arg in args]) for args in read])
        """The operands of each instruction that are in registers, each once."""
        self.before = [tuple([arg for arg in args if arg < len(values)]) for args in self.args]
        """The operands that the block itself defines: the predecessors of each instruction."""
        self.overwritable = tuple([tuple([number[arg] for arg in _overwritable(v, target)]) for v in values])
        """The operands that each instruction may overwrite; none for a copy, or if some form of it overwrites none."""
        users: list[list[int]] = [[] for _ in number]
        for i, args in enumerate(self.args):
            for arg in args:
                users[arg].append(i)
        self.users = [*map(tuple, users)]
        self.live_out = {number[value] for value in live_out if value in number}
        self.uses = [len(readers) + (value in self.live_out) for value, readers in enumerate(users)]
        """The number of readers of each value; one more if it is live out."""
        self.defines = tuple([value.op not in WRITES for value in values])
        """Whether each instruction defines a value."""
        self.joins = tuple([v.op in _UNITES or (v.op == "and" and len(read[i]) == 1) for i, v in enumerate(values)])
        """Whether each instruction is a union, a store, or an intersection with a constant."""
        self.file = tuple([value.file for value in number])
        self.cycles = tuple([sum([value.operation.cycles for value in unit]) for unit in apart])
        self.spare: dict[RegisterFile, int] = {"general": registers, "vector": target.vectors, "mask": len(MASKS)}
        """The free registers of each file on entry: negative if too few, at most as many as its instructions."""
        for file in self.file[len(values) :]:
            self.spare[file] -= 1
        for file, left in self.spare.items():
            self.spare[file] = min(left, self.file[: len(values)].count(file))
        shape = self.args, self.overwritable, self.defines, self.joins, self.file, self.cycles
        self._key = (*shape, self.instructions, *self.spare.values(), *sorted(self.live_out))

    def __len__(self) -> int:
        return len(self.args)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BlockDag) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def cost(self, order: Iterable[int]) -> int:
        """Return the number of copies that a schedule needs, plus two for each register that it lacks."""
        pressure = PressureTracker(self)
        copies = sum([pressure.issue(i) for i in order])
        return copies + excess(pressure.least.values())

    @cached_property
    def forced(self) -> int:
        """Lower bound on copies: instructions left unmatched by a maximum matching to operands they may overwrite."""
        overwriter: dict[int, int] = {}
        overwritten: dict[int, int] = {}
        in_vain: set[int] = set(self.live_out)
        unmatched = 0
        for user, args in enumerate(self.overwritable):
            came: dict[int, int] = {}
            pending = [user]
            end = None
            while pending and end is None:
                at = pending.pop()
                for arg in self.overwritable[at]:
                    if arg not in came and arg not in in_vain:
                        came[arg] = at
                        if arg not in overwriter:
                            end = arg
                            break
                        pending.append(overwriter[arg])
            if end is None:
                # No augmenting path leads on from these operands, and none ever will.
                in_vain.update(came)
                unmatched += bool(args)
            while end is not None:
                at = came[end]
                overwriter[end] = at
                overwritten[at], end = end, overwritten.get(at)
        return unmatched

    @cached_property
    def fewest_live(self) -> list[int]:
        """The schedule that takes at each step the ready instruction with the most operands that die."""
        return list_schedule(self, range(len(self)), self.before, greedy=True)

    @cached_property
    def shortest(self) -> list[int]:
        """The cheapest of eight schedules whose tail is list-scheduled by height; of equals that of shortest makespan.

        The source order instead, unless that schedule costs no more and is at least a whole cycle shorter.
        """
        order = list(range(len(self)))
        height = self._height((1,) * len(order), 0)
        cost, end = self.cost(order), self._makespan(order)
        if end - 1 < max(*height, 1 + (len(order) - 1) / WIDTH, 1):
            return order  # no schedule can be a whole cycle shorter
        begins = [len(order) * eighths // 8 for eighths in range(8)]
        before = self._with_last_uses()
        others = [list_schedule(self, height, before, begin) for begin in begins]
        (other_cost, other_end), other = min(
            [((self.cost(other), self._makespan(other)), other) for other in others], key=itemgetter(0)
        )
        return other if other_cost <= cost and other_end <= end - 1 else order

    @cached_property
    def critical_path_first(self) -> list[int]:
        """The list schedule by longest path to the end of the block, in cycles; moves between register files count."""
        return list_schedule(self, self._height(self.cycles, _CROSSING), self.before)

    @cached_property
    def crossing_first(self) -> list[int]:
        """The source order, but instructions that lead to a move between register files come first."""
        later = [False] * len(self)
        for i in reversed(range(len(later))):
            crosses = (self.defines[user] and self.file[user] != self.file[i] for user in self.users[i])
            later[i] = not any(crosses) and all(later[user] for user in self.users[i])
        return sorted(range(len(later)), key=later.__getitem__)

    def _height(self, cycles: Sequence[int], crossing: int) -> list[int]:
        """Return the longest path in `cycles` from each instruction to the end; moves between files add `crossing`."""
        file, height = self.file, [*cycles]
        for i in reversed(range(len(height))):
            height[i] += max([height[user] + crossing * (file[user] != file[i]) for user in self.users[i]], default=0)
        return height

    def _makespan(self, order: list[int]) -> float:
        """Return a schedule's cycles: number n takes one, from n / WIDTH or the end of its operands, the later."""
        ends = [0.0] * len(self.file)
        for at, i in enumerate(order):
            ends[i] = 1 + max([at / WIDTH, *[ends[arg] for arg in self.args[i]]])
        return max(ends, default=0)

    def _with_last_uses(self) -> list[tuple[int, ...]]:
        """Return each instruction's predecessors, and other users of the operand that it overwrites in source order."""
        left = [*self.uses]
        before = [*self.before]
        for i, args in enumerate(self.args):
            for arg in args:
                left[arg] -= 1
            overwritten = next((arg for arg in self.overwritable[i] if not left[arg]), None)
            if overwritten is not None:
                others = (user for user in self.users[overwritten] if user != i)
                before[i] = tuple(dict.fromkeys((*before[i], *others)))
        return before


class PressureTracker:
    """Register pressure as a schedule is issued: free registers of each file, and readers left of each value."""

    def __init__(self, dag: BlockDag) -> None:
        self.dag = dag
        self.left = [*dag.uses]
        self.spare = dict(dag.spare)
        self.least = dict(dag.spare)
        """The fewest free registers of each file so far."""

    def issue(self, i: int) -> bool:
        """Issue an instruction. Return whether it needs a copy: it has operands to overwrite, and none of them dies."""
        dag, left, spare, could = self.dag, self.left, self.spare, self.dag.overwritable[i]
        needs_copy = bool(could)
        for arg in dag.args[i]:
            left[arg] -= 1
            if not left[arg]:
                spare[dag.file[arg]] += 1
                needs_copy = needs_copy and arg not in could
        if dag.defines[i]:
            file = dag.file[i]
            spare[file] -= 1
            if spare[file] < self.least[file]:
                self.least[file] = spare[file]
        return needs_copy


def excess(least: Iterable[int]) -> int:
    """Return two for each register that is lacking, given the fewest free registers of each file."""
    return 2 * sum([-left for left in least if left < 0])


def list_schedule(
    dag: BlockDag, priority: Sequence[int], before: Sequence[tuple[int, ...]], begin: int = 0, *, greedy: bool = False
) -> list[int]:
    """Return the source order up to `begin`, then at each step an instruction whose predecessors, `before`, are done.

    It is the one that leaves fewest registers of its file lacking, of equals that of highest priority. With `greedy` it
    is the one with the most operands that die. Of further equals it is the first in source order.
    """
    file = dag.file
    after: list[list[int]] = [[] for _ in before]
    for i, firsts in enumerate(before):
        for first in firsts:
            after[first].append(i)
    pressure = PressureTracker(dag)
    waiting = [*map(len, before)]
    groups: dict[int, tuple[RegisterFile, int]] = {}
    """Each ready instruction's file, and the registers of the file that it takes, less those of dying operands.

    With `greedy`, "general" and less all dying operands. The number falls when it becomes a last reader.
    """
    ready: dict[tuple[RegisterFile, int], list[tuple[int, int]]] = {}
    order: list[int] = []

    def offer(i: int) -> None:
        dying = [arg for arg in dag.args[i] if pressure.left[arg] == 1]
        taken = -len(dying) if greedy else dag.defines[i] - sum([file[arg] == file[i] for arg in dying])
        groups[i] = "general" if greedy else file[i], taken
        heappush(ready.setdefault(groups[i], []), (0 if greedy else -priority[i], i))

    def take(i: int) -> None:
        groups.pop(i, None)
        waiting[i] = -1
        order.append(i)
        pressure.issue(i)
        for arg in dag.args[i]:
            if pressure.left[arg] == 1:
                for user in dag.users[arg]:
                    if user in groups:
                        offer(user)
        for user in after[i]:
            waiting[user] -= 1
            if not waiting[user]:
                offer(user)

    for i, count in enumerate(waiting):
        if not count:
            offer(i)
    for i in range(begin):
        take(i)
    while groups:
        for key, heap in ready.items():
            while heap and groups.get(heap[0][1]) != key:
                heappop(heap)  # a stale entry: the instruction was issued, or frees more by now
        cheapest = [
            (taken if greedy else max(0, taken - pressure.spare[of]), heap[0])
            for (of, taken), heap in ready.items()
            if heap
        ]
        take(min(cheapest)[1][1])
    return order


def units(values: Sequence[Value]) -> list[tuple[Value, ...]]:
    """Return the instructions of a basic block as units, in order: those that a flag passes through stay together.

    They are the path of a borrow and its reader. Nothing else may come between them, as most instructions set flags.
    """
    if not any(value.op == "sub-borrow" for value in values):
        return [(value,) for value in values]
    paths = {value: borrow_path(value) for value in values if value.op == "sub-borrow"}
    within = {*chain.from_iterable(paths.values())}
    return [(*paths.get(value, ()), value) for value in values if value not in within]


def _operands(unit: tuple[Value, ...]) -> tuple[Value, ...]:
    """Return the values from outside a unit that it reads, in registers or behind a store to memory, each once."""
    args = [arg for value in unit for arg in value.args]
    stores = [arg.args[1] for arg in args if arg.op == "place" and arg.args[1].op in WRITES]
    return tuple(dict.fromkeys(value for value in (*register_operands(args), *stores) if value not in {*unit[:-1]}))


def _overwritable(value: Value, target: Target) -> tuple[Value, ...]:
    if value.op == "copy" or not target.overwrites(value):
        return ()
    return tuple([arg for arg in overwritable(value) if in_register(arg)])
