"""Decoding of bytes by iced-x86: operands, registers and flags read and written, CPU features, control flow.

No other module of `analysis` uses iced-x86.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Literal, cast

import iced_x86 as iced

from setwise.analysis.code.section_layout import SectionLayout

RegisterFile = Literal["general", "vector", "mask", "other"]
Flow = Literal["next", "jump", "branch", "indirect", "call", "return", "interrupt", "transaction", "exception"]


class DecodeError(ValueError):
    """Bytes that are no valid instruction, or none with operands of known kinds. The message gives the offset."""


@dataclass(frozen=True, slots=True)
class Binary:
    """Code as bytes, with the read-only data that its rip-relative operands point into.

    `data_offset` is the offset of `data` from the start of `text`. Without a layout, all bytes and distances are
    known, and the text's address is a multiple of 64.
    """

    text: bytes
    data: bytes = b""
    data_offset: int = 0
    layout: SectionLayout | None = field(default=None, compare=False)

    @property
    def image(self) -> bytes:
        r"""Text and data as they are in memory, with the gap between them filled with int3.

        >>> Binary(b"\xc3", b"\x01", 4).image.hex()
        'c3cccccc01'
        """
        if not self.data:
            return self.text
        if self.data_offset < len(self.text):
            raise ValueError(f"data at offset {self.data_offset} overlaps {len(self.text)} bytes of text")
        return self.text.ljust(self.data_offset, b"\xcc") + self.data

    @property
    def sha256(self) -> str:
        """The SHA-256 of the text in hexadecimal, with zeros for rip-relative displacements that point outside it."""
        text = bytearray(self.text)
        for at in distances(self.text):
            text[at : at + 4] = bytes(4)
        return hashlib.sha256(text).hexdigest()

    @property
    def image_sha256(self) -> str:
        """The SHA-256, in hexadecimal, of the image: text, data and the gap between them."""
        return hashlib.sha256(self.image).hexdigest()


@dataclass(frozen=True, slots=True)
class Reg:
    """A register operand of `bits` bits.

    `full` is the name of the full register, `low` the lowest bit of the operand in it.
    """

    name: str
    bits: int
    file: RegisterFile
    full: str
    low: int = 0


@dataclass(frozen=True, slots=True)
class Imm:
    """An immediate as an unsigned 64-bit number, sign-extended to 64 bits if the instruction sign-extends it."""

    value: int


@dataclass(frozen=True, slots=True)
class Mem:
    """A memory operand of `bits` bits (0 if not accessed): base + index * scale + displacement (signed).

    `target` is the offset from the text's start to which a rip-relative operand points; such an operand has no base.
    With `broadcast`, `bits` is the size of the repeated element. `segment` is set for fs and gs only.
    """

    bits: int
    base: Reg | None = None
    index: Reg | None = None
    scale: int = 1
    displacement: int = 0
    target: int | None = None
    broadcast: bool = False
    segment: str | None = None


Operand = Reg | Imm | Mem


@dataclass(frozen=True, slots=True)
class Decoded:
    """One decoded instruction.

    `reads` and `writes` hold names of full registers (rax for eax and al, zmm3 for xmm3), including implicit operands
    and address registers. Writing a part of a general register that preserves the rest counts as a read too. The
    bits above xmm that a legacy SSE instruction preserves do not. The flags are of, sf, zf, af, cf, pf and df. A flag
    that the instruction leaves undefined is in `flags_undefined` only. `loads` and `stores` cover all memory, including
    the stack. `target` is the offset of the destination of a direct branch or call, which is not among `operands`.
    `features` has names such as avx2, and x86-64 for those of all CPUs. `encoding` is a name such as add_rm64_r64. It
    is empty with lock, rep of strings, fs, gs or 32-bit addresses, and for bytes that no assembler emits. A function of
    the C library has no bytes, and its name as mnemonic.
    """

    offset: int
    raw: bytes
    mnemonic: str
    operands: tuple[Operand, ...]
    mask: Reg | None
    zeroing: bool
    reads: frozenset[str]
    writes: frozenset[str]
    flags_read: frozenset[str]
    flags_written: frozenset[str]
    flags_undefined: frozenset[str]
    loads: bool
    stores: bool
    features: frozenset[str]
    flow: Flow
    target: int | None
    encoding: str

    @property
    def length(self) -> int:
        """The instruction's length in bytes."""
        return len(self.raw)

    @property
    def end(self) -> int:
        """The offset of the byte after the instruction."""
        return self.offset + len(self.raw)

    @property
    def memory(self) -> Mem | None:
        """The first explicit memory operand, or None."""
        return next((operand for operand in self.operands if isinstance(operand, Mem)), None)

    @property
    def title(self) -> str:
        """The instruction and its offset, for messages."""
        return f"'{self.text()}' at offset {self.offset:#x}"

    def text(self) -> str:
        """Return the instruction in NASM's syntax.

        Numbers above 9 are hexadecimal if any is 100 or more or an offset in code or data; all others are decimal.

        >>> decode(bytes.fromhex("48c1ea08"))[0].text()
        'shr rdx,8'
        """
        if not self.raw:
            return self.mnemonic
        formatter = iced.Formatter(iced.FormatterSyntax.NASM)
        formatter.hex_prefix, formatter.hex_suffix = "0x", ""
        formatter.uppercase_hex = False
        formatter.small_hex_numbers_in_decimal = True
        formatter.add_leading_zero_to_hex_numbers = False
        formatter.show_branch_size = False
        if self.target is None and all(_is_small(operand) for operand in self.operands):
            formatter.number_base = 10
        return formatter.format(iced.Decoder(64, self.raw, ip=self.offset).decode())


@lru_cache(4)  # a judgement asks several times for the same code
def decode(text: bytes) -> tuple[Decoded, ...]:
    """Decode all of `text` and return its instructions. Raises DecodeError at bytes that are no valid instruction.

    >>> [instruction.mnemonic for instruction in decode(bytes.fromhex("4889d0c3"))]
    ['mov', 'ret']
    """
    return tuple(decode_from(text, 0))


def decode_from(text: bytes, start: int) -> Iterator[Decoded]:
    """Yield the instructions from offset `start` on. Raises DecodeError at bytes that are no valid instruction."""
    decoder, encoder = iced.Decoder(64, text[start:], ip=start), iced.Encoder(64)
    factory = iced.InstructionInfoFactory()
    for instruction in decoder:
        offset = instruction.ip
        if instruction.is_invalid:
            bytes_there = text[offset : offset + 8].hex(" ")
            raise DecodeError(f"has no instruction at offset {offset:#x} (data in the code?): bytes {bytes_there}")
        yield _decoded(instruction, factory, encoder, text)


def encodings() -> Mapping[str, str]:
    """Return the mnemonic of each legacy, VEX or EVEX encoding for 64-bit mode with ordinary operands, by encoding.

    Such operands are general, vector and mask registers, memory (no vector index), immediates, direct branch targets.

    >>> encodings()["add_rm64_r64"]
    'add'
    """
    infos = ((name, iced.OpCodeInfo(cast(iced.Code_, code))) for code, name in _CODES.items())
    return {
        name: _MNEMONICS[info.mnemonic]
        for name, info in infos
        if info.mode64
        and "_knc_" not in name
        and info.encoding in (iced.EncodingKind.LEGACY, iced.EncodingKind.VEX, iced.EncodingKind.EVEX)
        and all(_KINDS.fullmatch(_OPERAND_KINDS[info.op_kind(place)]) for place in range(info.op_count))
    }


def distances(text: bytes) -> tuple[int, ...]:
    """Return the offsets of the 4-byte displacements of rip-relative operands that point outside `text`.

    >>> distances(bytes.fromhex("48233d00010000c3"))  # and rdi,[rip+0x100]; ret
    (3,)
    """
    decoder = iced.Decoder(64, text, ip=0)
    return tuple(
        instruction.ip + decoder.get_constant_offsets(instruction).displacement_offset
        for instruction in decoder
        if instruction.is_ip_rel_memory_operand and not 0 <= signed(instruction.ip_rel_memory_address) < len(text)
    )


def displacement(instruction: Decoded) -> int | None:
    """Return the offset of the rip-relative displacement in the instruction's bytes, or None if it has none."""
    decoder = iced.Decoder(64, instruction.raw, ip=0)
    decoded = decoder.decode()
    return decoder.get_constant_offsets(decoded).displacement_offset if decoded.is_ip_rel_memory_operand else None


def features(decoded: Iterable[Decoded]) -> frozenset[str]:
    """Return the CPU features that these instructions need, named as in `Decoded.features`.

    >>> sorted(features(decode(bytes.fromhex("c5edefc3c3"))))
    ['avx2', 'x86-64']
    """
    return frozenset().union(*(instruction.features for instruction in decoded))


def _names(module: object) -> Mapping[int, str]:
    """Return the names of iced's constants of one kind, in lower case, by value."""
    return {value: name.lower() for name, value in vars(module).items() if name.isupper() and isinstance(value, int)}


_MNEMONICS = _names(iced.Mnemonic)
_REGISTERS = _names(iced.Register)
_CODES = _names(iced.Code)
_OPERAND_KINDS = _names(iced.OpCodeOperandKind)
_KINDS = re.compile(
    r"([xyz]mm|k|r\d+)_(reg|rm|vvvv|or_mem|opcode|is4)|mem(_offs)?|imm\d+(sex\d+|_const_1)?|br64_[14]|al|cl|ax|eax|rax"
)
_FEATURES = _names(iced.CpuidFeature)
# Prefixes without effect that assemblers emit: segment overrides for alignment, which 64-bit mode ignores; longer
# nops; rep ret; bnd.
_NO_SEGMENTS = b"\x26\x2e\x36\x3e"
_REPEATS = b"\xf2\xf3"
_IDLE: Mapping[str, bytes] = {"nop": b"\x66", "ret": _REPEATS, "jmp": b"\xf2", "call": b"\xf2"}
_STRAY = _NO_SEGMENTS + b"\x64\x65\x67\xf0"  # and fs, gs, 32-bit addresses, lock: such encodings get no name
_FLOWS: Mapping[int, Flow] = {
    iced.FlowControl.NEXT: "next",
    iced.FlowControl.UNCONDITIONAL_BRANCH: "jump",
    iced.FlowControl.INDIRECT_BRANCH: "indirect",
    iced.FlowControl.CONDITIONAL_BRANCH: "branch",
    iced.FlowControl.RETURN: "return",
    iced.FlowControl.CALL: "call",
    iced.FlowControl.INDIRECT_CALL: "call",
    iced.FlowControl.INTERRUPT: "interrupt",
    iced.FlowControl.XBEGIN_XABORT_XEND: "transaction",
    iced.FlowControl.EXCEPTION: "exception",
}
# Every x86-64 CPU has these; endbr64 runs as a nop where CET is unknown.
_BASELINE = frozenset({"x64", "cmov", "cx8", "fpu", "cpuid", "tsc", "multibytenop", "cet_ibt", "fxsr", "pause"})
_FLAGS = {getattr(iced.RflagsBits, flag.upper()): flag for flag in ("of", "sf", "zf", "af", "cf", "pf", "df")}
_FILES: Mapping[RegisterFile, Callable[[iced.Register_], bool]] = {
    "general": iced.RegisterExt.is_gpr,
    "vector": iced.RegisterExt.is_vector_register,
    "mask": iced.RegisterExt.is_k,
}
_CHANGING = {iced.OpAccess.READ_WRITE, iced.OpAccess.READ_COND_WRITE, iced.OpAccess.COND_WRITE}
_READING = _CHANGING | {iced.OpAccess.READ, iced.OpAccess.COND_READ}  # a conditional write may keep the old value
_WRITING = _CHANGING | {iced.OpAccess.WRITE}
_BRANCHES = frozenset({iced.OpKind.NEAR_BRANCH16, iced.OpKind.NEAR_BRANCH32, iced.OpKind.NEAR_BRANCH64})
_STRINGS: Mapping[int, iced.Register_] = {
    iced.OpKind.MEMORY_SEG_RSI: iced.Register.RSI,
    iced.OpKind.MEMORY_SEG_RDI: iced.Register.RDI,
    iced.OpKind.MEMORY_ESRDI: iced.Register.RDI,
}


def _feature(feature: int) -> str:
    name = _FEATURES[feature]
    if name in _BASELINE or name.startswith("intel"):
        return "x86-64"
    if name in ("sse", "sse2"):
        return "sse2"
    if name.startswith("sse4_"):
        return name.replace("_", ".")
    return name.replace("avx512_", "avx512")


def _register(register: iced.Register_) -> Reg:
    name = _REGISTERS[register]
    full = _REGISTERS[iced.RegisterExt.full_register(register)]
    file: RegisterFile = next((file for file, includes in _FILES.items() if includes(register)), "other")
    low = 8 if name in ("ah", "bh", "ch", "dh") else 0
    return Reg(name, 8 * iced.RegisterExt.size(register), file, full, low)


def _is_small(operand: Operand) -> bool:
    """Return whether the operand is not rip-relative, and has no immediate or absolute displacement of 100 or more."""
    if isinstance(operand, Mem):
        return operand.target is None and abs(operand.displacement) < 100
    return not isinstance(operand, Imm) or operand.value < 100


def signed(value: int, width: int = 64) -> int:
    """Return the value of a two's complement number of `width` bits.

    >>> signed(0xFF, 8), signed(0x7F, 8)
    (-1, 127)
    """
    return value - (1 << width) if value >> (width - 1) & 1 else value


def _memory(instruction: iced.Instruction) -> Mem:
    prefix = _REGISTERS[instruction.segment_prefix]
    base, index = instruction.memory_base, instruction.memory_index
    relative = instruction.is_ip_rel_memory_operand
    return Mem(
        bits=iced.MemorySizeExt.size(instruction.memory_size) * 8,
        base=None if relative or base == iced.Register.NONE else _register(base),
        index=None if index == iced.Register.NONE else _register(index),
        scale=instruction.memory_index_scale,
        displacement=0 if relative else signed(instruction.memory_displacement),
        target=signed(instruction.ip_rel_memory_address) if relative else None,
        broadcast=instruction.is_broadcast,
        segment=prefix if prefix in ("fs", "gs") else None,
    )


def _operand(instruction: iced.Instruction, position: int) -> Operand | None:
    kind = instruction.op_kind(position)
    if kind == iced.OpKind.REGISTER:
        return _register(instruction.op_register(position))
    if kind == iced.OpKind.MEMORY:
        return _memory(instruction)
    if kind in _BRANCHES:
        return None
    if kind in _STRINGS:
        bits = iced.MemorySizeExt.size(instruction.memory_size) * 8
        return Mem(bits, _register(_STRINGS[kind]))
    try:
        return Imm(instruction.immediate(position) & 0xFFFF_FFFF_FFFF_FFFF)
    except ValueError:
        raise DecodeError(f"operand of unknown kind at offset {instruction.ip:#x}: {instruction}") from None


@cache
def _flags(bits: int) -> frozenset[str]:
    return frozenset(name for flag, name in _FLAGS.items() if bits & flag)


def _mnemonic(instruction: iced.Instruction) -> str:
    """Return the mnemonic in lower case, preceded by lock, or by rep or repne of a string instruction."""
    name = _MNEMONICS[instruction.mnemonic]
    if instruction.has_lock_prefix:
        return "lock " + name
    if instruction.is_string_instruction and (instruction.has_repne_prefix or instruction.has_rep_prefix):
        return ("repne " if instruction.has_repne_prefix else "rep ") + name
    return name


def _encoding(instruction: iced.Instruction, encoder: iced.Encoder, raw: bytes) -> str:
    """Return the encoding's name, or "" if no assembler emits these bytes or they have rep or a prefix of _STRAY."""
    try:
        encoder.encode(instruction, instruction.ip)
    except ValueError:  # a branch whose target is outside the address space
        return ""
    idle = _NO_SEGMENTS + _IDLE.get("jmp" if instruction.is_jcc_short_or_near else _mnemonic(instruction), b"")
    stripped = raw.lstrip(idle)
    prefixes = set(stripped[: len(stripped) - len(stripped.lstrip(b"\x66" + _REPEATS + _STRAY))])
    stray = prefixes.intersection(_STRAY)
    repeats = prefixes.intersection(_REPEATS) and (instruction.has_rep_prefix or instruction.has_repne_prefix)
    regular = not stray and not repeats and stripped == encoder.take_buffer().lstrip(idle)
    return _CODES[instruction.code] if regular else ""


def _decoded(
    instruction: iced.Instruction, factory: iced.InstructionInfoFactory, encoder: iced.Encoder, text: bytes
) -> Decoded:
    info = factory.info(instruction)
    reads, writes = set(), set()
    for used in info.used_registers():
        register = _register(used.register)
        if used.access in _READING:
            reads.add(register.full)
        if used.access in _WRITING:
            writes.add(register.full)
            if register.file == "general" and register.bits < 32:
                reads.add(register.full)
    memory = [used.access for used in info.used_memory()]
    kinds = [_operand(instruction, position) for position in range(instruction.op_count)]
    direct = any(instruction.op_kind(position) in _BRANCHES for position in range(instruction.op_count))
    return Decoded(
        offset=instruction.ip,
        raw=text[instruction.ip : instruction.next_ip],
        mnemonic=_mnemonic(instruction),
        operands=tuple(operand for operand in kinds if operand is not None),
        mask=_register(instruction.op_mask) if instruction.has_op_mask else None,
        zeroing=instruction.zeroing_masking,
        reads=frozenset(reads),
        writes=frozenset(writes),
        flags_read=_flags(instruction.rflags_read),
        flags_written=_flags(instruction.rflags_written | instruction.rflags_cleared | instruction.rflags_set),
        flags_undefined=_flags(instruction.rflags_undefined),
        loads=any(access in _READING for access in memory),
        stores=any(access in _WRITING for access in memory),
        features=frozenset(_feature(feature) for feature in instruction.cpuid_features()),
        flow=_FLOWS[instruction.flow_control],
        target=signed(instruction.near_branch_target) if direct else None,
        encoding=_encoding(instruction, encoder, text[instruction.ip : instruction.next_ip]),
    )
