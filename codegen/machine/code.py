"""Registers, instructions and code: the output of the passes and the input of the assemblers."""

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
    16: (*(name[1:] for name in _GENERAL_64[:8]), *(f"{name}w" for name in _GENERAL_64[8:])),
    8: (*(f"{name[1:].rstrip('x')}l" for name in _GENERAL_64[:8]), *(f"{name}b" for name in _GENERAL_64[8:])),
}
_VECTOR_LETTER = {128: "x", 256: "y", 512: "z"}


@dataclass(frozen=True, slots=True, order=True)
class Register:
    """A register of one of the three files, at one operand size in bits.

    >>> Register("general", 0, 64).name, Register("general", 9, 32).name, Register("vector", 17, 512).name
    ('rax', 'r9d', 'zmm17')
    """

    file: RegisterFile
    number: int
    bits: int

    @property
    def name(self) -> str:
        """The assembler name of this register at this operand size."""
        if self.file == "general":
            return _GENERAL_NAMES[self.bits][self.number]
        if self.file == "vector":
            return f"{_VECTOR_LETTER[self.bits]}mm{self.number}"
        return f"k{self.number}"

    def at(self, bits: int) -> Register:
        """Return the same register at another operand size."""
        return Register(self.file, self.number, bits)

    def __repr__(self) -> str:
        return self.name


def general(name: str) -> Register:
    """Return the 64-bit general register with this name.

    >>> general("rdx")
    rdx
    """
    return Register("general", _GENERAL_64.index(name), 64)


def vector(number: int, bits: int) -> Register:
    """Return vector register `number` at 128, 256 or 512 bits."""
    return Register("vector", number, bits)


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory operand: base + index * scale + displacement, or rip-relative: symbol + displacement.

    `bits` is the access size. With `broadcast` it is the size of the one element that fills all lanes (EVEX only).
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
    """A position in the code: defined where it is in `Code.items`, the target of a branch where it is an operand."""

    name: str


Operand = Register | Memory | int | Label


class Line(NamedTuple):
    """A source line of a description, and an expression's byte columns on it, the end exclusive, (0, 0) if unknown.

    `directions` names those of the first ray among the variables there, lane by lane.
    """

    file: str
    number: int
    columns: tuple[int, int] = (0, 0)
    directions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Instruction:
    """A machine instruction in Intel operand order. With `zeroing` it clears lanes outside its EVEX write `mask`."""

    mnemonic: str
    operands: tuple[Operand, ...] = ()
    mask: Register | None = None
    zeroing: bool = False
    line: Line | None = field(default=None, compare=False, repr=False)
    """The source line of the value that the instruction computes, if lines were recorded."""


Item = Instruction | Label


@dataclass(frozen=True, slots=True)
class Datum:
    """Read-only data: little-endian integers of `size` bytes.

    A `Label` among the values is an entry of a jump table: the signed distance from the start of this datum to the
    label, in `size` = 4 bytes.
    """

    label: str
    values: tuple[int | Label, ...]
    size: int = 8
    alignment: int = 8


@dataclass(frozen=True, slots=True)
class Code:
    """A routine after register allocation: instructions and labels in order, and the read-only data that they use."""

    name: str
    items: tuple[Item, ...]
    data: tuple[Datum, ...] = ()

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        """The instructions without the labels."""
        return tuple(item for item in self.items if isinstance(item, Instruction))

    @property
    def begins_with_endbr64(self) -> bool:
        """Whether the routine begins with endbr64, so that an indirect call may target it under CET."""
        return self.instructions[0].mnemonic == "endbr64"


@dataclass(frozen=True, slots=True)
class Fixup:
    """A 4-byte signed field for a distance between the code and its data.

    In text: field = address(datum `label`) + addend - address(field).
    In data: field = address(code label `label`) + addend - address(field). `offset` is that of the field, in bytes.

    This is the rule of R_X86_64_PC32, so an object file can hold it unchanged.
    """

    offset: int
    label: str
    addend: int


@dataclass(frozen=True, slots=True)
class Assembled:
    """The bytes of a routine: text and data, with the fixups between them, whose fields hold zeros.

    `labels` maps each code label to its offset in `text`, `symbols` the label of each datum to its offset in `data`.
    """

    text: bytes
    data: bytes = b""
    data_alignment: int = 1
    labels: Mapping[str, int] = field(default_factory=dict)
    symbols: Mapping[str, int] = field(default_factory=dict)
    text_fixups: tuple[Fixup, ...] = ()
    data_fixups: tuple[Fixup, ...] = ()
    starts: tuple[int, ...] = ()
    """The offset of each code item in the text, and the offset of the end."""

    @property
    def data_offset(self) -> int:
        """The offset of `data` in `image`: after the text, at the alignment of the data."""
        return -(-len(self.text) // self.data_alignment) * self.data_alignment if self.data else len(self.text)

    @property
    def image(self) -> bytes:
        """Text, int3 padding and data as one position-independent block with all fixups applied.

        The block must be loaded at a multiple of `data_alignment`.
        """
        start = self.data_offset
        block = bytearray(self.text + b"\xcc" * (start - len(self.text)) + self.data)
        places = [(fixup, fixup.offset, start + self.symbols[fixup.label]) for fixup in self.text_fixups]
        places += [(fixup, start + fixup.offset, self.labels[fixup.label]) for fixup in self.data_fixups]
        for fixup, place, target in places:
            block[place : place + 4] = (target + fixup.addend - place).to_bytes(4, "little", signed=True)
        return bytes(block)
