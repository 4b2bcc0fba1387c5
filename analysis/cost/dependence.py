"""The dependence graph of executed instructions, and the cycle at which each result is ready with unlimited ports.

Registers, flags and memory carry values between instructions. Branches are predicted, so no instruction waits for
them. Values that do not depend on an argument, such as constants, can be computed early and are ready at cycle 0.
Two memory accesses alias if they share a byte whose address has the same base, scaled index and displacement, followed
through moves and additions of constants. Different addresses are assumed not to alias.
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
Address = tuple[str, str, int, int]
"""The address of a byte in memory: unknowns of base and index, the scale, and an added constant."""
Wait = tuple["Arrival", str, float]
"""A value that an instruction waits for, its register, flag or "memory", and the latency from it to the result."""


class Input(NamedTuple):
    """An operand: its producer's index or BEFORE, the register, flag or "memory", and the latency to the result."""

    producer: int
    name: str
    latency: float


class Readiness(NamedTuple):
    """The cycle at which an executed instruction's result is ready, and the values that it waits for."""

    ready: float
    inputs: tuple[Input, ...]


class Arrival(NamedTuple):
    """A value in a register or in memory.

    `ready` is the cycle at which it is ready, `producer` the index of its instruction, and `live` says whether it
    depends on an argument. `depth` is the largest number of instructions on a chain to it.
    """

    ready: float = 0
    producer: int = BEFORE
    live: bool = True
    depth: int = 0


_ARGUMENT, _STACK_POINTER = Arrival(), Arrival(live=False)


@dataclass(frozen=True, slots=True)
class TimedInstruction:
    """An instruction with its dependences by name and its latencies.

    `waits` are the registers and flags on which the operation depends, with latencies. `addresses` are the address
    registers, with the latencies of a load. `behind` is the latency of the operation after the load. `kind` is the size
    of the memory access, as from `size_of`. `written` are the registers and flags that the instruction writes, `named`
    the registers whose symbols change. `origin` is the register and constant whose sum they become, or None.
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


def parts_of(stream: Sequence[Decoded], rows: Sequence[CostRow], processor: Processor) -> list[TimedInstruction]:
    """Return the instructions with their latencies from the rows of a processor's table."""
    return [_part(instruction, row, processor) for instruction, row in zip(stream, rows, strict=True)]


def _part(instruction: Decoded, row: CostRow, processor: Processor) -> TimedInstruction:
    memory, moves_stack = instruction.memory, _moves_stack(instruction)
    address = set() if memory is None else {part.full for part in (memory.base, memory.index) if part}
    named = {operand.full for operand in instruction.operands if isinstance(operand, Reg)}
    # A register that is used only in the address delays the access, not the operation.
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
    )


@dataclass
class Dataflow:
    """The ready times of instructions that are executed in order. It can continue with the next iteration of a loop."""

    processor: Processor
    steps: list[Readiness] = field(default_factory=list)
    values: dict[str, Arrival] = field(default_factory=dict)
    stored: dict[Address, tuple[Arrival, str]] = field(default_factory=dict)
    """The value of each stored byte by the byte's address, with the size of the store, as from `size_of`."""
    symbols: dict[str, Symbol] = field(default_factory=dict)
    results: list[Arrival] = field(default_factory=list)
    """Values stored outside the stack."""

    def run(self, parts: Sequence[TimedInstruction]) -> None:
        """Execute these instructions after all earlier ones."""
        for part in parts:
            self._execute(part)

    def value(self, name: str) -> Arrival:
        """Return the current value of a register or flag. Before the first write it is an argument, except for rsp."""
        return self.values.get(name, _STACK_POINTER if name == "rsp" else _ARGUMENT)

    def _execute(self, part: TimedInstruction) -> None:
        index, instruction = len(self.steps), part.instruction
        if instruction.mnemonic == "xchg" and instruction.memory is None:
            self._exchange(part, index)
            return
        places = self._bytes(instruction) if instruction.loads or instruction.stores else []
        waits = [(self.value(name), name, latency) for name, latency in part.waits]
        if instruction.loads and not part.row.breaks:
            waits += self._loaded(part, places)
        value = self._finish(waits, index)
        self.values |= dict.fromkeys(part.written, value)
        self._follow(part, index)
        if instruction.stores:
            self.stored |= dict.fromkeys(places, (value, part.kind))
            if places[0][0] != "rsp" and instruction.flow == "next":
                self.results.append(value)

    def _finish(self, waits: Sequence[Wait], index: int) -> Arrival:
        live = any(value.live for value, _, _ in waits)
        ready = max((value.ready + latency for value, _, latency in waits), default=0) if live else 0.0
        self.steps.append(
            Readiness(ready, tuple(Input(value.producer, name, latency) for value, name, latency in waits))
        )
        return Arrival(ready, index, live, 1 + max((value.depth for value, _, _ in waits), default=0))

    def _exchange(self, part: TimedInstruction, index: int) -> None:
        """Execute xchg, after which each register depends on the other one only."""
        names = [operand.full for operand in part.instruction.operands if isinstance(operand, Reg)]
        old, after = [self.value(name) for name in names], part.row.after("r")
        symbols = [self._symbol(name) for name in names]
        self._finish([(value, name, after) for value, name in zip(old, names, strict=True)], index)
        for name, was, symbol in zip(reversed(names), old, symbols, strict=True):
            self.values[name] = Arrival(was.ready + after * was.live, index, was.live, was.depth + 1)
            self.symbols[name] = symbol

    def _loaded(self, part: TimedInstruction, places: Sequence[Address]) -> Iterator[Wait]:
        """Yield the inputs of a load: its address registers, and the stores that it forwards from.

        A stack argument is treated as stored before the first instruction.
        """
        for name, latency in part.addresses:
            yield self.value(name), name, latency
        stores, forwards = [self.stored.get(place) for place in places], self.processor.forwards
        for value, kind in dict.fromkeys(filter(None, stores)):
            yield value, "memory", forwards.get(kind + part.kind, forwards[""]) + part.behind
        if None in stores and places[0][:3] == ("rsp", "", 1) and places[0][3] > 0:
            yield _ARGUMENT, "memory", self.processor.loads[part.kind].latency + part.behind

    def _symbol(self, name: str) -> Symbol:
        return self.symbols.get(name, (name, 0))

    def _bytes(self, instruction: Decoded) -> list[Address]:
        """Return the addresses of the bytes that an instruction accesses."""
        memory, scale, size = instruction.memory, 1, 8
        base, index, start = "rip", "", 0
        if memory is None:
            base, start = self._symbol("rsp")
            start -= 8 * instruction.stores
        elif memory.target is not None:
            start, size = memory.target, memory.bits // 8
        else:
            scale, size = memory.scale, memory.bits // 8
            base, more = self._symbol(memory.base.full) if memory.base else ("", 0)
            index, further = self._symbol(memory.index.full) if memory.index else ("", 0)
            start = more + scale * further + memory.displacement
        return [(base, index, scale, start + at) for at in range(size)]

    def _follow(self, part: TimedInstruction, index: int) -> None:
        """Update the symbols of the registers that an instruction writes."""
        if _moves_stack(part.instruction):
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


def _sum(instruction: Decoded) -> Symbol | None:
    """Return the register and the constant whose sum a 64-bit mov, add, sub or lea computes, or None for others."""
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
