"""What executed instructions cost on a processor: lower bounds in core cycles, and what bounds them.

A bound, not a forecast: nothing is faster, whatever surrounds it. It may be slower, for the order in which operations
find their ports, for mispredicted branches, for caches. Loads are taken to hit the nearest cache, branches to be
predicted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any

from setwise.analysis.code.decode import Decoded, Reg
from setwise.analysis.cost.dependence import BEFORE, Arrival, Dataflow, Input, Readiness, parts_of
from setwise.analysis.cost.processors.processor import CostRow, Processor, Uops, size_of

_RESULTS = ("rax", "zmm0")
_SHORT = 500  # of such rounds many are run, so that a rhythm of several rounds shows


@dataclass(frozen=True, slots=True)
class Pressure:
    """Cycles that a set of ports is busy at least, its ports in order."""

    cycles: float = 0.0
    ports: tuple[str, ...] = ()

    @property
    def named(self) -> str:
        """The ports in short.

        >>> Pressure(1.0, ("I1", "I2", "B0")).named
        'I12 B0'
        """
        letters = dict.fromkeys(port[0] for port in self.ports)
        return " ".join(letter + "".join(port[1:] for port in self.ports if port[0] == letter) for letter in letters)


def busiest(uops: Iterable[Uops]) -> Pressure:
    """The set of ports with the most to do a port.

    For any set, the operations that can go nowhere else share it. Only unions of the operations' own sets need be
    looked at: any other has the same operations on more ports. Among equals the set with fewer ports is given.

    >>> from setwise.analysis.cost.processors.processor import parse_ports
    >>> busiest([parse_ports("p06"), parse_ports("p06"), parse_ports("p0156"), parse_ports("p6")])
    Pressure(cycles=1.5, ports=('p0', 'p6'))
    """
    counts: defaultdict[frozenset[str], float] = defaultdict(float)
    for ports, number in chain.from_iterable(uops):
        counts[ports] += number
    unions: set[frozenset[str]] = set()
    for ports in counts:
        unions |= {ports} | {ports | union for union in unions}
    best = Pressure()
    for union in sorted(unions, key=lambda union: (len(union), sorted(union))):
        cycles = sum(number for ports, number in counts.items() if ports <= union) / len(union)
        if cycles > best.cycles:
            best = Pressure(cycles, tuple(sorted(union)))
    return best


@dataclass(frozen=True, slots=True)
class Cost:
    """Lower bounds in cycles.

    `latency`: from the arguments to the result, by the longest chain; of a round of a loop, how long each waits for the
    one before. `pressure`: on the busiest ports. `issue`: slots of the processor's width. `taken`: fetching
    behind taken jumps, and of lines. `depth` counts instructions on the longest chain, `bytes` all code, `registers`
    those named. `critical` are indices of the instructions on the chain that `latency` is the length of.
    """

    latency: float
    pressure: Pressure
    issue: float
    taken: float
    depth: int
    bytes: int
    registers: int
    critical: tuple[int, ...]
    steps: tuple[Readiness, ...]
    carried: bool = False

    @property
    def throughput(self) -> float:
        """Cycles a call at least, where calls wait for nothing."""
        return max(self.pressure.cycles, self.issue, self.taken)

    @property
    def bound(self) -> float:
        """Cycles a call at least: independent calls; of a round of a loop, also what it waits for."""
        return max(self.throughput, self.latency) if self.carried else self.throughput

    @property
    def limit(self) -> str:
        """What the bound comes from: ports, issue, jumps or latency.

        >>> Cost(9.0, Pressure(2.0, ("p0",)), 3.0, 1.0, 9, 30, 4, (), ()).limit
        'issue'
        """
        limits = {"ports": self.pressure.cycles, "issue": self.issue, "jumps": self.taken}
        if self.carried:
            limits["latency"] = self.latency
        return max(limits, key=lambda name: limits[name])

    def as_dict(self) -> dict[str, Any]:
        """For JSON: the figures, without the steps."""
        return {
            "latency": _rounded(self.latency),
            "bound": _rounded(self.bound),
            "limit": self.limit,
            "pressure": _rounded(self.pressure.cycles),
            "ports": self.pressure.named,
            "issue": _rounded(self.issue),
            "taken": _rounded(self.taken),
            "depth": self.depth,
            "bytes": self.bytes,
            "registers": self.registers,
        }


def cost(stream: Sequence[Decoded], processor: Processor) -> Cost:
    """What these instructions cost, executed once in this order; a final ret counts by its byte only.

    UnknownCost names the first instruction that the processor's table does not have.

    >>> from setwise.analysis.code.decode import decode
    >>> from setwise.analysis.cost.processors import processor
    >>> of_shift = cost(decode(bytes.fromhex("4889d048c1e808c3")), processor("zen4"))
    >>> of_shift.latency, of_shift.bound, of_shift.depth, of_shift.critical
    (1, 0.5, 2, (0, 1))
    """
    body = stream[:-1] if stream and stream[-1].flow == "return" else stream
    rows = rows_of(body, processor)
    dataflow = Dataflow(processor)
    dataflow.run(parts_of(body, rows, processor))
    results = [dataflow.value(name) for name in _RESULTS if dataflow.value(name).producer != BEFORE] + dataflow.results
    last = max(results, key=lambda value: value.ready, default=Arrival())
    return replace(
        _throughput(body, rows, processor),
        bytes=_bytes(stream),
        latency=last.ready,
        depth=max((value.depth for value in results), default=0),
        critical=critical_path(dataflow.steps, last.producer),
        steps=tuple(dataflow.steps),
    )


def round_cost(stream: Sequence[Decoded], processor: Processor) -> Cost:
    """What one round of a loop costs, where round follows round.

    `latency` is by how much each round's results come later than those of the round before; the critical path is not
    told. `steps` are those of all rounds that were looked at, three at least.
    """
    rows = rows_of(stream, processor)
    dataflow = Dataflow(processor)
    rounds = 4 if len(stream) > _SHORT else 24
    ready: list[dict[str, float]] = []
    parts = parts_of(stream, rows, processor)
    for _ in range(rounds):
        dataflow.run(parts)
        ready.append({name: value.ready for name, value in dataflow.values.items()})
    half = rounds // 2
    growth = [(late - ready[half - 1][name]) / half for name, late in ready[-1].items()]
    return replace(
        _throughput(stream, rows, processor),
        latency=max(growth, default=0.0),
        steps=tuple(dataflow.steps),
        carried=True,
    )


def loops(decoded: Sequence[Decoded]) -> tuple[tuple[Decoded, ...], ...]:
    """The innermost loops: from where a branch goes back to up to that branch, and nothing in between goes back."""
    bodies = []
    for index, branch in enumerate(decoded):
        if branch.target is None or branch.target > branch.offset or branch.flow == "call":
            continue
        body = tuple(inner for inner in decoded[: index + 1] if inner.offset >= branch.target)
        if not any(inner.target is not None and inner.target <= inner.offset for inner in body[:-1]):
            bodies.append(body)
    return tuple(bodies)


def critical_path(steps: Sequence[Readiness], last: int) -> tuple[int, ...]:
    """The instructions on the longest chain to instruction `last`, the first one first."""
    path = []
    while last != BEFORE:
        path.append(last)
        waits = [wait for wait in steps[last].inputs if _arrival(steps, wait) == steps[last].ready]
        # Of chains of equal length the one with more instructions says more.
        last = max((wait.producer for wait in waits), default=BEFORE)
    return tuple(reversed(path))


def _arrival(steps: Sequence[Readiness], wait: Input) -> float:
    return (steps[wait.producer].ready if wait.producer != BEFORE else 0.0) + wait.latency


def rows_of(stream: Sequence[Decoded], processor: Processor) -> list[CostRow]:
    """The row of each instruction; UnknownCost for the first that has none."""
    known: dict[tuple[bytes, bool], CostRow] = {}
    rows = []
    for instruction, taken in zip(stream, _taken(stream), strict=True):
        key = (instruction.raw, taken)
        if key not in known:
            known[key] = processor.row(instruction, taken)
        rows.append(known[key])
    return rows


def fetches(stream: Sequence[Decoded], processor: Processor) -> list[float]:
    """Cycles that fetching takes in front of each instruction: behind a taken jump, and where a new line begins.

    The code is taken to begin at a line's beginning; the last instruction comes before the first one again.
    """
    line = processor.line
    jumped = _taken(stream)
    delays = []
    for at, (instruction, taken) in enumerate(zip(stream, [*jumped[-1:], *jumped[:-1]], strict=True)):
        before = stream[at - 1]
        if taken:
            delays.append(processor.taken.get(before.flow, processor.taken[""]))
        else:
            delays.append(float(line > 0 and at > 0 and instruction.offset // line != before.offset // line))
    return delays


def _taken(stream: Sequence[Decoded]) -> list[bool]:
    """Which are jumps that are taken; after the last instruction comes the first one again."""
    following = [*stream[1:], *stream[:1]]
    return [
        instruction.flow in ("jump", "indirect", "call", "return")
        or (instruction.flow == "branch" and (after.offset != instruction.end or len(stream) == 1))
        for instruction, after in zip(stream, following, strict=True)
    ]


def _throughput(stream: Sequence[Decoded], rows: Sequence[CostRow], processor: Processor) -> Cost:
    """What is to be said of these instructions without what each waits for."""
    work = list(demands(stream, rows, processor))
    return Cost(
        latency=0.0,
        pressure=busiest([uops for demand in work for uops in (demand.own, demand.load, demand.store)]),
        issue=sum(demand.slots for demand in work) / processor.width,
        taken=sum(fetches(stream, processor)),
        depth=0,
        bytes=_bytes(stream),
        registers=len(_registers(stream)),
        critical=(),
        steps=(),
    )


@dataclass(frozen=True, slots=True)
class Demand:
    """What an instruction asks of the core: ports for its own work, its load and its store, and slots of issue."""

    own: Uops
    load: Uops
    store: Uops
    slots: float


def demands(stream: Sequence[Decoded], rows: Sequence[CostRow], processor: Processor) -> Iterator[Demand]:
    """What each instruction asks for; one that becomes one operation with the branch behind it leaves work to that."""
    joins = [*(processor.fuses(instruction, following) for instruction, following in pairwise(stream)), False]
    wide = any(vectors(instruction, 512) for instruction in stream)
    for instruction, row, joined in zip(stream, rows, joins, strict=False):
        size = size_of(instruction)
        closed = processor.closed if wide and vectors(instruction, 0) else frozenset()
        yield Demand(
            () if joined else _open(row.uops, closed),
            processor.loads[size].uops if instruction.loads else (),
            processor.stores[size].uops if instruction.stores else (),
            0.0 if joined else processor.slots(instruction, row),
        )


def _bytes(code: Sequence[Decoded]) -> int:
    return sum({instruction.offset: instruction.length for instruction in code}.values())


def vectors(instruction: Decoded, bits: int) -> bool:
    """Whether it works on a vector register of at least so many bits."""
    return any(
        isinstance(operand, Reg) and operand.file == "vector" and operand.bits >= bits
        for operand in instruction.operands
    )


def _open(uops: Uops, closed: frozenset[str]) -> Uops:
    return tuple((ports - closed or ports, count) for ports, count in uops) if closed else uops


def _registers(stream: Sequence[Decoded]) -> frozenset[str]:
    """The general, vector and mask registers that are named, rsp and rip left aside."""
    named = (name for instruction in stream for name in instruction.reads | instruction.writes)
    return frozenset(named) - {"rsp", "rip"}


def _rounded(cycles: float) -> float:
    return round(cycles, 3)
