"""The machine that the search works on: its registers in the order of their use, moves between them, constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from setwise.codegen.describe.values import Value
from setwise.codegen.machine.code import Instruction, Memory, Operand, Register, RegisterFile
from setwise.codegen.machine.convention import MASKS, Convention
from setwise.codegen.registers.points import FIRST, REGISTERS, numbered, together
from setwise.codegen.targets.operands import sized
from setwise.codegen.targets.table import Row, Target

Moves = dict[int, tuple[int, int]]
"""To each register from which, and how many lanes; all at once."""


def _by_file(*files: Sequence[Register]) -> dict[RegisterFile, tuple[int, ...]]:
    return {file: tuple(map(numbered, registers)) for file, registers in zip(FIRST, files, strict=True)}


class OutOfRegisters(Exception):
    """No allocation of this order fits the registers: values must be spilled."""


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
        return together(self.saved["general"]) | together(
            FIRST["vector"] + number for number in self.convention.saved_vectors
        )

    def to_save(self, register: int) -> int:
        """The set of this register where the routine must save it, else that of none."""
        return 1 << register & self.preserved

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
            if any(value.constant or ()):
                raise OutOfRegisters  # no description carries such a constant into a region
            low = register.at(128)
            if "avx" in self.target.features:
                return Instruction("vpxor" if register.number < 16 else "vpxorq", (low, low, low))
            return Instruction("pxor", (low, low))
        number = value.number
        if number == 0:
            return Instruction("xor", (register.at(32), register.at(32)))
        return Instruction("mov", (register.at(32) if number < 1 << 32 else register, number))

    def move(self, to: int, source: int, lanes: int = 1) -> Instruction:
        """A register to a register."""
        register = REGISTERS[to]
        mnemonic = {"general": "mov", "vector": self.target.move, "mask": "kmovq"}[register.file]
        return Instruction(mnemonic, (sized(register, lanes), sized(REGISTERS[source], lanes)))

    def in_order(self, moves: Moves) -> list[Instruction] | None:
        """Moves that all happen at once, one by one; None if they go round in a circle."""
        left = dict(moves)
        ordered: list[Instruction] = []
        while left:
            sources = {source for source, _ in left.values()}
            unread = next((to for to in left if to not in sources), None)
            if unread is not None:
                ordered.append(self.move(unread, *left.pop(unread)))
                continue
            to, (source, _) = left.popitem()
            if REGISTERS[to].file != "general":
                return None
            # In a circle two registers change places: `to` is right then, and what it held is found in `source`.
            ordered.append(Instruction("xchg", (REGISTERS[to], REGISTERS[source])))
            left = {t: (source if s == to else s, n) for t, (s, n) in left.items()}
            left = {t: (s, n) for t, (s, n) in left.items() if t != s}
        return ordered
