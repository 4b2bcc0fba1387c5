"""The machine model of the search: registers in order of preference, and instructions for moves and constants."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from setwise.codegen.ir.numbers import is_immediate, signed
from setwise.codegen.ir.values import Value
from setwise.codegen.machine.code import Instruction, Memory, Operand, Register, RegisterFile
from setwise.codegen.machine.convention import MASKS, Convention
from setwise.codegen.regalloc.candidates import FIRST, REGISTERS, bitset, number_of
from setwise.codegen.targets.operands import sized
from setwise.codegen.targets.table import Refused, Row, Target, build

Moves = dict[int, tuple[int, int]]
"""A parallel move: for each destination register its source register and the number of lanes."""


def _by_file(*files: Sequence[Register]) -> dict[RegisterFile, tuple[int, ...]]:
    return {file: tuple(map(number_of, registers)) for file, registers in zip(FIRST, files, strict=True)}


class OutOfRegisters(Refused):
    """No allocation of a schedule to the registers is found; the message names a remedy."""


class TooLong(ValueError):
    """No allocation of a schedule is within the size limit."""


@dataclass(frozen=True)
class Machine:
    """The machine model: rows of a target, registers of a convention, places of constants."""

    target: Target
    convention: Convention
    memory: Callable[[Value, bool], Memory]
    """The function from a constant to its memory operand. The flag demands all lanes; else one may be broadcast."""

    @cached_property
    def free(self) -> dict[RegisterFile, tuple[int, ...]]:
        """The caller-saved registers of each file, in order of preference."""
        vectors, _ = self.convention.vectors(self.target.vectors)
        return _by_file(self.convention.scratch, vectors, MASKS)

    @cached_property
    def saved(self) -> dict[RegisterFile, tuple[int, ...]]:
        """The callee-saved registers of each file, in order of preference."""
        _, vectors = self.convention.vectors(self.target.vectors)
        return _by_file(self.convention.saved, vectors, ())

    @cached_property
    def preserved(self) -> int:
        """The set of callee-saved registers, including those that the target lacks."""
        return bitset(self.saved["general"]) | bitset(
            FIRST["vector"] + number for number in self.convention.saved_vectors
        )

    def constant(self, value: Value, row: Row) -> Operand:
        """Return a constant as an operand: an immediate of 32 signed bits in a scalar two-operand form, else memory."""
        if value.lanes == 1 and row.tied and is_immediate(value.number):
            return signed(value.number)
        return self.memory(value, row.whole)

    def load_constant(self, to: int, value: Value) -> Instruction:
        """Return the instruction that loads a constant into register number `to`."""
        register = REGISTERS[to]
        if register.file == "vector":
            if not any(value.attr):
                return self._xor(register.at(128), register.at(128))
            loaded = Value("load-constant", (value,), lanes=value.lanes)
            (row,) = self.target.rows_for(loaded)
            return build(row, loaded, register, (self.constant(value, row),))
        number = value.number
        if number == 0:
            return Instruction("xor", (register.at(32), register.at(32)))
        return Instruction("mov", (register.at(32) if number < 1 << 32 else register, number))

    def exchange(self, one: int, other: int, lanes: int = 1) -> list[Instruction]:
        """Return the instructions that exchange two general registers, or `lanes` lanes of two vector registers."""
        if REGISTERS[one].file == "general":
            return [Instruction("xchg", (REGISTERS[one], REGISTERS[other]))]
        a, b = sized(REGISTERS[one], lanes), sized(REGISTERS[other], lanes)
        return [self._xor(a, b), self._xor(b, a), self._xor(a, b)]

    def move(self, to: int, source: int, lanes: int = 1) -> Instruction:
        """Return the instruction that copies register `source` to register `to`."""
        register = REGISTERS[to]
        mnemonic = {"general": "mov", "vector": self.target.move, "mask": "kmovq"}[register.file]
        return Instruction(mnemonic, (sized(register, lanes), sized(REGISTERS[source], lanes)))

    def _xor(self, to: Register, other: Register) -> Instruction:
        """Return the instruction that leaves the exclusive or of two vector registers in the first."""
        if "avx" not in self.target.features:
            return Instruction("pxor", (to, other))
        vex = to.bits < 512 and max(to.number, other.number) < 16
        return Instruction("vpxor" if vex else "vpxorq", (to, to, other))

    def in_order(self, moves: Moves) -> list[Instruction]:
        """Return the moves and exchanges, in order, that carry out a parallel move."""
        left = dict(moves)
        ordered: list[Instruction] = []
        while left:
            sources = {source for source, _ in left.values()}
            unread = next((to for to in left if to not in sources), None)
            if unread is not None:
                ordered.append(self.move(unread, *left.pop(unread)))
                continue
            to, (source, lanes) = next(reversed(left.items()))
            held = max(n for s, n in left.values() if s == to)
            # Break a cycle by an exchange: `to` is then right, and its old value is in `source`.
            ordered += self.exchange(to, source, max(lanes, held))
            left = {t: (source if s == to else s, n) for t, (s, n) in left.items() if t != to}
            left = {t: (s, n) for t, (s, n) in left.items() if t != s}
        return ordered
