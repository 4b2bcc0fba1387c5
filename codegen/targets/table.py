"""Targets: instruction sets as tables of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from setwise.codegen.files import shortest
from setwise.codegen.ir.values import Value
from setwise.codegen.machine.code import Instruction, Operand, Register, RegisterFile
from setwise.codegen.targets.operands import OperandForm, word_of


class Refused(ValueError):
    """The error if a routine has no kernel for a target, convention or variant, or no source in a language."""


class Unplaced(Refused):
    """A refusal of a value without a source line. Traced again with lines recorded, it has one."""


def refusal(value: Value, what: str, unplaced: str) -> Refused:
    """Return the error for a value: its place, if recorded, and `what`; else `unplaced` and `what`."""
    line = value.line
    return Refused(f"{shortest(line.file)}:{line.number}: {what}") if line else Unplaced(unplaced + what)


@dataclass(frozen=True)
class Row:
    """An instruction form that implements one operation.

    `operands` holds words of `codegen.targets.operands` in Intel order. If d or d32 occurs but no source operand does,
    the instruction overwrites argument a with its result. `when` restricts the row to the values for which it is true.
    """

    op: str
    mnemonic: str
    operands: str
    when: Callable[[Value], bool] | None = None
    file: RegisterFile = "general"
    """The register file of the row. Values of several lanes, or with arguments of several lanes, need a vector row."""
    masked: bool = False
    """Whether the last argument is the write mask. Lanes of a result outside it are 0."""

    def __post_init__(self) -> None:
        assert self.words  # rejects an unknown word when the table is built

    @cached_property
    def words(self) -> tuple[OperandForm, ...]:
        """The form of each operand."""
        try:
            return tuple(map(word_of, self.operands.split()))
        except ValueError as error:
            raise ValueError(f"row '{self.operands}' of {self.mnemonic}: {error}") from None

    @cached_property
    def spellings(self) -> frozenset[str]:
        """The words of `operands` as a set."""
        return frozenset(self.operands.split())

    @cached_property
    def tied(self) -> bool:
        """Whether the instruction overwrites argument a with its result."""
        return not self.spellings.isdisjoint(("d", "d32")) and not any(word.source for word in self.words)

    @cached_property
    def whole(self) -> bool:
        """Whether a constant in memory must hold all lanes."""
        return any(word.whole for word in self.words)

    @cached_property
    def folds(self) -> frozenset[str]:
        """The letters of the arguments that may be constants in memory or immediates, and "" for other operands."""
        return frozenset([word.folds for word in self.words])


def alike(operands: str, operations: str, mnemonic: str) -> tuple[Row, ...]:
    """Return a row with these operands for each operation. The operation replaces {} in its mnemonic.

    >>> [row.mnemonic for row in alike("d B", "add sub", "p{}q")]
    ['paddq', 'psubq']
    """
    return tuple(Row(op, mnemonic.format(op), operands) for op in operations.split())


def moves(mnemonic: str) -> tuple[Row, ...]:
    """Return the rows of an instruction that moves a register from or to memory of any alignment."""
    operands = {"load": "d [a+b*8+n]", "store": "[slot] a", "reload": "d [slot]", "put": "[a+n] b"}
    return tuple(Row(op, mnemonic, words) for op, words in {**operands, "put-entry": "[a+b*8+n] c"}.items())


@dataclass(frozen=True)
class Target:
    """An instruction set, as far as setwise uses it."""

    name: str
    title: str
    features: frozenset[str]
    rows: tuple[Row, ...]
    tries_rotates: bool = False
    """Whether rotates save copies, so that the passes also try masks that clear the wrapped ranks."""
    move: str = ""
    """The mnemonic that copies a vector register; "" without vectors."""
    widths: tuple[int, ...] = (1,)
    """The possible numbers of lanes of a register, the default first."""
    vectors: int = 0
    """The number of vector registers."""
    tests_vectors: bool = False
    """Whether an instruction sets the flags by all lanes of a vector register."""
    broadcasts: bool = False
    """Whether a memory operand can be broadcast to all lanes."""
    aligned_operands: bool = False
    """Whether vector operands in memory must be aligned to their size, except those of unaligned moves."""
    hoist_constants: bool = False
    """Whether a vector constant or board with several uses is loaded into a register once, instead of read at each."""
    extends: Target | None = None
    """An older set, if any, whose rows this one has, too. This one's other rows are for operations that it lacks."""

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def direction_widths(self) -> tuple[int, ...]:
        """The possible numbers of directions in a register, the default first; empty without more than two lanes."""
        return tuple(width for width in self.widths if width > 2)

    @cached_property
    def _by_file(self) -> dict[tuple[str, str], tuple[tuple[Row, ...], bool]]:
        """For each operation and file: the rows, preferred ones first, and whether all of them are unconditional."""
        rows: dict[tuple[str, str], tuple[tuple[Row, ...], bool]] = {}
        for row in self.rows:
            others, always = rows.get((row.op, row.file), ((), True))
            rows[row.op, row.file] = (*others, row), always and row.when is None
        return rows

    def rows_for(self, value: Value) -> tuple[Row, ...]:
        """Return the rows that can compute this value, preferred ones first."""
        wide = value.lanes > 1
        for arg in value.args:
            wide = wide or arg.lanes > 1
        rows, always = self._by_file.get((value.op, "vector" if wide else "general"), ((), True))
        return rows if always else tuple([row for row in rows if row.when is None or row.when(value)])

    def overwrites(self, value: Value) -> bool:
        """Return whether some row can compute this value, and every such row overwrites argument a."""
        rows = self.rows_for(value)
        return bool(rows) and all(row.tied for row in rows)

    def has(self, op: str, lanes: int) -> bool:
        """Return whether some row implements the operation on vectors, or with one lane on general registers."""
        return (op, "vector" if lanes > 1 else "general") in self._by_file


def uniform_count(value: Value) -> bool:
    """Return whether the lanes of the value's `attr` are equal: shift counts, or the numbers of a constant."""
    return len(set(value.attr)) == 1


def per_lane_counts(value: Value) -> bool:
    """Return whether the lanes of the value's `attr` differ: shift counts, or the numbers of a constant."""
    return not uniform_count(value)


def build(row: Row, value: Value, result: Register, args: Sequence[Operand]) -> Instruction:
    """Return the instruction of a row for these operands. If the row is tied, args[0] must be `result` already."""
    operands, mask = tuple(word.make(value, result, args) for word in row.words), args[-1] if row.masked else None
    assert mask is None or isinstance(mask, Register)
    return Instruction(row.mnemonic, operands, mask, mask is not None and not value.operation.writes, value.line)
