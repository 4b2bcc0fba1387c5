"""The dependence graph of executed instructions, and the cycle at which each result is ready with unlimited ports.

Registers, flags and memory carry values between instructions. Branches are predicted, so no instruction waits for
them. Values that do not depend on an argument, such as constants, can be computed early and are ready at cycle 0.
Memory operands alias if they have the same base register, index and displacement, followed through moves, additions of
constants, pushes and pops. Different addresses are assumed not to alias.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from setwise.analysis.code.decode import Decoded, Imm, Mem, Reg
from setwise.analysis.cost.processors.processor import CostRow, Processor, size_of

BEFORE = -1
"""The producer of a value that existed before the first instruction."""

Symbol = tuple[str, int]
"""A register's value for address comparison: the name of an unknown and an added constant."""
Cell = tuple[tuple[str, str, int], int]
"""A memory address: symbols of base and index, the scale, and a displacement."""


class Input(NamedTuple):
    """An operand of an instruction: its producer, its register, flag or "memory", and the latency to the result."""

    producer: int
    name: str
    latency: float


class Readiness(NamedTuple):
    """An executed instruction: the cycle at which its result is ready, and the values that it waits for."""

    ready: float
    inputs: tuple[Input, ...]


class Arrival(NamedTuple):
    """A value in a register or in memory.

    `ready` is the cycle at which it is ready, `producer` its instruction, and `live` says whether it depends on an
    argument. `depth` counts the instructions on the longest chain to it.
    """

    ready: float = 0
    producer: int = BEFORE
    live: bool = True
    depth: int = 0


_ARGUMENT, _STACK_POINTER = Arrival(), Arrival(live=False)


@dataclass(frozen=True, slots=True)
class PendingStore:
    """A stored value: `size` bytes at `offset`.

    `symbol` is the value of the general register that was stored, if known.
    """

    offset: int
    size: int
    kind: str
    value: Arrival
    symbol: Symbol | None


@dataclass(frozen=True, slots=True)
class TimedInstruction:
    """An instruction with its dependences by name and its latencies.

    `waits` are the registers and flags that the operation reads, with latencies. `addresses` are the address registers
    of a load, with latencies. `behind` is the latency of the operation after the load. `kind` is the size of its
    memory access. `written` are the registers and flags that it writes, `named` the registers whose symbols change.
    `origin` is their new symbol, if it is a register plus a constant.
    """

    instruction: Decoded
    row: CostRow
    waits: tuple[tuple[str, float], ...]
    addresses: tuple[tuple[str, float], ...]
    behind: float
    kind: str
    written: tuple[str, ...]
    named: tuple[str, ...]
    origin: Symbol | None
    moves_stack: bool
    exchanges: bool


def parts_of(stream: Sequence[Decoded], rows: Sequence[CostRow], processor: Processor) -> list[TimedInstruction]:
    """Return the instructions with their latencies from the rows of a processor's table."""
    return [_part(instruction, row, processor) for instruction, row in zip(stream, rows, strict=True)]


def _part(instruction: Decoded, row: CostRow, processor: Processor) -> TimedInstruction:
    memory, moves_stack = instruction.memory, _moves_stack(instruction)
    address = set() if memory is None else {part.full for part in (memory.base, memory.index) if part}
    named = {operand.full for operand in instruction.operands if isinstance(operand, Reg)}
    # A register that is only part of the address delays the access, not the operation.
    read = (
        name
        for name in sorted(instruction.reads)
        if (name != "rsp" or not moves_stack)
        and name != "rip"
        and (instruction.mnemonic == "lea" or name not in address or name in named)
    )
    waits = [(name, row.after(_kind(name))) for name in read]
    waits += [(name, row.after("f")) for name in sorted(instruction.flags_read)]
    kind = size_of(instruction)
    behind = row.after("r" if kind == "r" else "x")
    scaled = processor.scaled if memory is not None and memory.scale > 1 else 0
    loading = processor.loads[kind].latency + scaled + behind if instruction.loads else 0.0
    writes = tuple(name for name in instruction.writes if name != "rsp" or not moves_stack)
    return TimedInstruction(
        instruction,
        row,
        waits=() if row.breaks else tuple(waits),
        addresses=tuple((name, loading) for name in sorted(address)),
        behind=behind,
        kind=kind,
        written=(*writes, *instruction.flags_written, *instruction.flags_undefined),
        named=writes,
        origin=_sum(instruction),
        moves_stack=moves_stack,
        exchanges=instruction.mnemonic == "xchg" and memory is None,
    )


@dataclass
class Dataflow:
    """The ready times of instructions that are executed in order. It can continue with the next iteration of a loop."""

    processor: Processor
    steps: list[Readiness] = field(default_factory=list)
    values: dict[str, Arrival] = field(default_factory=dict)
    stored: dict[tuple[str, str, int], list[PendingStore]] = field(default_factory=dict)
    symbols: dict[str, Symbol] = field(default_factory=dict)
    results: list[Arrival] = field(default_factory=list)
    """Values stored outside the stack."""

    def run(self, parts: Sequence[TimedInstruction]) -> None:
        """Execute these instructions after all earlier ones."""
        for part in parts:
            self._execute(part)

    def value(self, name: str) -> Arrival:
        """Return the current value of a register or flag."""
        return self.values.get(name, _STACK_POINTER if name == "rsp" else _ARGUMENT)

    def _execute(self, part: TimedInstruction) -> None:
        index = len(self.steps)
        if part.exchanges:
            self._exchange(part, index)
            return
        instruction = part.instruction
        cell = self._cell(instruction) if instruction.loads or instruction.stores else None
        inputs, sources = [], []
        for name, latency in part.waits:
            value = self.value(name)
            sources.append(value)
            inputs.append(Input(value.producer, name, latency))
        if cell is not None and instruction.loads and not part.row.breaks:
            for source, needed in self._loaded(part, cell):
                sources.append(source)
                inputs.append(needed)
        value = self._finish(inputs, sources, index)
        for name in part.written:
            self.values[name] = value
        symbol = self._copied(part, cell)
        self._follow(part, index)
        if symbol is not None and not instruction.stores:
            self.symbols[part.named[0]] = symbol
        if instruction.stores and cell is not None:
            self._store(part, cell, value, symbol)

    def _finish(self, inputs: Sequence[Input], sources: Sequence[Arrival], index: int) -> Arrival:
        ready: float = 0  # remains an int if all latencies are
        live, depth = False, 0
        for source, needed in zip(sources, inputs, strict=True):
            ready = max(ready, source.ready + needed.latency)
            live = live or source.live
            depth = max(depth, source.depth)
        ready = ready if live else 0.0
        self.steps.append(Readiness(ready, tuple(inputs)))
        return Arrival(ready, index, live, 1 + depth)

    def _exchange(self, part: TimedInstruction, index: int) -> None:
        """Execute xchg, after which each register depends on the other one only."""
        first, second = (operand.full for operand in part.instruction.operands if isinstance(operand, Reg))
        after = part.row.after("r")
        old = {name: self.value(name) for name in (first, second)}
        inputs = [Input(value.producer, name, after) for name, value in old.items()]
        self._finish(inputs, list(old.values()), index)
        for name, other in ((first, second), (second, first)):
            was = old[other]
            self.values[name] = Arrival(was.ready + after * was.live, index, was.live, was.depth + 1)
        known = [self._symbol(name) for name in (first, second)]
        self.symbols[second], self.symbols[first] = known

    def _loaded(self, part: TimedInstruction, cell: Cell) -> Iterator[tuple[Arrival, Input]]:
        """Yield the inputs of a load: its address registers, and the stores that it forwards from.

        A stack argument is treated as stored before the first instruction.
        """
        for name, latency in part.addresses:
            value = self.value(name)
            yield value, Input(value.producer, name, latency)
        key, offset = cell
        missing = set(range(offset, offset + _bytes(part.instruction)))
        for stored in reversed(self.stored.get(key, [])):
            covered = missing & set(range(stored.offset, stored.offset + stored.size))
            if covered:
                missing -= covered
                forwards = self.processor.forwards
                latency = forwards.get(stored.kind + part.kind, forwards[""])
                yield stored.value, Input(stored.value.producer, "memory", latency + part.behind)
        if missing and key == ("rsp", "", 1) and offset > 0:
            yield _ARGUMENT, Input(BEFORE, "memory", self.processor.loads[part.kind].latency + part.behind)

    def _store(self, part: TimedInstruction, cell: Cell, value: Arrival, symbol: Symbol | None) -> None:
        key, offset = cell
        instruction = part.instruction
        new = PendingStore(offset, _bytes(instruction), part.kind, value, symbol)
        kept = [old for old in self.stored.get(key, []) if not _covers(new, old)]
        self.stored[key] = [*kept, new]
        if key[0] != "rsp" and instruction.flow == "next":
            self.results.append(value)

    def _copied(self, part: TimedInstruction, cell: Cell | None) -> Symbol | None:
        """Return the symbol of a general register that mov, push or pop copies to or from memory unchanged."""
        if cell is None or part.instruction.mnemonic not in ("mov", "push", "pop") or _bytes(part.instruction) != 8:
            return None
        if part.instruction.stores:
            register = part.instruction.operands[-1]
            return self._symbol(register.full) if isinstance(register, Reg) else None
        key, offset = cell
        for stored in reversed(self.stored.get(key, [])):
            if offset - stored.size < stored.offset < offset + 8:
                return stored.symbol if (stored.offset, stored.size) == (offset, 8) else None
        return None

    def _symbol(self, name: str) -> Symbol:
        return self.symbols.get(name, (name, 0))

    def _cell(self, instruction: Decoded) -> Cell:
        """Return the memory address that an instruction accesses."""
        memory = instruction.memory
        if memory is None:
            name, offset = self._symbol("rsp")
            return (name, "", 1), offset - 8 * instruction.stores
        if memory.target is not None:
            return ("rip", "", 1), memory.target
        base, more = self._symbol(memory.base.full) if memory.base else ("", 0)
        index, further = self._symbol(memory.index.full) if memory.index else ("", 0)
        return (base, index, memory.scale), more + memory.scale * further + memory.displacement

    def _follow(self, part: TimedInstruction, index: int) -> None:
        """Update the symbols of the registers that an instruction writes."""
        if part.moves_stack:
            name, offset = self._symbol("rsp")
            self.symbols["rsp"] = (name, offset + (-8 if part.instruction.stores else 8))
        for name in part.named:
            if part.origin is None:
                self.symbols[name] = (f"{name} of {index}", 0)
            else:
                origin, offset = self._symbol(part.origin[0])
                self.symbols[name] = (origin, offset + part.origin[1])


def _moves_stack(instruction: Decoded) -> bool:
    return instruction.mnemonic in ("push", "pop") or instruction.flow in ("call", "return")


def _kind(name: str) -> str:
    return "x" if name.startswith("zmm") else "k" if name[0] == "k" else "r"


def _bytes(instruction: Decoded) -> int:
    return instruction.memory.bits // 8 if instruction.memory is not None else 8


def _covers(new: PendingStore, old: PendingStore) -> bool:
    return new.offset <= old.offset and old.offset + old.size <= new.offset + new.size


def _sum(instruction: Decoded) -> Symbol | None:
    """Return the new symbol of the destination if the instruction computes a register plus a constant, else None."""
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
