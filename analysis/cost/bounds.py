"""Lower bounds in core cycles for executed instructions on a processor, and the resource that sets each bound.

The bounds are not forecasts: code never runs faster, but it may run slower. They ignore port contention beyond the
total load, branch mispredictions and cache misses. Loads are assumed to hit the first-level cache.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any

from setwise.analysis.code.decode import Decoded, Reg
from setwise.analysis.cost.dependence import BEFORE, Arrival, Dataflow, Input, Readiness, parts_of
from setwise.analysis.cost.processors.processor import CostRow, Processor, Uops, size_of

_RESULTS = ("rax", "zmm0")
_SHORT = 500  # instructions: 24 iterations of a loop up to this long are simulated, 4 of a longer one


@dataclass(frozen=True, slots=True)
class Pressure:
    """A lower bound in cycles that comes from a set of execution ports."""

    cycles: float = 0.0
    ports: tuple[str, ...] = ()

    @property
    def named(self) -> str:
        """The ports in short form.

        >>> Pressure(1.0, ("I1", "I2", "B0")).named
        'I12 B0'
        """
        letters = dict.fromkeys(port[0] for port in self.ports)
        return " ".join(letter + "".join(port[1:] for port in self.ports if port[0] == letter) for letter in letters)


def busiest(uops: Iterable[Uops]) -> Pressure:
    """Return the set of ports with the highest load per port, and that load per port as cycles.

    The load of a set consists of the micro-operations that can run on no other port. Only unions of the
    micro-operations' own port sets can be the maximum: any other set has only the load of such a union, on more ports.
    Ties go to the smaller set.

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
    """Lower bounds in cycles for a call, or for a loop iteration if `carried`.

    `pressure` is the load of the busiest ports, `issue` the issue slots divided by the processor's width, and `taken`
    the fetch cycles after taken jumps and at the starts of fetch lines. `bytes` is the size of the code, an instruction
    that is executed twice counted once. `registers` is the number of registers that it uses except rsp and rip.
    `latency` is the length of the longest dependence chain from the arguments to a result; for a loop, the delay from
    one iteration to the next. `depth` is the largest number of instructions on a chain to a result. `critical` are the
    indices of the instructions on the chain of length `latency`. `steps` has each instruction's ready time and inputs.
    For a loop `depth` is 0, and `critical` is empty.
    """

    pressure: Pressure
    issue: float
    taken: float
    bytes: int
    registers: int
    latency: float = 0.0
    depth: int = 0
    critical: tuple[int, ...] = ()
    steps: tuple[Readiness, ...] = ()
    carried: bool = False

    @property
    def throughput(self) -> float:
        """The lower bound in cycles a call, or an iteration, without latency, as if all were independent."""
        return max(self.pressure.cycles, self.issue, self.taken)

    @property
    def bound(self) -> float:
        """The lower bound in cycles a call, or an iteration; for an iteration, loop-carried latency counts too."""
        return max(self.throughput, self.latency) if self.carried else self.throughput

    @property
    def limit(self) -> str:
        """The resource that sets the bound: ports, issue, jumps or latency.

        >>> Cost(Pressure(2.0, ("p0",)), issue=3.0, taken=1.0, bytes=30, registers=4).limit
        'issue'
        """
        limits = {"ports": self.pressure.cycles, "issue": self.issue, "jumps": self.taken}
        if self.carried:
            limits["latency"] = self.latency
        return max(limits, key=lambda name: limits[name])

    def as_dict(self) -> dict[str, Any]:
        """Return the figures for JSON, rounded, with bound and limit, without `carried`, `critical` and `steps`."""
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
    """Return the cost of executing these instructions once in this order.

    A final ret counts only in `bytes`. Raises UnknownCost for the first instruction that processor or table lacks.

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
    """Return the cost of one iteration of a loop in the steady state.

    `latency` is the largest growth of the ready time of a register or flag from one iteration to the next, on average
    over the second half of the simulated iterations. `steps` are those of all simulated iterations.
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
    """Return the bodies of the innermost loops, each from the target of a jump backward to this jump."""
    bodies = []
    for index, branch in enumerate(decoded):
        if branch.target is None or branch.target > branch.offset or branch.flow == "call":
            continue
        body = tuple(inner for inner in decoded[: index + 1] if inner.offset >= branch.target)
        if not any(inner.target is not None and inner.target <= inner.offset for inner in body[:-1]):
            bodies.append(body)
    return tuple(bodies)


def critical_path(steps: Sequence[Readiness], last: int) -> tuple[int, ...]:
    """Return the indices of the instructions on the longest dependence chain that ends at `last`, in order."""
    path = []
    while last != BEFORE:
        path.append(last)
        waits = [wait for wait in steps[last].inputs if _arrival(steps, wait) == steps[last].ready]
        # Of several inputs that arrive last, take the latest instruction's; an argument's only if there is no other.
        last = max((wait.producer for wait in waits), default=BEFORE)
    return tuple(reversed(path))


def _arrival(steps: Sequence[Readiness], wait: Input) -> float:
    return (steps[wait.producer].ready if wait.producer != BEFORE else 0.0) + wait.latency


def rows_of(stream: Sequence[Decoded], processor: Processor) -> list[CostRow]:
    """Return the table row of each instruction. Raises UnknownCost for the first that processor or table lacks."""
    known: dict[tuple[bytes, bool], CostRow] = {}
    rows = []
    for instruction, taken in zip(stream, _taken(stream), strict=True):
        key = (instruction.raw, taken)
        if key not in known:
            known[key] = processor.row(instruction, taken)
        rows.append(known[key])
    return rows


def fetches(stream: Sequence[Decoded], processor: Processor) -> list[float]:
    """Return for each instruction the fetch delay before it in cycles: after a taken jump, or at a new fetch line.

    It is assumed that the code starts at a line boundary, and that the first instruction follows the last one.
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
    """Return whether each instruction is a taken jump, call or return. The first instruction follows the last one."""
    following = [*stream[1:], *stream[:1]]
    return [
        instruction.flow in ("jump", "indirect", "call", "return")
        or (instruction.flow == "branch" and (after.offset != instruction.end or len(stream) == 1))
        for instruction, after in zip(stream, following, strict=True)
    ]


def _throughput(stream: Sequence[Decoded], rows: Sequence[CostRow], processor: Processor) -> Cost:
    """Return the bounds that do not depend on latencies.

    An instruction that fuses with the following branch takes no issue slot, and no port except for its load.
    """
    joins = [*(processor.fuses(instruction, following) for instruction, following in pairwise(stream)), False]
    wide = any(vectors(instruction, 512) for instruction in stream)
    uops: list[Uops] = []
    slots = 0.0
    for instruction, row, joined in zip(stream, rows, joins, strict=False):
        if not joined:
            closed = processor.closed if wide and vectors(instruction, 0) else frozenset()
            uops.append(tuple((ports - closed or ports, count) for ports, count in row.uops))
            slots += processor.slots(instruction, row)
        if instruction.loads:
            uops.append(processor.loads[size_of(instruction)].uops)
        if instruction.stores:
            uops.append(processor.stores[size_of(instruction)].uops)
    named = {name for instruction in stream for name in instruction.reads | instruction.writes}
    return Cost(
        pressure=busiest(uops),
        issue=slots / processor.width,
        taken=sum(fetches(stream, processor)),
        bytes=_bytes(stream),
        registers=len(named - {"rsp", "rip"}),
    )


def _bytes(code: Sequence[Decoded]) -> int:
    return sum({instruction.offset: instruction.length for instruction in code}.values())


def vectors(instruction: Decoded, bits: int) -> bool:
    """Return whether an operand is a vector register of at least `bits` bits."""
    return any(
        isinstance(operand, Reg) and operand.file == "vector" and operand.bits >= bits
        for operand in instruction.operands
    )


def _rounded(cycles: float) -> float:
    return round(cycles, 3)
