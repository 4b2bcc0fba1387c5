"""How each assembler wants its source: a table a dialect, of templates and of functions that spell an operand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Literal

from setwise.codegen.machine.code import Instruction, Label, Memory, Operand, Register

Names = Callable[[str], str]
"""From a place in the code or a datum to its full name in the file."""

Flavour = Literal["elf", "coff"]
"""What the assembler makes of the source: code of the Win64 convention goes into COFF files, all else into ELF."""


@dataclass(frozen=True)
class Scaffold:
    """The lines around code and data, in templates with {symbol}, {alignment} and, in the prologue's, {register}
    and {amount}. What tells Windows how to unwind stands with the routines that have a prologue only.
    """

    head: tuple[str, ...]
    foot: tuple[str, ...] = ()
    """Behind the code."""
    data: tuple[str, ...] = ()
    """Before the data, with {alignment}, the strictest of all."""
    data_foot: tuple[str, ...] = ()
    end: tuple[str, ...] = ()
    """Last of all."""
    unwound_head: tuple[str, ...] = ()
    """In the place of `head` where there is a prologue; empty where nobody is told how to unwind."""
    unwind: Mapping[str, str] = field(default_factory=dict)
    """Behind each instruction of the prologue, by the kind of its unwind operation."""
    unwind_end: str = ""
    unwound_foot: tuple[str, ...] = ()
    """In the place of `foot` where there is a prologue; with {unwind}, the bytes of the unwind information."""


@dataclass(frozen=True)
class Dialect:
    """One assembler's language."""

    comment: str
    scaffolds: Mapping[Flavour, Scaffold]
    place: str
    """A place in the code, where it is defined: {symbol}, {label}."""
    named: str
    """The same from anywhere in the file."""
    align: str
    datum: str
    """What stands before a datum's first values: {name}."""
    data: Mapping[int, str]
    """What defines data, by the bytes of a value."""
    number: Callable[[int, int], str]
    """A value of so many digits as data."""
    mnemonic: Callable[[Instruction], str]
    operand: Callable[[Instruction, Operand, Names], str]
    results_last: bool = False
    """Whether operands stand in the order of AT&T, the result last."""
    near: str = "{place}"
    """A branch's operand where one byte holds the distance; some assemblers find that only when told."""
    turned: frozenset[str] = frozenset()
    """Instructions whose two operands mean the same either way round, and which it encodes the other way round."""
    lengthens: Callable[[Instruction], bool] = lambda _: False
    """Whether all others encode the instruction in fewer bytes: then its bytes stand in its place."""


def number_text(value: int) -> str:
    """A number as the listings write it: up to 99 in decimal, beyond that hexadecimal."""
    return str(value) if abs(value) < 100 else hex(value)


def _hexadecimal(value: int, digits: int) -> str:
    return f"0x{value:0{digits}x}"


def _says_size(instruction: Instruction, memory: Memory) -> bool:
    """Whether the operands leave open how much of the memory is meant: no register of that size stands beside it."""
    widths = {operand.bits for operand in instruction.operands if isinstance(operand, Register)}
    return instruction.mnemonic != "lea" and (memory.broadcast or memory.bits not in widths)


def _address(memory: Memory, first: str, number: Callable[[int], str]) -> str:
    """Base, index and displacement in Intel's way, behind the name of a datum if there is one."""
    parts = [first] if first else []
    if memory.base is not None:
        parts.append(memory.base.name)
    if memory.index is not None:
        parts.append(memory.index.name + (f"*{memory.scale}" if memory.scale > 1 else ""))
    address = "+".join(parts)
    if memory.displacement or not parts:
        address += ("" if memory.displacement < 0 else "+") + number(memory.displacement)
    return address


def _broadcast(instruction: Instruction, memory: Memory) -> str:
    """What stands behind an element that fills all lanes."""
    if not memory.broadcast:
        return ""
    whole = max(operand.bits for operand in instruction.operands if isinstance(operand, Register))
    return f"{{1to{whole // memory.bits}}}"


@dataclass(frozen=True)
class _Intel:
    """Operands in Intel's syntax, and what its assemblers differ in."""

    sizes: Mapping[int, str]
    datum: str = "{name}"
    """A datum in an address."""
    label: Callable[[str, Names], str] = lambda label, full: full(label)
    """Where a branch goes."""
    number: Callable[[int], str] = number_text
    says_size: Callable[[Instruction, Memory], bool] = _says_size

    def __call__(self, instruction: Instruction, operand: Operand, full: Names) -> str:
        """The operand as it is written."""
        if isinstance(operand, Memory):
            name = self.datum.format(name=full(operand.symbol)) if operand.symbol else ""
            size = f"{self.sizes[operand.bits]} " if self.says_size(instruction, operand) else ""
            return f"{size}[{_address(operand, name, self.number)}]{_broadcast(instruction, operand)}"
        if isinstance(operand, Label):
            return self.label(operand.name, full)
        return self.number(operand) if isinstance(operand, int) else operand.name


_DEFINE = {1: "db", 2: "dw", 4: "dd", 8: "dq"}

# ---- NASM

_NASM_SIZES = {8: "byte", 16: "word", 32: "dword", 64: "qword", 128: "oword", 256: "yword", 512: "zword"}
_NASM_HEAD = ("default rel", "global {symbol}", "section .text", "align 16", "{symbol}:")
_NASM_UNWIND = (
    ".end:",
    "section .xdata rdata align=8",
    "align 4, db 0",
    "{symbol}_unwind:",
    "    db {unwind}",
    "section .pdata rdata align=4",
    "    dd {symbol} wrt ..imagebase, {symbol}.end wrt ..imagebase, {symbol}_unwind wrt ..imagebase",
)


def _nasm_lengthens(instruction: Instruction) -> bool:
    """A move from registers 8 to 15 to those below: others exchange the operands' places for a shorter VEX prefix."""
    if instruction.mnemonic not in ("vmovdqa", "vmovdqu", "vmovups"):
        return False
    to, source = instruction.operands
    return isinstance(to, Register) and isinstance(source, Register) and to.number < 8 <= source.number


NASM = Dialect(
    comment=";",
    scaffolds={
        "elf": Scaffold(
            head=_NASM_HEAD,
            data=("section .rodata align={alignment}", "align {alignment}, db 0"),
            end=("section .note.GNU-stack noalloc noexec nowrite progbits",),
        ),
        "coff": Scaffold(
            head=_NASM_HEAD,
            data=("section .rdata align={alignment}", "align {alignment}, db 0"),
            unwound_head=_NASM_HEAD,
            unwound_foot=_NASM_UNWIND,
        ),
    },
    place=".{label}:",
    named="{symbol}.{label}",
    align="align {alignment}, db 0",
    datum="{name}:\n    ",
    data=_DEFINE,
    number=_hexadecimal,
    mnemonic=attrgetter("mnemonic"),
    operand=_Intel(_NASM_SIZES, label=lambda label, _: f".{label}"),
    near="short {place}",
    turned=frozenset({"xchg"}),
    lengthens=_nasm_lengthens,
)
"""The Netwide Assembler, `nasm -f elf64`, for Win64 code `-f win64`."""

# ---- GNU as, in Intel's syntax and in AT&T's

_WORDS = {**_NASM_SIZES, 128: "xmmword", 256: "ymmword", 512: "zmmword"}
_INTEL_SIZES = {bits: f"{word} ptr" for bits, word in _WORDS.items()}


def _att_operand(instruction: Instruction, operand: Operand, full: Names) -> str:
    if isinstance(operand, Memory):
        return _att_address(operand, full) + _broadcast(instruction, operand)
    if isinstance(operand, Label):
        return full(operand.name)
    if isinstance(operand, int):
        return f"${number_text(operand)}"
    return f"{'*' if instruction.mnemonic == 'jmp' else ''}%{operand.name}"


def _att_address(memory: Memory, full: Names) -> str:
    displacement = number_text(memory.displacement) if memory.displacement else ""
    if memory.symbol:
        return f"{full(memory.symbol)}{'+' if memory.displacement > 0 else ''}{displacement}(%rip)"
    base = f"%{memory.base}" if memory.base else ""
    index = f",%{memory.index},{memory.scale}" if memory.index else ""
    return f"{displacement}({base}{index})"


_SUFFIXES = {8: "b", 16: "w", 32: "l", 64: "q"}
_EXTENDING = {"movzx": "movz", "movsx": "movs", "movsxd": "movs"}
_WITHOUT_SUFFIX = frozenset({"jmp", "call"})


def _att_mnemonic(instruction: Instruction) -> str:
    """With the letters of the sizes where all operands are of general registers or memory."""
    name, operands = instruction.mnemonic, instruction.operands
    sizes = [operand.bits for operand in operands if isinstance(operand, Register | Memory)]
    if any(isinstance(operand, Register) and operand.file != "general" for operand in operands):
        return name
    if name in _EXTENDING:
        return f"{_EXTENDING[name]}{_SUFFIXES[sizes[1]]}{_SUFFIXES[sizes[0]]}"
    if not sizes or name in _WITHOUT_SUFFIX or name.startswith("set"):
        return name
    return name + _SUFFIXES[sizes[0]]


def _gas(att: bool) -> Dialect:
    begin = ("{symbol}:",)
    syntax = ".att_syntax prefix" if att else ".intel_syntax noprefix"
    coff = (syntax, ".text", ".globl {symbol}", ".def {symbol}; .scl 2; .type 32; .endef", ".p2align 4")
    register = "%{register}" if att else "{register}"
    return Dialect(
        comment="#",
        scaffolds={
            "elf": Scaffold(
                head=(syntax, ".text", ".globl {symbol}", ".type {symbol}, @function", ".p2align 4", *begin),
                foot=(".size {symbol}, .-{symbol}",),
                data=('.section .rodata,"a",@progbits', ".balign {alignment}"),
                end=('.section .note.GNU-stack,"",@progbits',),
            ),
            "coff": Scaffold(
                head=(*coff, *begin),
                data=('.section .rdata,"dr"', ".balign {alignment}"),
                unwound_head=(*coff, ".seh_proc {symbol}", *begin),
                unwind={
                    "push": f".seh_pushreg {register}",
                    "allocate": ".seh_stackalloc {amount}",
                    "save": f".seh_savexmm {register}, {{amount}}",
                },
                unwind_end=".seh_endprologue",
                unwound_foot=(".seh_endproc",),
            ),
        },
        place=".L{symbol}_{label}:",
        named=".L{symbol}_{label}",
        align=".balign {alignment}",
        datum="{name}:\n    ",
        data={1: ".byte", 2: ".short", 4: ".long", 8: ".quad"},
        number=_hexadecimal,
        mnemonic=_att_mnemonic if att else attrgetter("mnemonic"),
        operand=_att_operand if att else _Intel(_INTEL_SIZES, datum="rip+{name}"),
        results_last=att,
    )


GAS, ATT = _gas(att=False), _gas(att=True)
"""The GNU assembler, `as`, for Win64 code MinGW's; LLVM's takes the same, and encodes all but xchg alike."""

# ---- MASM


def _masm_hexadecimal(value: int, digits: int) -> str:
    text = f"{value:0{digits}x}h"
    return text if text[0].isdigit() else f"0{text}"


def _masm_number_text(value: int) -> str:
    if abs(value) < 100:
        return str(value)
    return ("-" if value < 0 else "") + _masm_hexadecimal(abs(value), 1)


def _masm_says_size(instruction: Instruction, memory: Memory) -> bool:
    """Without a size LLVM takes a name for an absolute address."""
    return instruction.mnemonic != "lea" or bool(memory.symbol)


_MASM_HEAD = ("public {symbol}", "_TEXT segment align(16) 'CODE'", "align 16", "{symbol} proc")
_MASM_FOOT = ("{symbol} endp", "_TEXT ends")
_MASM_DATA = ("CONST segment align({alignment}) readonly 'CONST'", "align {alignment}")
_MASM_SCAFFOLD = Scaffold(_MASM_HEAD, _MASM_FOOT, _MASM_DATA, ("CONST ends",), ("end",))

MASM = Dialect(
    comment=";",
    scaffolds={
        "elf": _MASM_SCAFFOLD,
        "coff": replace(
            _MASM_SCAFFOLD,
            unwound_head=(*_MASM_HEAD[:-1], "{symbol} proc frame"),
            unwind={
                "push": ".pushreg {register}",
                "allocate": ".allocstack {amount}",
                "save": ".savexmm128 {register}, {amount}",
            },
            unwind_end=".endprolog",
            unwound_foot=_MASM_FOOT,
        ),
    },
    place="{symbol}_{label}:",
    named="{symbol}_{label}",
    align="align {alignment}",
    datum="{name} ",
    data=_DEFINE,
    number=_masm_hexadecimal,
    mnemonic=attrgetter("mnemonic"),
    operand=_Intel(_INTEL_SIZES, number=_masm_number_text, says_size=_masm_says_size),
    turned=frozenset({"xchg"}),
)
"""Microsoft's macro assembler, `ml64 /c`, and LLVM's, `llvm-ml -m64`; either makes COFF files."""

DIALECTS: Mapping[str, Dialect] = {"nasm": NASM, "gas": GAS, "att": ATT, "masm": MASM}
