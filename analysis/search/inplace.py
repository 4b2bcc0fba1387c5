"""Code with jumps, shortened in place: where an instruction goes, nops stand instead, so that all distances stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from setwise.analysis.code.decode import Binary, Decoded, Imm, Mem, Reg, decode
from setwise.codegen.assemble import NotEncodable, assemble
from setwise.codegen.machine.code import Code, Instruction, Memory, Operand, Register, general

_FARTHEST = 8
"""How many instructions beside a move may have its registers exchanged."""

_MOVES = frozenset({"mov", "xchg", "movdqa", "vmovdqa", "vmovdqa64"})


def shorter(binary: Binary, instruction: Decoded) -> Iterator[tuple[Binary, str]]:
    """The code without an instruction; where that is a move, also with its two registers exchanged beside it."""
    yield _patched(binary, instruction.offset, instruction.end, b""), f"'{instruction.text()}' goes"
    pair = _moved(instruction)
    if pair is None:
        return
    instructions = decode(binary.text)
    at = next(at for at, other in enumerate(instructions) if other.offset == instruction.offset)
    before, after = instructions[max(0, at - _FARTHEST) : at], instructions[at + 1 : at + 1 + _FARTHEST]
    said = f"'{instruction.text()}' goes, its registers exchanged in the {{}} before it"
    for window in _straight(before[::-1]):
        patched = _exchanged(binary, window[::-1], pair, window[-1].offset, instruction.end)
        if patched:
            yield patched, said.format(len(window))
    for window in _straight(after):
        patched = _exchanged(binary, window, pair, instruction.offset, window[-1].end)
        if patched:
            yield patched, said.format(len(window)).replace("before", "behind")


def _moved(instruction: Decoded) -> tuple[str, str] | None:
    """The registers of a move between two of a file."""
    if instruction.mnemonic not in _MOVES or len(instruction.operands) != 2:
        return None
    to, source = instruction.operands
    if not isinstance(to, Reg) or not isinstance(source, Reg) or to.file != source.file or to.bits < 64:
        return None
    return to.full, source.full


def _straight(instructions: Sequence[Decoded]) -> Iterator[Sequence[Decoded]]:
    """The first one, two, ... of these, as far as none goes elsewhere."""
    for number, instruction in enumerate(instructions, 1):
        if instruction.flow != "next":
            return
        yield instructions[:number]


def _exchanged(binary: Binary, window: Sequence[Decoded], pair: tuple[str, str], start: int, end: int) -> Binary | None:
    """The code with these instructions from `start` on, two registers exchanged in them; None where that cannot be."""
    names = {pair[0]: pair[1], pair[1]: pair[0]}
    text = b""
    for instruction in window:
        if names.keys().isdisjoint(instruction.reads | instruction.writes):
            if any(isinstance(operand, Mem) and operand.target is not None for operand in instruction.operands):
                return None  # its distance would be another
            text += instruction.raw
            continue
        try:
            operands = tuple(_operand(operand, names) for operand in instruction.operands)
            text += assemble(Code("exchanged", (Instruction(instruction.mnemonic, operands),))).text
        except (NotEncodable, KeyError, ValueError):
            return None
    return _patched(binary, start, end, text) if len(text) <= end - start and decode(text) else None


def _patched(binary: Binary, start: int, end: int, text: bytes) -> Binary:
    filled = text.ljust(end - start, b"\x90")
    return replace(binary, text=binary.text[:start] + filled + binary.text[end:])


def _operand(operand: Reg | Imm | Mem, names: dict[str, str]) -> Operand:
    """An operand for the assembler; ValueError for what stays where it is."""
    if isinstance(operand, Imm):
        return operand.value - (1 << 64) if operand.value >> 63 else operand.value
    if isinstance(operand, Reg):
        return _register(operand, names)
    if operand.target is not None or operand.segment or operand.broadcast:
        raise ValueError("an operand that is not followed")
    base, index = (_register(register, names) if register else None for register in (operand.base, operand.index))
    return Memory(operand.bits, base, index, operand.scale, operand.displacement)


def _register(register: Reg, names: dict[str, str]) -> Register:
    full = names.get(register.full, register.full)
    if register.file == "vector":
        return Register("vector", int(full[3:]), register.bits)
    if register.file != "general" or register.low or register.bits == 16:
        raise ValueError("a register that is not followed")
    return general(full).at(register.bits)
