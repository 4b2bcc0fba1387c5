"""How long executed instructions take a core: fetched, dispatched, queued at ports and executed cycle by cycle.

Where a bound says what nothing can beat, this says what the core is likely to do. What makes it slower than a bound was
found by experiments on the processor that this project was made on; p is `vpor`, r `vprolq`, of 256 bits where nothing
else is said.

* An operation is given its port when it is dispatched, before anybody knows when its operands come. Of eight p that are
  dispatched together the second and the sixth wait for each other where they become ready at once, others do not.
* Ports are given out by turns, but those with fewer operations waiting come first. An operation of 512 bits takes two
  turns, and its one port for two cycles: two chains of p take 1.0 cycle a step, of 512 bits 1.7; a step of two p of 512
  bits and a third that needs both takes 3 cycles, not 2.
* Of a vector port's results one leaves it a cycle: behind an operation of two cycles it cannot begin one of one cycle.
  Each r that nobody waits for makes a chain of p beside it a quarter of a cycle longer, and so do all operations of
  several cycles. Among general registers nothing of the kind shows.
* At each port the oldest operation that is ready goes first, and operations wait in queues of a few dozen places.
* On Zen 5 a vector operation of one cycle, from registers or memory, takes two where some 60 wait: in a chain of p with
  adds between, which wait for each other too, each p takes 2.0 cycles up to 1.4 adds a p, and 1.0 from 1.5 on, when the
  adds fill their own queue of 88 first. In the model it takes two where it has waited itself and so do 15 others: of
  15, 18, 29 and all that have waited those agree best with 37 sets of variants; of chained ones what is taken takes 1 %
  more than the best.
* There, constants held in registers spare more than their loads: `sliders.rays` with AVX-512 takes 5.4 cycles with six
  operands in memory, 7.1 with nine, and the units say 4.1 and 4.2. Why is not known: alone two such loads a cycle go
  through. In the model of two vector operations that waited with an operand in memory one takes its port twice; with
  neither, forecasts of 28 sets of independent variants are 14 % off, with one 11, with both 11, but worse ordered.
* Golden Cove has one queue of 97 places for general registers and vectors, and ports that serve both. There, of three
  vector operations with an operand in memory one takes its port twice: p with operands in memory alone takes 0.51
  cycles, beside as many without 0.38 each, where units say 0.33; of 512 bits 0.84 and 0.66, where they say 0.5. Loads
  that nobody waits for do so too: in loops of 200 operations of 512 bits and more each costs 0.15 to 0.2 cycles as soon
  as there is one to six operations, at 256 bits only among many stores. `sliders.union.batch` with AVX2 takes 4.9
  cycles a board, its instructions without waiting for each other 4.65, without loads or without stores as well the 4.4
  that units say.
* An order matters as far as the queue does not reach: rank by rank `sliders.union.batch` with AVX-512 takes 3.05 cycles
  a board, where units say 2.6, as long as what interleaves bytes, which one unit does, stands by itself in runs of 90;
  spread over the rest it takes 2.86, where units say 2.73.
* There, what operations of 512 bits take goes to sleep after some 4 microseconds without any; then they are slow for
  thousands of cycles. That is no part of the model: who times them keeps them awake (setwise.codegen.run.timer).

The sizes are from AMD's Software Optimization Guides for Zen 4 (57647) and Zen 3 (56665), whose queues are alike, and
for Zen 5 (58455), for which the rest is taken over. Of the 114 places in Zen 5's three queues for vectors 84 count: so
independent calls of 30 sets of variants are forecast 11 % off on average, with 100 places 13 %, and with 72, 10 %, but
fewer pairs are ordered rightly. Of the 88 for general registers 56 count: then variants of 7 routines there are 4 % off
chained and 5 % independent, with all of them 7 and 12 %, with 48, 5 and 5 %. How finely the core tells how many
operations wait at a port is not known: the forecast is the mean of five ways, each of which agrees with the
experiments; it orders kernels better than the least, the middle or the most of them. Left out is that `vpternlog` at
times takes a cycle more: when is not known. On Zen 5 all variants of eight routines, 2,644 timings (EPYC of family 26,
model 2, 2026-11-25), are forecast 6 % off chained and 8 % independent, and of pairs a tenth apart 97 and 95 % are
ordered rightly.

Rank by rank `sliders.union.batch` takes a tenth more than units say on Zen 5, a quarter with SSE2: with AVX2 3.67
cycles a board for 3.30, with GFNI 1.16 for 1.05, with AVX-512 1.44 for 1.30. The same instructions without waiting for
each other take 3.32, 1.06 and 1.31, so what waits decides, and the order decides what waits: where steps that wait for
each other were not told to go side by side, these took 3.95, 1.24 and 1.46. Searches that gave registers and places on
the stack anew for each order, and might move work into the round before, timed 130,000 to 410,000 orders each, and
began where few values stand close behind what they read and few find no register: rounds of AVX-512 came down to 1.36
cycles a board, of GFNI to 1.09, of AVX2 to 3.57, calls not counted. A pass that moves value by value to where both are
least, tried with some forty weights, came to 1.41, 1.17 and 3.57, the call and all, in no more than one or two of the
three with the same weights. Ranks put by `vpermt2b`, which takes bytes of two registers in any order, need 24
operations less a round of GFNI, so units say 0.95; it takes 1.17, for more is waited for.

What waiting costs there, in loops of 248 operations of 512 bits that keep the four units busy for 62 cycles: of
additions that each read two that stand 12 and more before them, 62; with a `vgf2p8affineqb` one in six, 76, but 62
where they stand 20 before; where they stand 16 before and 40 boards come back from the stack 60 later, 63, but 71 if
30 later.

Golden Cove's sizes are those of Intel's architecture day (2021), as Chips and Cheese quotes them: 512 operations under
way, 97 of them waiting in the queue of ports 0, 1, 5, 6 and 10. Our own variants of 24 routines, 4,748 timings (Granite
Rapids, 2026-11-24) by a fifth of which those figures above were tuned, are forecast 4 % off, chained and independent,
and of pairs a tenth apart 99 % are ordered rightly; of variants that came later, chained, of 8 routines, 98 %. That was
with 1.08 times the cycles for code of 512 bits, whose timings had found its units asleep; without it these figures were
not measured again. Orders of the same instructions lie up to a tenth apart, and no forecast tells which is faster. The
model knows these four only.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from setwise.analysis.code.decode import Decoded
from setwise.analysis.cost.bounds import Demand, demands, fetches, round_cost, rows_of, vectors
from setwise.analysis.cost.dependence import BEFORE, Readiness
from setwise.analysis.cost.processors.table import CostRow, Processor, size_of

ROUNDS = 4
_SOON = 4  # cycles that an operation may be there and has not waited
_STEPS = (1, 2, 3, 4, 8)  # by how many waiting operations ports must differ to be told apart


@dataclass(frozen=True, slots=True)
class Core:
    """Places for operations under way in all, and in the queues of ports, by the first letters of the ports' names.

    So many `turns` go by until the same port comes first again. Vector operations of one cycle that waited for operands
    take a cycle more where more than `many` wait; every `repeats`th of those that have one in memory takes its port
    twice.
    """

    reorder: int
    queues: Mapping[str, int]
    turns: int = 4
    many: float = inf
    repeats: float = inf


CORES: Mapping[str, Core] = {
    "golden-cove": Core(512, {"pq": 97}, turns=5, repeats=3),
    "zen3": Core(256, {"I": 96, "F": 64}),
    "zen4": Core(320, {"I": 96, "F": 64}),
    "zen5": Core(448, {"I": 56, "F": 84}, turns=6, many=15, repeats=2),
}


@dataclass(frozen=True, slots=True)
class _MicroOperation:
    """An instruction of the round as the core sees it; `behind` is the shortest way from an operand to the result.

    `vector` says that it works on vector registers.
    """

    behind: float
    demand: Demand
    loading: float
    fetch: float
    vector: bool


@dataclass(slots=True)
class _Port:
    """A port: operations that will be ready, those that are, oldest first, how many wait in all; when results leave."""

    coming: list[tuple[float, int, int, bool]] = field(default_factory=list)
    ready: list[tuple[int, int, bool]] = field(default_factory=list)
    waiting: int = 0
    busy: int = 0
    leaving: set[float] = field(default_factory=set)


def simulate(stream: Sequence[Decoded], processor: Processor, rounds: int = ROUNDS) -> float:
    """Cycles that a round of these instructions takes, where round follows round; ValueError for an unknown core.

    The first of so many `rounds` fills the queues, the others are counted.
    """
    if processor.name not in CORES:
        raise ValueError(f"how {processor.title} queues operations is not known: use one of {', '.join(CORES)}")
    bounds = round_cost(stream, processor)
    steps = bounds.steps[: rounds * len(stream)]
    operations = _micro_operations(stream, rows_of(stream, processor), processor)
    core = CORES[processor.name]
    total = 0.0
    for step in _STEPS:
        retired = _Execution(operations, steps, processor.width, core, step).ends()
        total += max((retired[-1] - retired[0]) / (rounds - 1), bounds.bound)
        if total == bounds.bound:  # where nothing waits, no other way is asked
            return total
    return total / len(_STEPS)


def _micro_operations(
    stream: Sequence[Decoded], rows: Sequence[CostRow], processor: Processor
) -> list[_MicroOperation]:
    parts = zip(stream, rows, demands(stream, rows, processor), fetches(stream, processor), strict=True)
    return [
        _MicroOperation(
            min(row.latency.values()) if isinstance(row.latency, Mapping) else row.latency,
            demand,
            processor.loads[size_of(instruction)].latency if instruction.loads else 0,
            fetch,
            vectors(instruction, 0),
        )
        for instruction, row, demand, fetch in parts
    ]


class _Execution:
    """The state of the core while it executes."""

    def __init__(
        self, operations: Sequence[_MicroOperation], steps: Sequence[Readiness], width: int, core: Core, step: int
    ) -> None:
        self.operations, self.steps, self.width, self.core, self.step = operations, steps, width, core, step
        number = len(steps)
        self.ready: list[float | None] = [None] * number
        self.operands = [0.0] * number  # when the last operand is there, less what is counted behind it
        self.entered = [0] * number
        self.missing = [0] * number
        self.left = [0] * number
        self.waiters: list[list[tuple[int, float]]] = [[] for _ in range(number)]
        self.assigned: list[tuple[tuple[str, int], ...]] = [()] * number
        self.storing: list[tuple[str, ...]] = [()] * number
        self.ports: dict[str, _Port] = {}
        self.queued = dict.fromkeys(core.queues, 0)
        self.queue = {letter: queue for queue in core.queues for letter in queue}
        self.waited: dict[str, int] = {}  # at each port when the cycle began, in steps
        self.turns: dict[str, int] = {}
        self.from_memory = 0  # how many vector operations waited that have an operand there
        self.now = 0

    def ends(self) -> list[int]:
        """When each round has retired."""
        fetched: list[float] = []
        total = 0.0
        for at in range(len(self.steps)):
            total += self._operation(at).fetch
            fetched.append(total)
        dispatched = retired = 0
        ends = []
        while retired < len(self.steps):
            dispatched = self._dispatch(dispatched, retired, fetched)
            self._issue()
            while retired < dispatched and self._is_done(retired):
                retired += 1
                if retired % len(self.operations) == 0:
                    ends.append(self.now)
            self.now += 1
        return ends

    def _operation(self, at: int) -> _MicroOperation:
        return self.operations[at % len(self.operations)]

    def _is_done(self, at: int) -> bool:
        ready = self.ready[at]
        return ready is not None and ready <= self.now

    def _dispatch(self, at: int, retired: int, fetched: Sequence[float]) -> int:
        used = 0.0
        self.waited = {name: port.waiting // self.step for name, port in self.ports.items()}
        while at < len(self.steps) and at - retired < self.core.reorder and fetched[at] <= self.now:
            operation = self._operation(at)
            if used + operation.demand.slots > self.width + 1e-9:
                break
            if any(self.queued[queue] > places for queue, places in self.core.queues.items()):
                break
            used += operation.demand.slots
            self._enter(at, operation)
            at += 1
        return at

    def _enter(self, at: int, operation: _MicroOperation) -> None:
        demand = operation.demand
        self.entered[at] = self.now
        self.assigned[at] = tuple((self._choose(ports, int(count)), int(count)) for ports, count in demand.own)
        self.storing[at] = tuple(self._fewest(ports) for ports, count in demand.store for _ in range(int(count)))
        for name, _ in self.assigned[at]:
            self.ports[name].waiting += 1
            if name[0] in self.queue:
                self.queued[self.queue[name[0]]] += 1
        self.left[at] = len(self.assigned[at])
        soon: float = self.now + 1
        for ports, times in demand.load:
            for _ in range(int(times)):
                name = self._fewest(ports)
                heapq.heappush(self.ports[name].coming, (soon, at, 1, False))
        if demand.load:
            soon += operation.loading
        self.operands[at] = max(self.operands[at], soon)
        for wait in self.steps[at].inputs:
            if wait.producer == BEFORE:
                continue
            known = self.ready[wait.producer]
            if known is None:
                self.waiters[wait.producer].append((at, wait.latency - operation.behind))
                self.missing[at] += 1
            else:
                self.operands[at] = max(self.operands[at], known + wait.latency - operation.behind)
        if not self.missing[at]:
            self._start([at])

    def _choose(self, ports: frozenset[str], count: int) -> str:
        """The port whose turn it is among those where the fewest waited when the cycle began."""
        letter = min(ports)[0]
        turn = self.turns.get(letter, 0)
        name = min(sorted(ports), key=lambda port: (self.waited.get(port, 0), (int(port[1:]) - turn) % self.core.turns))
        self.ports.setdefault(name, _Port())
        self.waited[name] = self.waited.get(name, 0) + 1
        self.turns[letter] = int(name[1:]) + count
        return name

    def _fewest(self, ports: frozenset[str]) -> str:
        """For loads and stores, which every cycle brings few of."""
        for name in ports:
            self.ports.setdefault(name, _Port())
        name = min(sorted(ports), key=lambda port: self.ports[port].waiting)
        self.ports[name].waiting += 1
        return name

    def _start(self, waiting: list[int]) -> None:
        """Operands are there: operations go to their ports, and what needs none is done."""
        while waiting:
            at = waiting.pop()
            time = self.operands[at]
            for name, count in self.assigned[at]:
                heapq.heappush(self.ports[name].coming, (time, at, count, True))
            for name in self.storing[at]:
                heapq.heappush(self.ports[name].coming, (time, at, 1, False))
            if not self.assigned[at]:
                waiting += self._finish(at, time + self._operation(at).behind)

    def _finish(self, at: int, time: float) -> list[int]:
        """The result is there at that time: who now has all operands."""
        self.ready[at] = time
        startable = []
        for waiter, further in self.waiters[at]:
            self.operands[waiter] = max(self.operands[waiter], time + further)
            self.missing[waiter] -= 1
            if not self.missing[waiter]:
                startable.append(waiter)
        return startable

    def _issue(self) -> None:
        for name, port in self.ports.items():
            while port.coming and port.coming[0][0] <= self.now:
                _, at, count, counts = heapq.heappop(port.coming)
                heapq.heappush(port.ready, (at, count, counts))
            chosen = self._next(name, port) if port.busy <= self.now else None
            if chosen is None:
                continue
            at, count, counts = chosen
            port.busy = self.now + count
            port.waiting -= 1
            if not counts:
                continue
            operation = self._operation(at)
            behind = operation.behind
            queue = self.queue.get(name[0])
            if queue and operation.vector and self.operands[at] - self.entered[at] > _SOON:
                if behind == 1 and self.queued[queue] > self.core.many:
                    behind += 1
                if operation.demand.load:
                    self.from_memory += 1
                    port.busy += self.from_memory % self.core.repeats == 0
            if queue:
                self.queued[queue] -= 1
            self.left[at] -= 1
            if not self.left[at]:
                self._start(self._finish(at, self.now + behind))

    def _next(self, name: str, port: _Port) -> tuple[int, int, bool] | None:
        """The oldest operation that is ready and whose result does not leave when another one does."""
        if name[0] != "F":
            return heapq.heappop(port.ready) if port.ready else None
        for chosen in sorted(port.ready):
            at, count, _ = chosen
            first = self.now + self._operation(at).behind
            leaving = {first + cycle for cycle in range(count)}
            if not leaving & port.leaving:
                port.leaving |= leaving
                port.ready.remove(chosen)
                heapq.heapify(port.ready)
                return chosen
        return None
