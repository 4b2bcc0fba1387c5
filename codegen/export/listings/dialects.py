"""Assembler dialects: a table of templates each, with functions that format an operand."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Literal

from setwise.codegen.machine.code import Instruction, Label, Memory, Operand, Register

Names = Callable[[str], str]
"""A function from the name of a label or datum in the code to its full name in the file."""

Flavour = Literal["elf", "coff"]
"""The object format that a listing is for: COFF for Win64 code, otherwise ELF. MASM makes COFF of either."""


@dataclass(frozen=True)
class Scaffold:
    """Templates of the lines around code and data. {symbol} is the routine's symbol.

    Unwind directives for Windows appear only in routines with a prologue.
    """

    head: tuple[str, ...]
    foot: tuple[str, ...] = ()
    """After the code."""
    data: tuple[str, ...] = ()
    """Before the data; {alignment} is the strictest alignment of all data."""
    data_foot: tuple[str, ...] = ()
    end: tuple[str, ...] = ()
    """At the end of the file."""
    unwound_head: tuple[str, ...] = ()
    """Replaces `head` if there is a prologue. Empty if the format needs no unwind information."""
    unwind: Mapping[str, str] = field(default_factory=dict)
    """After an instruction of the prologue, by the kind of its unwind operation: {register}, {amount}."""
    unwind_end: str = ""
    """After the last instruction of the prologue and its directive."""
    unwound_foot: tuple[str, ...] = ()
    """Replaces `foot` if there is a prologue; {unwind} are the bytes of the unwind information."""


@dataclass(frozen=True)
class Dialect:
    """The source syntax of an assembler."""

    comment: str
    scaffolds: Mapping[Flavour, Scaffold]
    place: str
    """The definition of a label in the code: {symbol}, {label}."""
    named: str
    """A reference to a label from anywhere in the file: {symbol}, {label}."""
    align: str
    datum: str
    """The text before the first values of a datum: {name}."""
    data: Mapping[int, str]
    """The directives that define data, by the size of a value in bytes."""
    number: Callable[[int, int], str]
    """A function from a value of data and a number of hexadecimal digits to text."""
    mnemonic: Callable[[Instruction], str]
    operand: Callable[[Instruction, Operand, Names], str]
    results_last: bool = False
    """Whether the destination is the last operand, as in AT&T syntax."""
    near: str = "{place}"
    """The operand of a branch with an 8-bit distance; some assemblers need an explicit size."""
    turned: frozenset[str] = frozenset()
    """Instructions with two interchangeable operands that this assembler encodes in the other order."""
    lengthens: Callable[[Instruction], bool] = lambda _: False
    """Whether other assemblers encode the instruction in fewer bytes. Then the listing defines its bytes as data."""


def number_text(value: int) -> str:
    """Return a number as text: decimal if its magnitude is below 100, otherwise hexadecimal with 0x."""
    return str(value) if abs(value) < 100 else hex(value)


def _hexadecimal(value: int, digits: int) -> str:
    return f"0x{value:0{digits}x}"


def _says_size(instruction: Instruction, memory: Memory) -> bool:
    """Return whether a memory operand needs an explicit size: if it is broadcast, or no register operand has its size.

    In lea it never needs one.
    """
    widths = {operand.bits for operand in instruction.operands if isinstance(operand, Register)}
    return instruction.mnemonic != "lea" and (memory.broadcast or memory.bits not in widths)


def _address(memory: Memory, first: str, number: Callable[[int], str]) -> str:
    """Return base, index and displacement in Intel syntax, after `first`, the name of a datum or empty."""
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
    """Return the EVEX broadcast suffix of a memory operand ({1to8}), or '' without a broadcast."""
    if not memory.broadcast:
        return ""
    whole = max(operand.bits for operand in instruction.operands if isinstance(operand, Register))
    return f"{{1to{whole // memory.bits}}}"


@dataclass(frozen=True)
class _Intel:
    """A formatter of operands in Intel syntax, with the differences between assemblers."""

    sizes: Mapping[int, str]
    datum: str = "{name}"
    """The template of a datum's name in an address."""
    label: Callable[[str, Names], str] = lambda label, full: full(label)
    """A function that formats the target of a branch."""
    number: Callable[[int], str] = number_text
    says_size: Callable[[Instruction, Memory], bool] = _says_size

    def __call__(self, instruction: Instruction, operand: Operand, full: Names) -> str:
        """Return the text of an operand."""
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
    """Return whether NASM encodes the instruction with a 3-byte VEX prefix, and other assemblers with a 2-byte one.

    It is a move from a vector register above 7 to one below 8, for which the others use the store form.
    """
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
"""The Netwide Assembler: `nasm -f elf64`, or `-f win64` for Win64 code."""

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
    """Return the mnemonic, with its operands' sizes as suffixes; for vectors, masks, jmp, call and setcc without."""
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
"""The GNU assembler `as`, for Win64 code that of MinGW. LLVM accepts the same source; only its xchg has other bytes."""

# ---- MASM


def _masm_hexadecimal(value: int, digits: int) -> str:
    text = f"{value:0{digits}x}h"
    return text if text[0].isdigit() else f"0{text}"


def _masm_number_text(value: int) -> str:
    if abs(value) < 100:
        return str(value)
    return ("-" if value < 0 else "") + _masm_hexadecimal(abs(value), 1)


def _masm_says_size(instruction: Instruction, memory: Memory) -> bool:
    """Return whether a memory operand gets a size: always, but in lea only with a symbol.

    LLVM reads a symbol without a size as an absolute address.
    """
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
"""Microsoft's macro assembler `ml64 /c`, and LLVM's `llvm-ml -m64`. Both write COFF files."""

DIALECTS: Mapping[str, Dialect] = {"nasm": NASM, "gas": GAS, "att": ATT, "masm": MASM}
