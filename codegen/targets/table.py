"""What a target is: its name, its features, and its rows; how a row becomes an instruction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from setwise.codegen.ir.values import Value
from setwise.codegen.machine.code import Instruction, Operand, Register, RegisterFile
from setwise.codegen.targets.operands import OperandForm, word_of


class Refused(ValueError):
    """The target has no instruction for an operation; the message names both and what to use instead."""


@dataclass(frozen=True)
class Row:
    """How one operation becomes one instruction.

    `operands` are words of `codegen.targets.operands`, in Intel order; where d is named, but no source of it, the
    instruction writes its result over argument a.
    `when` says for which values the row holds; without it, for all.
    """

    op: str
    mnemonic: str
    operands: str
    when: Callable[[Value], bool] | None = None
    file: RegisterFile = "general"
    """The registers that the row is about; a value with several lanes, or of such, wants a vector's row."""

    def __post_init__(self) -> None:
        assert self.words  # a wrong one is told here

    @cached_property
    def words(self) -> tuple[OperandForm, ...]:
        """What makes each operand."""
        try:
            return tuple(map(word_of, self.operands.split()))
        except ValueError as error:
            raise ValueError(f"row '{self.operands}' of {self.mnemonic}: {error}") from None

    @cached_property
    def spelt(self) -> frozenset[str]:
        """The words as they are spelt."""
        return frozenset(self.operands.split())

    @cached_property
    def tied(self) -> bool:
        """Whether the instruction writes its result over argument a."""
        return not self.spelt.isdisjoint(("d", "d32")) and not any(word.source for word in self.words)

    @cached_property
    def whole(self) -> bool:
        """Whether memory must hold all lanes of a constant."""
        return any(word.whole for word in self.words)

    @cached_property
    def folded(self) -> frozenset[str | None]:
        """The arguments that may be constants which need no register."""
        return frozenset([word.folds for word in self.words])

    def folds(self, letter: str) -> bool:
        """Whether that argument may be a constant that needs no register."""
        return letter in self.folded


@dataclass(frozen=True)
class Target:
    """An instruction set, as far as setwise uses it: all that is to be said of it."""

    name: str
    title: str
    features: frozenset[str]
    rows: tuple[Row, ...]
    rotates: bool = False
    """Whether rotates spare moves, so that masks which hold ranks too are worth trying."""
    move: str = ""
    """How vector registers are moved."""
    widths: tuple[int, ...] = (1,)
    """How many lanes a register may have, the usual number first."""
    vectors: int = 0
    """How many vector registers there are."""
    repeats: bool = False
    """Whether a memory operand may be one number for all lanes."""
    aligned: bool = False
    """Whether a vector in memory must lie at a multiple of its size, except for the instruction that loads it."""
    holds: bool = False
    """Whether a vector that is wanted more than once is loaded once, where instructions could each read it."""
    extends: Target | None = None
    """An instruction set of which it has all rows, and beyond them only rows of operations that that one lacks."""

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def spread(self) -> tuple[int, ...]:
        """How many directions a register may hold, the usual number first; none where lanes are too few for that."""
        return tuple(width for width in self.widths if width > 2)

    @cached_property
    def _by_file(self) -> dict[tuple[str, str], tuple[tuple[Row, ...], bool]]:
        """The rows of each operation in the registers of a file, the one to prefer first, and if all always hold."""
        rows: dict[tuple[str, str], tuple[tuple[Row, ...], bool]] = {}
        for row in self.rows:
            others, always = rows.get((row.op, row.file), ((), True))
            rows[row.op, row.file] = (*others, row), always and row.when is None
        return rows

    def rows_for(self, value: Value) -> tuple[Row, ...]:
        """The rows that can make this value."""
        wide = value.lanes > 1
        for arg in value.args:
            wide = wide or arg.lanes > 1
        rows, always = self._by_file.get((value.op, "vector" if wide else "general"), ((), True))
        return rows if always else tuple([row for row in rows if row.when is None or row.when(value)])

    def overwrites(self, value: Value) -> bool:
        """Whether every row that can make this value writes the result over an argument."""
        rows = self.rows_for(value)
        return bool(rows) and all(row.tied for row in rows)

    def has(self, op: str, lanes: int) -> bool:
        """Whether some row makes that operation for so many lanes."""
        return (op, "vector" if lanes > 1 else "general") in self._by_file


def uniform_count(value: Value) -> bool:
    """Whether all lanes are shifted by the same count, or hold the same number."""
    return len(set(value.attr)) == 1


def per_lane_counts(value: Value) -> bool:
    """Whether lanes have counts, or numbers, of their own."""
    return not uniform_count(value)


def build(row: Row, value: Value, result: Register, args: Sequence[Operand]) -> Instruction:
    """The instruction of a row, its result and arguments placed; for a tied row args[0] is already `result`."""
    return Instruction(row.mnemonic, tuple(word.make(value, result, args) for word in row.words), line=value.line)
