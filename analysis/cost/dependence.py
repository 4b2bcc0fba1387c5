"""Which instruction waits for which, and when each result is ready where execution units are never the limit.

Registers, flags and memory carry values between instructions. Branches are predicted: nothing waits for them.
What needs no argument, such as a constant and its load, can be done before the arguments come and is ready at cycle 0.
Memory is told apart by address as far as that is plain: by base register, index and displacement, followed through
moves, additions of constants, pushes and pops. Addresses that look different are taken to be different.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from setwise.analysis.code.decode import Decoded, Imm, Mem, Reg
from setwise.analysis.cost.processors.table import CostRow, Processor, size_of

BEFORE = -1
"""As producer: the value was there before the first instruction."""

Symbol = tuple[str, int]
"""A register's value as far as addresses need it: a name for what is not known, and what was added to it."""
Cell = tuple[tuple[str, str, int], int]
"""An address: base, index and scale by their symbols, and the displacement from there."""


@dataclass(frozen=True, slots=True)
class Input:
    """A value that an instruction waits for: who made it, its register or flag (or "memory"), cycles to the result."""

    producer: int
    name: str
    latency: float


@dataclass(frozen=True, slots=True)
class Readiness:
    """An executed instruction: when its result is there, and what it waits for."""

    ready: float
    inputs: tuple[Input, ...]


@dataclass(frozen=True, slots=True)
class Arrival:
    """A value in a register or in memory: when it is ready, who made it, whether it depends on an argument.

    `depth` counts instructions on the longest chain to it.
    """

    ready: float = 0
    producer: int = BEFORE
    live: bool = True
    depth: int = 0


@dataclass(frozen=True, slots=True)
class PendingStore:
    """What a store left in memory: `size` bytes from `offset`."""

    offset: int
    size: int
    kind: str
    value: Arrival


@dataclass
class Dataflow:
    """Executes instructions in order, as far as readiness goes; may go on with the next round of a loop."""

    processor: Processor
    steps: list[Readiness] = field(default_factory=list)
    values: dict[str, Arrival] = field(default_factory=dict)
    stored: dict[tuple[str, str, int], list[PendingStore]] = field(default_factory=dict)
    symbols: dict[str, Symbol] = field(default_factory=dict)
    results: list[Arrival] = field(default_factory=list)
    """Values that were stored elsewhere than on the stack."""

    def run(self, stream: Sequence[Decoded], rows: Sequence[CostRow]) -> None:
        """These instructions with the rows of their table, behind what was executed before."""
        for instruction, row in zip(stream, rows, strict=True):
            self._execute(instruction, row)

    def value(self, name: str) -> Arrival:
        """The value of a register or flag now."""
        return self.values.get(name, Arrival(live=name != "rsp"))

    def _execute(self, instruction: Decoded, row: CostRow) -> None:
        index = len(self.steps)
        cell = self._cell(instruction)
        if instruction.mnemonic == "xchg" and instruction.memory is None:
            self._exchange(instruction, row, index)
            return
        inputs, sources = [], []
        for source, needed in [] if row.breaks else self._inputs(instruction, row, cell):
            sources.append(source)
            inputs.append(needed)
        value = self._finish(inputs, sources, index)
        for name in _written(instruction):
            self.values[name] = value
        self._follow(instruction, index)
        if instruction.stores and cell is not None:
            self._store(instruction, cell, value)

    def _finish(self, inputs: Sequence[Input], sources: Sequence[Arrival], index: int) -> Arrival:
        live = any(source.live for source in sources)
        times = (source.ready + needed.latency for source, needed in zip(sources, inputs, strict=True))
        ready = max(times, default=0.0) if live else 0.0
        self.steps.append(Readiness(ready, tuple(inputs)))
        return Arrival(ready, index, live, 1 + max((source.depth for source in sources), default=0))

    def _exchange(self, instruction: Decoded, row: CostRow, index: int) -> None:
        """Each register waits for the other alone."""
        first, second = (operand.full for operand in instruction.operands if isinstance(operand, Reg))
        old = {name: self.value(name) for name in (first, second)}
        inputs = [Input(value.producer, name, row.after("r")) for name, value in old.items()]
        self._finish(inputs, list(old.values()), index)
        for name, other in ((first, second), (second, first)):
            was = old[other]
            self.values[name] = Arrival(was.ready + row.after("r") * was.live, index, was.live, was.depth + 1)
        known = [self._symbol(name) for name in (first, second)]
        self.symbols[second], self.symbols[first] = known

    def _inputs(self, instruction: Decoded, row: CostRow, cell: Cell | None) -> Iterator[tuple[Arrival, Input]]:
        memory = instruction.memory
        address = set() if memory is None else {part.full for part in (memory.base, memory.index) if part}
        named = {operand.full for operand in instruction.operands if isinstance(operand, Reg)}
        stack = _moves_stack(instruction)
        loads = instruction.loads
        for name in sorted(instruction.reads):
            if (name == "rsp" and stack) or name == "rip":
                continue
            # A register of the address alone is waited for by a load, not by what is stored.
            if instruction.mnemonic == "lea" or name not in address or name in named:
                value = self.value(name)
                yield value, Input(value.producer, name, row.after(_kind(name)))
        for name in sorted(instruction.flags_read):
            value = self.value(name)
            yield value, Input(value.producer, name, row.after("f"))
        if not loads or cell is None:
            return
        kind = size_of(instruction)
        access = self.processor.loads[kind]
        behind = row.after("r" if kind == "r" else "x")
        scaled = self.processor.scaled if memory is not None and memory.scale > 1 else 0
        for name in sorted(address):
            value = self.value(name)
            yield value, Input(value.producer, name, access.latency + scaled + behind)
        yield from self._loaded(instruction, cell, kind, behind)

    def _loaded(self, instruction: Decoded, cell: Cell, kind: str, behind: float) -> Iterator[tuple[Arrival, Input]]:
        """The stores that a load takes its value from; an argument on the stack was stored before."""
        key, offset = cell
        size = _bytes(instruction)
        missing = set(range(offset, offset + size))
        for stored in reversed(self.stored.get(key, [])):
            covered = missing & set(range(stored.offset, stored.offset + stored.size))
            if covered:
                missing -= covered
                forwards = self.processor.forwards
                latency = forwards.get(stored.kind + kind, forwards[""])
                yield stored.value, Input(stored.value.producer, "memory", latency + behind)
        if missing and key == ("rsp", "", 1) and offset > 0:
            yield Arrival(), Input(BEFORE, "memory", self.processor.loads[kind].latency + behind)

    def _store(self, instruction: Decoded, cell: Cell, value: Arrival) -> None:
        key, offset = cell
        new = PendingStore(offset, _bytes(instruction), size_of(instruction), value)
        kept = [old for old in self.stored.get(key, []) if not _covers(new, old)]
        self.stored[key] = [*kept, new]
        if key[0] != "rsp" and instruction.flow == "next":
            self.results.append(value)

    def _symbol(self, name: str) -> Symbol:
        return self.symbols.get(name, (name, 0))

    def _cell(self, instruction: Decoded) -> Cell | None:
        """Where an instruction loads or stores."""
        if not instruction.loads and not instruction.stores:
            return None
        memory = instruction.memory
        if memory is None:
            name, offset = self._symbol("rsp")
            return (name, "", 1), offset - 8 * instruction.stores
        if memory.target is not None:
            return ("rip", "", 1), memory.target
        base, more = self._symbol(memory.base.full) if memory.base else ("", 0)
        index, further = self._symbol(memory.index.full) if memory.index else ("", 0)
        return (base, index, memory.scale), more + memory.scale * further + memory.displacement

    def _follow(self, instruction: Decoded, index: int) -> None:
        """What becomes of the symbols."""
        if _moves_stack(instruction):
            name, offset = self._symbol("rsp")
            self.symbols["rsp"] = (name, offset + (-8 if instruction.stores else 8))
        sum_of = _sum(instruction)
        for name in instruction.writes:
            if name == "rsp" and _moves_stack(instruction):
                continue
            if sum_of is not None:
                origin, offset = self._symbol(sum_of[0])
                self.symbols[name] = (origin, offset + sum_of[1])
            else:
                self.symbols[name] = (f"{name} of {index}", 0)


def _moves_stack(instruction: Decoded) -> bool:
    return instruction.mnemonic in ("push", "pop") or instruction.flow in ("call", "return")


def _written(instruction: Decoded) -> Iterable[str]:
    writes = instruction.writes - {"rsp"} if _moves_stack(instruction) else instruction.writes
    return (*writes, *instruction.flags_written, *instruction.flags_undefined)


def _kind(name: str) -> str:
    return "x" if name.startswith("zmm") else "k" if name[0] == "k" else "r"


def _bytes(instruction: Decoded) -> int:
    return instruction.memory.bits // 8 if instruction.memory is not None else 8


def _covers(new: PendingStore, old: PendingStore) -> bool:
    return new.offset <= old.offset and old.offset + old.size <= new.offset + new.size


def _sum(instruction: Decoded) -> tuple[str, int] | None:
    """The register and the number whose sum a general register now is, if that is what was computed."""
    operands = instruction.operands
    if len(operands) != 2 or not isinstance(operands[0], Reg) or operands[0].bits != 64:
        return None
    first, second = operands
    assert isinstance(first, Reg)
    if instruction.mnemonic == "mov" and isinstance(second, Reg):
        return second.full, 0
    if instruction.mnemonic in ("add", "sub") and isinstance(second, Imm):
        number = second.value - (1 << 64) if second.value >> 63 else second.value
        return first.full, number if instruction.mnemonic == "add" else -number
    if instruction.mnemonic == "lea" and isinstance(second, Mem) and second.base and not second.index:
        return second.base.full, second.displacement
    return None
