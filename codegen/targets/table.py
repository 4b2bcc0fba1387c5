"""What a target is: its name, its features, and its rows; how a row becomes an instruction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from setwise.codegen.describe.values import Value
from setwise.codegen.machine.code import Instruction, Memory, Operand, Register, RegisterFile, general


class Refused(ValueError):
    """The target has no instruction for an operation; the message names both and what to use instead."""


@dataclass(frozen=True)
class Row:
    """How one operation becomes one instruction.

    `operands` spells the instruction's operands in Intel order, a word each:
      d            the result
      a b c        the arguments, in registers; a row that names d but not a is the two-operand form: d holds a before
      A B C        an argument that may also be a constant: a memory operand, on general registers also an immediate
      # #b         the constant itself, or argument b, a constant, as an immediate
      i -i         the shift count, or 64 minus it
      #t =n        a truth table or selection of lanes; the number n
      cl           the low byte of rcx, where argument b must lie
      [a+a] [a*i] [a+b] [a+b*i]   addresses for lea: doubled, scaled by 2**count, a sum, a scaled sum
      [data] [a+b*s]      the address of a table; its entry number b, of s bytes
      [a+b*8]             a place behind pointer a, by number b
      [a+o] [slot] [argument]   memory: behind pointer a, a stack slot, an argument that came on the stack
    `when` says for which values the row holds; without it, for all. `bits` is the width at which the result is
    written where it is not the target's own.
    """

    op: str
    mnemonic: str
    operands: str
    when: Callable[[Value], bool] | None = None
    bits: int | None = None
    file: RegisterFile = "general"
    """The registers that the row is about; a value with several lanes, or of such, wants a vector's row."""

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of `operands`."""
        return tuple(self.operands.split())

    @cached_property
    def tied(self) -> bool:
        """Whether the instruction writes its result over argument a."""
        return self.op not in _NO_ARGUMENT and "d" in self.words and not any("a" in word.lower() for word in self.words)

    def folds(self, letter: str) -> bool:
        """Whether that argument may be a constant that needs no register."""
        return not {letter.upper(), f"{letter.upper()}1", f"#{letter}"}.isdisjoint(self.words)


_NO_ARGUMENT = frozenset({"address", "reload", "argument", "load-constant"})

RSP = general("rsp")
ARGUMENT = "stack argument"
"""The symbol of a memory operand that is the routine's argument on the stack, until the frame's size is known."""


@dataclass(frozen=True)
class Target:
    """An instruction set, as far as setwise uses it: all that is to be said of it."""

    name: str
    title: str
    features: frozenset[str]
    rows: tuple[Row, ...]
    march: str
    """What gcc and clang are told, behind -march=: the oldest processor that has it."""
    told: str = ""
    """How C's preprocessor asks whether the compiler was told to use it; of plain x86-64 nobody asks."""
    rustc: str = "1.63"
    """The oldest rustc that has it."""
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

    @property
    def spread(self) -> tuple[int, ...]:
        """How many directions a register may hold, the usual number first; none where lanes are too few for that."""
        return tuple(width for width in self.widths if width > 2)

    @cached_property
    def by_operation(self) -> dict[str, tuple[Row, ...]]:
        """The rows of each operation, the one to prefer first."""
        rows: dict[str, tuple[Row, ...]] = {}
        for row in self.rows:
            rows[row.op] = (*rows.get(row.op, ()), row)
        return rows

    def rows_for(self, value: Value) -> tuple[Row, ...]:
        """The rows that can make this value."""
        file = "vector" if value.lanes > 1 or any(arg.lanes > 1 for arg in value.args) else "general"
        rows = self.by_operation.get(value.op, ())
        return tuple(row for row in rows if row.file == file and (row.when is None or row.when(value)))

    def has(self, op: str, lanes: int) -> bool:
        """Whether some row makes that operation for so many lanes."""
        file = "vector" if lanes > 1 else "general"
        return any(row.file == file for row in self.by_operation.get(op, ()))


def uniform_count(value: Value) -> bool:
    """Whether all lanes are shifted by the same count, or hold the same number."""
    return len(set(value.attr)) == 1


def per_lane_counts(value: Value) -> bool:
    """Whether lanes have counts, or numbers, of their own."""
    return not uniform_count(value)


def sized(register: Register, lanes: int) -> Register:
    """The register as wide as a value of so many lanes needs it."""
    return register.at(max(128, 64 * lanes)) if register.file == "vector" else register


def build(row: Row, value: Value, result: Register, args: Sequence[Operand]) -> Instruction:
    """The instruction of a row, its result and arguments placed; for a tied row args[0] is already `result`."""
    return Instruction(row.mnemonic, tuple(_operand(row, word, value, result, args) for word in row.words))


def _operand(row: Row, word: str, value: Value, result: Register, args: Sequence[Operand]) -> Operand:
    if word == "d":
        return result.at(row.bits) if row.bits else sized(result, value.lanes)
    if word[0] == "=":
        return int(word[1:])
    if word == "#t":
        return int(value.attr)

    if len(word) == 1 and word.lower() in "abc":
        place = "abc".index(word.lower())
        operand = args[place]
        return sized(operand, value.args[place].lanes) if isinstance(operand, Register) else operand
    if word == "A1":
        return _number_of_all(args[0])
    if word == "#b":
        number = value.args[1].number
        return number - (1 << 64) if number >> 63 else number
    if word == "#":
        return int(value.attr[0])
    if word == "i":
        return int(value.attr[0])
    if word == "-i":
        return 64 - int(value.attr[0])
    if word == "cl":
        return Register("general", 1, 8)
    if word == "[data]":
        return Memory(64, symbol=str(value.attr))
    if word == "[slot]":
        return Memory(64, RSP, displacement=8 * int(value.attr))
    if word == "[argument]":
        return Memory(64, symbol=ARGUMENT, displacement=int(value.attr))
    first = _register(args[0])
    if word == "[a+a]":
        return Memory(64, first, first)
    if word == "[a*i]":
        return Memory(64, None, first, 1 << int(value.attr[0]))
    if word == "[a+b*i]":
        return Memory(64, first, _register(args[1]), 1 << int(value.attr[0]))
    if word == "[a+b]":
        return Memory(64, first, _register(args[1]))
    if word == "[a+o]":
        return Memory(64 * value.args[-1].lanes, first, displacement=int(value.attr))
    if word == "[a+b*8]":
        lanes = value.args[2].lanes if value.op == "put-entry" else value.lanes
        return Memory(64 * lanes, first, _register(args[1]), 8)
    if word == "[a+b*s]":
        size = int(value.attr)
        return Memory(size * 8, first, _register(args[1]), size)
    raise ValueError(f"row '{row.operands}' of {row.mnemonic} has an unknown word '{word}'")


def _number_of_all(operand: Operand) -> Memory:
    if not isinstance(operand, Memory) or not operand.broadcast:
        raise TypeError(f"{operand} must be one number for all lanes here")
    return replace(operand, broadcast=False)


def _register(operand: Operand) -> Register:
    if not isinstance(operand, Register):
        raise TypeError(f"{operand} must be a register here")
    return operand
