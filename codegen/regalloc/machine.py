"""The machine that the search works on: its registers in the order of their use, moves between them, constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from setwise.codegen.describe.values import Value
from setwise.codegen.machine.code import Instruction, Memory, Operand, Register, RegisterFile
from setwise.codegen.machine.convention import MASKS, Convention
from setwise.codegen.regalloc.candidates import FIRST, REGISTERS, bitset, number_of
from setwise.codegen.targets.operands import sized
from setwise.codegen.targets.table import Row, Target, build

Moves = dict[int, tuple[int, int]]
"""To each register from which, and how many lanes; all at once."""


def _by_file(*files: Sequence[Register]) -> dict[RegisterFile, tuple[int, ...]]:
    return {file: tuple(map(number_of, registers)) for file, registers in zip(FIRST, files, strict=True)}


class OutOfRegisters(ValueError):
    """No allocation of this order fits the registers; the message says what would help."""


class TooLong(ValueError):
    """No allocation of this order has as few instructions as are allowed."""


@dataclass(frozen=True)
class Machine:
    """A target's rows, a convention's registers, the constants' places."""

    target: Target
    convention: Convention
    memory: Callable[[Value, bool], Memory]
    """Where a constant lies in read-only memory, all lanes of it or perhaps one number for all."""

    @cached_property
    def free(self) -> dict[RegisterFile, tuple[int, ...]]:
        """The registers of each file that need not be saved, the first to use first."""
        vectors, _ = self.convention.vectors(self.target.vectors)
        return _by_file(self.convention.scratch, vectors, MASKS)

    @cached_property
    def saved(self) -> dict[RegisterFile, tuple[int, ...]]:
        """Those that the routine must save."""
        _, vectors = self.convention.vectors(self.target.vectors)
        return _by_file(self.convention.saved, vectors, ())

    @cached_property
    def preserved(self) -> int:
        """The set of registers that the convention preserves, whether the target has them or not."""
        return bitset(self.saved["general"]) | bitset(
            FIRST["vector"] + number for number in self.convention.saved_vectors
        )

    def constant(self, value: Value, row: Row) -> Operand:
        """A constant as an operand: a sign-extended 32-bit immediate where there is one, else read-only memory."""
        if value.lanes == 1 and row.tied:
            number = value.number
            if number < 1 << 31:
                return number
            if number >= (1 << 64) - (1 << 31):
                return number - (1 << 64)
        return self.memory(value, row.whole)

    def load_constant(self, to: int, value: Value) -> Instruction:
        """A constant into a register."""
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
        """Two registers change places."""
        if REGISTERS[one].file == "general":
            return [Instruction("xchg", (REGISTERS[one], REGISTERS[other]))]
        a, b = sized(REGISTERS[one], lanes), sized(REGISTERS[other], lanes)
        return [self._xor(a, b), self._xor(b, a), self._xor(a, b)]

    def move(self, to: int, source: int, lanes: int = 1) -> Instruction:
        """A register to a register."""
        register = REGISTERS[to]
        mnemonic = {"general": "mov", "vector": self.target.move, "mask": "kmovq"}[register.file]
        return Instruction(mnemonic, (sized(register, lanes), sized(REGISTERS[source], lanes)))

    def _xor(self, to: Register, other: Register) -> Instruction:
        """The exclusive or of two vector registers in the first of them."""
        if "avx" not in self.target.features:
            return Instruction("pxor", (to, other))
        vex = to.bits < 512 and max(to.number, other.number) < 16
        return Instruction("vpxor" if vex else "vpxorq", (to, to, other))

    def in_order(self, moves: Moves, taken: int) -> list[Instruction]:
        """Moves that all happen at once, one by one; `taken` registers hold what is still wanted, or will."""
        left = dict(moves)
        spare = next((register for register in self.free["vector"] if not taken >> register & 1), None)
        ordered: list[Instruction] = []
        while left:
            sources = {source for source, _ in left.values()}
            unread = next((to for to in left if to not in sources), None)
            if unread is not None:
                ordered.append(self.move(unread, *left.pop(unread)))
                continue
            to, (source, lanes) = next(reversed(left.items()))
            held = max(n for s, n in left.values() if s == to)
            if spare is not None and REGISTERS[to].file == "vector":
                # Of a circle what one of them held goes elsewhere: processors move vectors without any state.
                ordered.append(self.move(spare, to, held))
                left = {t: (spare if s == to else s, n) for t, (s, n) in left.items()}
                continue
            # Else two registers change places: `to` is right then, and what it held is found in `source`.
            ordered += self.exchange(to, source, max(lanes, held))
            left = {t: (source if s == to else s, n) for t, (s, n) in left.items() if t != to}
            left = {t: (s, n) for t, (s, n) in left.items() if t != s}
        return ordered
