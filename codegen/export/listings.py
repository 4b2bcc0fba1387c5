"""Listings: a kernel as assembly source, written from its code. What the dialects differ in is a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from codegen.assemble import assemble
from codegen.lower import Kernel
from codegen.machine import Code, Datum, Instruction, Label, Memory, Operand, Register
from codegen.targets.table import sized


@dataclass(frozen=True)
class Dialect:
    """How one assembler wants its source: templates that are filled with symbol, alignment, values and the like."""

    comment: str
    head: tuple[str, ...]
    """Lines before the routine, with {symbol}."""
    place: str
    """A place in the code, where it is defined: {symbol}, {label}."""
    named: str
    """The same from anywhere in the file."""
    data_head: str
    """The line before the data, with {alignment}, the strictest of all."""
    align: str
    data: Mapping[int, str]
    """What defines data, by the bytes of a value."""
    distance: str
    """A jump table's entry: {place} minus {datum}."""
    operand: Callable[[Instruction, Operand, Callable[[str], str]], str]
    """An operand of an instruction as text; the function gives the full name of a symbol."""
    near: str = "{place}"
    """A branch's operand where one byte holds the distance; some assemblers find that only when told."""
    turned: frozenset[str] = frozenset()
    """Instructions whose two operands mean the same either way round, and which it encodes the other way round."""


def listing(kernel: Kernel, syntax: str = "nasm") -> str:
    """The kernel as source that assembles to its bytes; ValueError names the syntaxes that there are.

    >>> from codegen.catalogue import find
    >>> from codegen.lower import lower
    >>> print(listing(lower(find("kogge-stone.attacks.sout"), abi="wiki")).splitlines()[0])
    ; kogge-stone.attacks.sout for x86-64, wiki: sliders rdx, empty rcx, result rax
    """
    if syntax not in DIALECTS:
        raise ValueError(f"unknown syntax '{syntax}': use one of {', '.join(DIALECTS)}")
    dialect = DIALECTS[syntax]
    about = (
        f"{kernel.name} for {kernel.target.name}, {kernel.convention.name}: {_where(kernel)}",
        f"{kernel.routine.summary}. After {kernel.routine.source}",
    )
    return "\n".join((*(f"{dialect.comment} {line}" for line in about), *source(kernel.code, dialect))) + "\n"


def source(code: Code, dialect: Dialect) -> Iterator[str]:
    """The lines of a routine's source, without what it says about itself."""
    symbol = symbol_of(code.name)
    labels = {item.name for item in code.items if isinstance(item, Label)}

    def full(name: str) -> str:
        return dialect.named.format(symbol=symbol, label=name) if name in labels else f"{symbol}_{name}"

    yield from (line.format(symbol=symbol) for line in dialect.head)
    starts = assemble(code).starts
    for at, item in enumerate(code.items):
        if isinstance(item, Label):
            yield dialect.place.format(symbol=symbol, label=item.name)
        else:
            operands = [dialect.operand(item, operand, full) for operand in item.operands]
            if any(isinstance(operand, Label) for operand in item.operands):
                size = starts[at + 1] - starts[at]
                operands = [dialect.near.format(place=place) if size == 2 else place for place in operands]
            if item.mnemonic in dialect.turned:
                operands.reverse()
            if item.mask is not None:
                operands[0] += f"{{{item.mask}}}" + ("{z}" if item.zeroing else "")
            yield f"    {item.mnemonic} {', '.join(operands)}".rstrip()
    if code.data:
        yield dialect.data_head.format(alignment=max(datum.alignment for datum in code.data))
        for datum in code.data:
            yield from _data(datum, dialect, full)


def symbol_of(name: str) -> str:
    """The routine's name as C and every assembler take it.

    >>> symbol_of("kogge-stone.attacks.noEa")
    'kogge_stone_attacks_noEa'
    """
    return name.replace("-", "_").replace(".", "_")


def _where(kernel: Kernel) -> str:
    """Where the arguments come and the result goes."""
    parameters = kernel.routine.contract.parameters
    boards = kernel.layout.lanes if kernel.layout.boards else 1
    lanes = [1 if parameter.scalar else boards for parameter in parameters]
    said = [
        f"{parameter.name} {sized(place, number) if place else 'on the stack'}"
        for parameter, place, number in zip(parameters, kernel.convention.places(lanes), lanes, strict=True)
    ]
    if not any(parameter.kind in ("results", "boards") for parameter in parameters):
        said.append(f"result {sized(kernel.convention.result_for(boards), boards)}")
    return ", ".join(said)


def _data(datum: Datum, dialect: Dialect, full: Callable[[str], str]) -> Iterator[str]:
    name = full(datum.label)
    yield dialect.align.format(alignment=datum.alignment)
    yield f"{name}:"
    values = [
        dialect.distance.format(place=full(value.name), datum=name)
        if isinstance(value, Label)
        else f"0x{value & (1 << 8 * datum.size) - 1:0{2 * datum.size}x}"
        for value in datum.values
    ]
    in_line = max(1, 32 // datum.size)
    for start in range(0, len(values), in_line):
        yield f"    {dialect.data[datum.size]} {', '.join(values[start : start + in_line])}"


def number(value: int) -> str:
    """A number as the listings write it: up to 99 in decimal, beyond that hexadecimal."""
    return str(value) if abs(value) < 100 else hex(value)


_NASM_SIZES = MappingProxyType(
    {8: "byte", 16: "word", 32: "dword", 64: "qword", 128: "oword", 256: "yword", 512: "zword"}
)


def _nasm_operand(instruction: Instruction, operand: Operand, full: Callable[[str], str]) -> str:
    if isinstance(operand, Memory):
        return _nasm_memory(instruction, operand, full)
    if isinstance(operand, Label):
        return f".{operand.name}"
    return number(operand) if isinstance(operand, int) else operand.name


def _nasm_memory(instruction: Instruction, memory: Memory, full: Callable[[str], str]) -> str:
    parts = [] if memory.symbol is None else [full(memory.symbol)]
    if memory.base is not None:
        parts.append(memory.base.name)
    if memory.index is not None:
        parts.append(memory.index.name + (f"*{memory.scale}" if memory.scale > 1 else ""))
    address = "+".join(parts)
    if memory.displacement or not parts:
        address += number(memory.displacement) if memory.displacement < 0 else f"+{number(memory.displacement)}"
    # The size is said where no register of that size says it already.
    widths = {operand.bits for operand in instruction.operands if isinstance(operand, Register)}
    implied = instruction.mnemonic == "lea" or (memory.bits in widths and not memory.broadcast)
    text = f"[{address}]" if implied else f"{_NASM_SIZES[memory.bits]} [{address}]"
    if not memory.broadcast:
        return text
    return f"{text}{{1to{max(widths) // memory.bits}}}"


NASM = Dialect(
    comment=";",
    head=("default rel", "global {symbol}", "section .text", "{symbol}:"),
    place=".{label}:",
    named="{symbol}.{label}",
    data_head="section .rodata align={alignment}",
    align="align {alignment}, db 0",
    data=MappingProxyType({1: "db", 2: "dw", 4: "dd", 8: "dq"}),
    distance="{place} - {datum}",
    operand=_nasm_operand,
    near="short {place}",
    turned=frozenset({"xchg"}),
)
"""The Netwide Assembler, `nasm -f elf64` or `-f win64`."""

DIALECTS: Mapping[str, Dialect] = MappingProxyType({"nasm": NASM})
