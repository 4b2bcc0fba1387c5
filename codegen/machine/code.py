"""Registers, instructions and code: what the passes make and the assemblers take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

RegisterFile = Literal["general", "vector", "mask"]

_GENERAL_64 = (
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
    "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
)  # fmt: skip
_GENERAL_NAMES = {
    64: _GENERAL_64,
    32: (*(f"e{name[1:]}" for name in _GENERAL_64[:8]), *(f"{name}d" for name in _GENERAL_64[8:])),
    8: (*(f"{name[1:].rstrip('x')}l" for name in _GENERAL_64[:8]), *(f"{name}b" for name in _GENERAL_64[8:])),
}
_VECTOR_LETTER = {128: "x", 256: "y", 512: "z"}


@dataclass(frozen=True, slots=True, order=True)
class Register:
    """A register of one of the three files, seen at one width.

    >>> Register("general", 0, 64).name, Register("general", 9, 32).name, Register("vector", 17, 512).name
    ('rax', 'r9d', 'zmm17')
    """

    file: RegisterFile
    number: int
    bits: int

    @property
    def name(self) -> str:
        """The assembler's name of this register at this width."""
        if self.file == "general":
            return _GENERAL_NAMES[self.bits][self.number]
        if self.file == "vector":
            return f"{_VECTOR_LETTER[self.bits]}mm{self.number}"
        return f"k{self.number}"

    def at(self, bits: int) -> Register:
        """The same register seen at another width."""
        return Register(self.file, self.number, bits)

    def __repr__(self) -> str:
        return self.name


def general(name: str) -> Register:
    """The 64-bit general register of that name.

    >>> general("rdx")
    rdx
    """
    return Register("general", _GENERAL_64.index(name), 64)


def vector(number: int, bits: int) -> Register:
    """Vector register `number` at 128, 256 or 512 bits."""
    return Register("vector", number, bits)


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory operand: base + index * scale + displacement, or a place named by a symbol (rip-relative).

    `bits` is the size of what is read or written; with `broadcast` it is the size of the one element that is
    repeated over all lanes (EVEX only).
    """

    bits: int
    base: Register | None = None
    index: Register | None = None
    scale: int = 1
    displacement: int = 0
    symbol: str | None = None
    broadcast: bool = False


@dataclass(frozen=True, slots=True)
class Label:
    """A place in the code. In `Code.items` it marks the place; as an operand it is where a branch goes."""

    name: str


Operand = Register | Memory | int | Label


class Line(NamedTuple):
    """A line of a description: its file, and its number there."""

    file: str
    number: int


@dataclass(frozen=True, slots=True)
class Instruction:
    """One machine instruction in Intel operand order; `mask` and `zeroing` are EVEX write masks."""

    mnemonic: str
    operands: tuple[Operand, ...] = ()
    mask: Register | None = None
    zeroing: bool = False
    line: Line | None = field(default=None, compare=False, repr=False)
    """The line of the description whose value it makes, where that was recorded."""


Item = Instruction | Label


@dataclass(frozen=True, slots=True)
class Datum:
    """Read-only data: integers of `size` bytes each, little-endian.

    A `Label` among the values is a jump table's entry: the signed distance from this datum's start to that place in
    the code, in `size` = 4 bytes.
    """

    label: str
    values: tuple[int | Label, ...]
    size: int = 8
    alignment: int = 8


@dataclass(frozen=True, slots=True)
class Code:
    """A routine with its registers chosen: instructions and labels in order, and the read-only data they use."""

    name: str
    items: tuple[Item, ...]
    data: tuple[Datum, ...] = ()

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        """The instructions alone."""
        return tuple(item for item in self.items if isinstance(item, Instruction))

    @property
    def begins_with_endbr64(self) -> bool:
        """Whether an indirect call may land at its start on processors that check."""
        return self.instructions[0].mnemonic == "endbr64"


@dataclass(frozen=True, slots=True)
class Fixup:
    """A 4-byte signed field that waits for the distance between the code and its data.

    In text: field = address(datum `label`) + addend - address(field).
    In data: field = address(code place `label`) + addend - address(field).
    (The rule of R_X86_64_PC32, so object files can carry it as it is.)
    """

    offset: int
    label: str
    addend: int


@dataclass(frozen=True, slots=True)
class Assembled:
    """Bytes of a routine: text and data apart, with what is still open between them."""

    text: bytes
    data: bytes = b""
    data_alignment: int = 1
    labels: Mapping[str, int] = field(default_factory=dict)
    symbols: Mapping[str, int] = field(default_factory=dict)
    text_fixups: tuple[Fixup, ...] = ()
    data_fixups: tuple[Fixup, ...] = ()
    starts: tuple[int, ...] = ()
    """Where each of the code's items starts in the text, and behind them where it ends."""

    @property
    def data_offset(self) -> int:
        """Where `data` begins in `image`: behind the text, at the data's alignment."""
        return -(-len(self.text) // self.data_alignment) * self.data_alignment if self.data else len(self.text)

    @property
    def image(self) -> bytes:
        """Text, padding (int3) and data as one position-independent block, all distances filled in.

        The block must be loaded at a multiple of `data_alignment`.
        """
        start = self.data_offset
        block = bytearray(self.text + b"\xcc" * (start - len(self.text)) + self.data)
        places = [(fixup, fixup.offset, start + self.symbols[fixup.label]) for fixup in self.text_fixups]
        places += [(fixup, start + fixup.offset, self.labels[fixup.label]) for fixup in self.data_fixups]
        for fixup, place, target in places:
            block[place : place + 4] = (target + fixup.addend - place).to_bytes(4, "little", signed=True)
        return bytes(block)
