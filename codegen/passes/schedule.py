"""Schedule straight-line code for the fewest copies.

A two-operand instruction overwrites an operand. If that operand is still live, the allocator must insert a copy. So the
pass begins with several schedules: source order, a greedy one, some by subtrees. To each it adds last-use constraints
(an instruction is scheduled after all other uses of its operand) one by one, while they lower the cost: the number of
copies, and two for each lacking register. The cheapest result is taken.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, reduce
from itertools import accumulate, chain, compress, permutations
from operator import attrgetter, itemgetter
from typing import NamedTuple

from setwise.codegen.ir.operations import VIEWS
from setwise.codegen.ir.values import Value, same
from setwise.codegen.machine.code import RegisterFile
from setwise.codegen.passes.code_motion import place_values
from setwise.codegen.passes.list_schedule import BlockDag, excess, units
from setwise.codegen.passes.liveness import upward_exposed
from setwise.codegen.passes.state import Block, RegionBlock, State
from setwise.codegen.targets.table import Target

CACHED_BLOCKS = 64  # conventions with as many scratch registers have the same schedules
CACHED_SHAPES = 1 << 10  # many directions of one fill have equal dependence graphs
ROUNDS = 3  # the most rounds, each from the best schedule so far

EFFORT = 1 << 14
"""The positions judged in windows of a schedule, after which no new window is judged: more than the catalogue needs."""

MOST_SUBTREES, MOST_GROUPS = 32, 8
"""The most subtrees that are divided into groups, and the most groups of which other orders are tried."""


class SubtreeOrders:
    """Schedules by subtrees: the operands of the unions that a block ends in, each united as soon as it is computed."""

    def __init__(self, dag: BlockDag) -> None:
        self.dag = dag
        self.roots = [i for i in reversed(range(len(dag))) if not dag.users[i]]
        """The values that no instruction of the block reads, the last first."""
        self.reads = [0] * len(dag.file)
        """All values that each value depends on. A set of values is an integer with a bit for each."""
        self.operands = [sum([1 << arg for arg in args]) for args in dag.before]
        for i, args in enumerate(dag.args):
            for arg in args:
                self.reads[i] |= self.reads[arg] | 1 << arg
        subtrees: dict[int, None] = {}
        self.joints: list[int] = []
        """The instructions that unite, mask or store subtrees, each outer one before those inside it."""
        pending = [*self.roots]
        while pending:
            i = pending.pop()
            if len(dag.users[i]) <= 1 and dag.joins[i] and dag.before[i]:
                self.joints.append(i)
                pending += reversed(dag.before[i])
            else:
                subtrees[i] = None
        self.subtrees: list[int] = []
        """The last values of the subtrees. Of those left, each shares most values with those before it."""
        seen = 0
        while subtrees:
            nearest = max(subtrees, key=lambda i: (self.reads[i] & seen).bit_count())
            subtrees.pop(nearest)
            seen |= self.reads[nearest]
            self.subtrees.append(nearest)

    def by_kinship(self) -> list[int]:
        """Return the schedule in which the next subtree is the one that shares most values with those before it."""
        return self._order(self.subtrees)

    def last_root_first(self) -> list[int]:
        """Return the schedule that computes one root after the other, the last first."""
        order: list[int] = []
        done = 0
        for root in self.roots:
            done = self._add(root, done, order)
        return order

    def by_groups(self) -> list[int]:
        """Return the schedule by groups of subtrees, ordered by steepest descent if they are at most MOST_GROUPS."""
        groups = self.groups

        def cost(groups: list[list[int]]) -> int:
            return self.dag.cost(self._order([*chain(*groups)]))

        least = cost(groups)
        while self.dag.forced < least and len(groups) <= MOST_GROUPS:
            others = [(cost(moved), moved) for moved in _moved(groups)]
            found, moved = min(others, key=itemgetter(0), default=(least, groups))
            if found >= least:
                break
            least, groups = found, moved
        return self._order([*chain(*groups)])

    def by_groups_reversed(self) -> list[int]:
        """Return the schedule by groups of subtrees, the last group first."""
        return self._order([*chain(*reversed(self.groups))])

    @cached_property
    def groups(self) -> list[list[int]]:
        """Groups of subtrees, linked by values that fewer than half of all read; above MOST_SUBTREES one group."""
        subtrees, reads = self.subtrees, self.reads
        if len(subtrees) > MOST_SUBTREES:
            return [subtrees]
        readers = [sum([reads[subtree] >> i & 1 for subtree in subtrees]) for i in range(len(self.dag))]
        few = sum([1 << i for i, count in enumerate(readers) if 1 < count < len(subtrees) / 2])
        groups: list[list[int]] = []
        for subtree in subtrees:
            kin = (group for group in groups if any(reads[subtree] & reads[other] & few for other in group))
            if (group := next(kin, None)) is None:
                groups.append([subtree])
            else:
                group.append(subtree)
        return groups

    def _order(self, subtrees: Sequence[int]) -> list[int]:
        """Return the schedule of subtrees in the given order, each joint as soon as its operands are computed."""
        order: list[int] = []
        done = 0
        joints = self.joints[::-1]
        for subtree in subtrees:
            done = self._add(subtree, done, order)
            for joint in joints:
                if not self.operands[joint] & ~done:
                    done |= 1 << joint
                    order.append(joint)
            joints = [joint for joint in joints if not done >> joint & 1]
        return order

    def _add(self, root: int, done: int, order: list[int]) -> int:
        """Append a value and its dependencies that are not `done`, in the block's order. Return `done` and them."""
        below = (self.reads[root] | 1 << root) & ~done
        order += [i for i in range(len(self.dag)) if below >> i & 1]
        return done | below


def _moved(groups: list[list[int]]) -> Iterator[list[list[int]]]:
    """Yield each order that moving one group makes. An exchange of neighbours, which moves either, is yielded once."""
    for at, to in permutations(range(len(groups)), 2):
        if to != at - 1:
            others = [*groups[:at], *groups[at + 1 :]]
            yield [*others[:to], groups[at], *others[to:]]


class _Window(NamedTuple):
    """Positions `begin` to before `end` and their new order, empty if the constraint makes a cycle or holds already."""

    begin: int
    end: int
    order: Sequence[int] = ()
    copies: Sequence[bool] = ()
    """Whether each instruction in the order needs a copy."""
    spare: Sequence[tuple[RegisterFile, Sequence[int]]] = ()
    """Each file, with the number of its free registers behind each position; negative if there are too few."""


class CopyScheduler:
    """A schedule of a block, and the last-use constraints that lower its cost.

    A constraint puts all other users of an operand before one user. It reorders only the window from that user to the
    last of the others. So that window is judged once, until a constraint whose window overlaps is accepted.
    """

    def __init__(self, dag: BlockDag, order: Sequence[int]) -> None:
        self.dag = dag
        self.order = list(order)
        self.rank = [0] * len(order)
        self.before = [*dag.before]
        """Predecessors of each instruction: its operands, and the last-use constraints accepted so far."""
        self.effort = EFFORT
        self.needed_until = [len(order) if i in dag.live_out else -1 for i in range(len(dag.users))]
        """The position of each value's last reader, -1 if none; one behind all positions if the value is live out."""
        self.copies = [False] * len(order)
        self.spare = {file: [0] * len(order) for file in dict.fromkeys(dag.file)}
        self._accept(self._judge(0, self.order))

    def improve(self) -> None:
        """Accept in turn the constraint that lowers the cost most, until none does or the cost is at its bound."""
        windows: dict[tuple[int, int], _Window] = {}
        while self.cost > self.dag.forced:
            offers = []
            for user, arg in self._last_uses():
                if (user, arg) not in windows and self.effort > 0:
                    windows[user, arg] = self._window(user, arg)
                window = windows.get((user, arg))
                if window is not None and window.order:
                    offers.append((self._cost_with(window), user, arg))
            cost, user, arg = min(offers, key=itemgetter(0), default=(self.cost, 0, 0))
            if cost >= self.cost:
                return
            taken = windows[user, arg]
            self.before[user] += tuple(other for other in self.dag.users[arg] if other != user)
            self._accept(taken)
            windows = {w: kept for w, kept in windows.items() if kept.end <= taken.begin or taken.end <= kept.begin}

    def _last_uses(self) -> Iterator[tuple[int, int]]:
        """Yield each instruction that needs a copy, with each operand that it could overwrite as the last user."""
        for user in compress(self.order, self.copies):
            for arg in self.dag.overwritable[user]:
                if arg not in self.dag.live_out:
                    yield user, arg

    def _window(self, user: int, arg: int) -> _Window:
        """Return the window in which all other users of `arg` come before `user`, each behind its predecessors."""
        begin, rank = self.rank[user], self.rank
        others = [other for other in self.dag.users[arg] if rank[other] > begin]
        if not others:
            return _Window(begin, begin + 1)
        moved: dict[int, None] = {}
        begun = {user}
        stack = [user]
        while stack:
            i = stack[-1]
            firsts = (*self.before[i], *others) if i == user else self.before[i]
            waiting = [rank[first] for first in firsts if rank[first] >= begin and first not in moved]
            if not waiting:
                moved[stack.pop()] = None
                continue
            needed = self.order[min(waiting)]
            if needed in begun:
                return _Window(begin, max(map(rank.__getitem__, begun)) + 1)
            begun.add(needed)
            stack.append(needed)
        end = max(map(rank.__getitem__, moved)) + 1
        return self._judge(begin, [*moved, *[i for i in self.order[begin:end] if i not in moved]])

    def _judge(self, begin: int, order: list[int]) -> _Window:
        """Return the window from `begin` on with its instructions in this order, and its copies and free registers."""
        self.effort -= len(order)
        end = begin + len(order)
        dag, needed_until = self.dag, self.needed_until
        last_readers = {arg: i for i in order for arg in dag.args[i]}
        left = {file: behind[begin - 1] if begin else dag.spare[file] for file, behind in self.spare.items()}
        spare: dict[RegisterFile, list[int]] = {file: [] for file in left}
        copies: list[bool] = []
        for i in order:
            could = dag.overwritable[i]
            needs_copy = bool(could)
            for arg in dag.args[i]:
                if last_readers[arg] == i and needed_until[arg] < end:
                    left[dag.file[arg]] += 1
                    needs_copy = needs_copy and arg not in could
            left[dag.file[i]] -= dag.defines[i]
            copies.append(needs_copy)
            for file, registers in left.items():
                spare[file].append(registers)
        return _Window(begin, end, order, copies, tuple(spare.items()))

    def _accept(self, window: _Window) -> None:
        """Put a window into the schedule, and update the cost."""
        at = slice(window.begin, window.end)
        self.order[at] = window.order
        self.copies[at] = window.copies
        for rank, i in enumerate(window.order, window.begin):
            self.rank[i] = rank
            for arg in self.dag.args[i]:
                if self.needed_until[arg] < window.end:
                    self.needed_until[arg] = rank
        for file, registers in window.spare:
            self.spare[file][at] = registers
        start = self.dag.spare
        self.least_before = {file: [*accumulate(s, min, initial=start[file])] for file, s in self.spare.items()}
        self.least_after = {f: [*accumulate(s[::-1], min, initial=start[f])][::-1] for f, s in self.spare.items()}
        self.copies_before = [*accumulate(self.copies, initial=0)]
        self.cost = self.copies_before[-1] + excess(least[-1] for least in self.least_before.values())

    def _cost_with(self, window: _Window) -> int:
        """Return the cost of the schedule if a window were accepted: copies, and two for each lacking register."""
        begin, end = window.begin, window.end
        outside = self.copies_before[-1] - self.copies_before[end] + self.copies_before[begin]
        least = (min(self.least_before[file][begin], self.least_after[file][end], *s) for file, s in window.spare)
        return outside + sum(window.copies) + excess(least)


class Schedules:
    """The schedules of a basic block: the one of fewest copies, those by subtrees, and those of its graph, `dag`."""

    def __init__(self, dag: BlockDag) -> None:
        self.dag = dag
        self.subtrees = SubtreeOrders(dag)

    @cached_property
    def fewest_copies(self) -> list[int]:
        """The cheapest schedule that is found with last-use constraints."""

        def improved(order: list[int]) -> tuple[int, list[int]]:
            scheduler = CopyScheduler(self.dag, order)
            scheduler.improve()
            return scheduler.cost, scheduler.order

        return self._cheapest(improved, self.subtrees.by_groups, self.subtrees.by_groups_reversed)[1]

    @cached_property
    def least(self) -> int:
        """The cost of the cheapest schedule that is found without last-use constraints."""
        return self._cheapest(lambda order: (self.dag.cost(order), order))[0]

    def _cheapest(
        self, improved: Callable[[list[int]], tuple[int, list[int]]], *more: Callable[[], list[int]]
    ) -> tuple[int, list[int]]:
        """Return the least cost and its order, of several orders once `improved`. `more` return further ones to try."""
        tried = [list(range(len(self.dag)))]
        cheapest = improved(tried[0])
        for make in (lambda: self.dag.fewest_live, self.subtrees.by_kinship, *more, self.subtrees.last_root_first):
            if cheapest[0] > self.dag.forced and (order := make()) not in tried:
                tried.append(order)
                cheapest = min(cheapest, improved(order), key=itemgetter(0))
        return cheapest


_schedules = lru_cache(CACHED_SHAPES)(Schedules)
"""A function that returns the schedules of a block: the same object for all blocks with equal graphs."""


@lru_cache(CACHED_BLOCKS)
def _all_schedules(block: Block, results: tuple[Value, ...], target: Target, registers: int) -> list[Schedules]:
    """Return for each basic block of a routine, in order, its `Schedules`."""
    return [_schedules(dag) for dag in _basic_blocks(block, results, target, registers)]


def _basic_blocks(block: Block, results: tuple[Value, ...], target: Target, registers: int) -> Iterator[BlockDag]:
    """Yield the dependence graphs of the basic blocks of a block and of its regions, in order."""
    straight: list[Value] = []
    for position, item in enumerate((*block.items, None)):
        if isinstance(item, Value):
            straight.append(item)
            continue
        yield BlockDag(straight, upward_exposed(block.items[position:], results), target, registers)
        straight = []
        if item is not None:
            for number, body in enumerate(item.bodies):
                after = (*(value for _, value in item.phi_inputs(number)), *item.region.tested)
                yield from _basic_blocks(body, after, target, registers)


def _rescheduled(block: Block, schedules: Iterator[Schedules], chosen: Callable[[Schedules], list[int]]) -> Block:
    """Reorder each basic block by the schedule `chosen` from its `schedules`. Return the block itself if unchanged."""
    items: list[Value | RegionBlock] = []
    straight: list[Value] = []
    for item in (*block.items, None):
        if isinstance(item, Value):
            straight.append(item)
            continue
        apart = units(straight)
        items += chain.from_iterable([apart[i] for i in chosen(next(schedules))])
        straight = []
        if item is not None:
            bodies = tuple([_rescheduled(body, schedules, chosen) for body in item.bodies])
            items.append(item if same(bodies, item.bodies) else RegionBlock(item.region, bodies, item.results))
    return block if same(items, block.items) else Block(tuple(items))


@lru_cache(CACHED_BLOCKS)
def schedule(block: Block, results: tuple[Value, ...], target: Target, registers: int) -> Block:
    """Return the block with each basic block in the schedule of the fewest copies that is found."""
    for _ in range(ROUNDS):
        before, block = block, _by(block, results, target, registers, "fewest_copies")
        if block is before:
            break
    return block


def _by(block: Block, results: tuple[Value, ...], target: Target, registers: int, name: str) -> Block:
    """Return the block with each basic block in the schedule with this (dotted) attribute name in its `Schedules`."""
    return _rescheduled(block, iter(_all_schedules(block, results, target, registers)), attrgetter(name))


def schedule_pass(state: State) -> State:
    """Schedule for the fewest copies."""
    return replace(state, block=schedule(state.block, state.graph.results, state.target, len(state.convention.scratch)))


def latency_schedule_pass(state: State) -> State:
    """Schedule for latency: list scheduling by height, in basic blocks that get shorter and cost no more by it."""
    return _scheduled(state, "dag.shortest")


def list_schedule_pass(state: State) -> State:
    """Schedule by the critical path, however many copies that needs."""
    return _scheduled(state, "dag.critical_path_first")


def crossing_first_pass(state: State) -> State:
    """Schedule instructions that lead to a move between register files first, since such a move is slow."""
    return _scheduled(state, "dag.crossing_first")


def _scheduled(state: State, name: str) -> State:
    """Return the state with its block in the schedule `name`, as in `_by`, or the state itself if nothing moved."""
    block = _by(state.block, state.graph.results, state.target, len(state.convention.scratch), name)
    return state if block is state.block else replace(state, block=block)


def estimate(state: State) -> tuple[int, int]:
    """Estimate the code of the selected stages: its length in instructions, and its longest path in cycles.

    The length is the number of values in blocks, plus the cost of the cheapest schedules without last-use constraints.
    Other views of a register, of more or fewer lanes, do not count.
    """
    registers = len(state.convention.scratch)
    blocks = [(place_values(graph), graph.results) for graph in state.graphs]
    each = [s for block, results in blocks for s in _all_schedules(block, results, state.target, registers)]
    views = sum(value.op in VIEWS for graph in state.graphs for value in graph.order)
    length = sum(schedules.dag.instructions + schedules.least for schedules in each) - views
    return length, reduce(lambda depth, graph: graph.depth_after(depth), state.graphs, 1)
