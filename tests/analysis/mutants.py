"""Broken machine code, made on purpose: a judge is trusted only after it has been shown to fail.

A mutant differs from the routine in one place, and is as long, so that all distances stay right. Most differ in one bit
of an instruction's encoding; decoding it again says what that bit meant.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from setwise.analysis.code.decode import Binary, Decoded, DecodeError, Imm, Mem, decode
from setwise.analysis.semantics.table import FOLLOWED

KINDS = ("opcode", "number", "register", "address", "target", "dropped", "swapped", "mask bit", "mask missing")
"""What may be mutated: an instruction's name, an immediate such as a shift count, a register, the address of a memory
operand, a branch's target; an instruction left out, two neighbours exchanged; a bit of the read-only data, or a word of
it all ones, as if that mask was left out."""

_SHIFTS = frozenset({"shl", "shr", "sar", "rol", "ror", "rorx", "shld", "shrd"})


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed routine: of which kind the change is, and what it says."""

    binary: Binary
    kind: str
    description: str


def mutants(binary: Binary, number: int, seed: int = 0) -> Iterator[Mutant]:
    """Up to `number` different mutants, drawn from all kinds in turn; the same for the same seed.

    >>> found = list(mutants(Binary(bytes.fromhex("4889d048c1e808c3")), 4))
    >>> [(mutant.kind, len(mutant.binary.text)) for mutant in found]
    [('opcode', 8), ('number', 8), ('register', 8), ('dropped', 8)]
    """
    chance = random.Random(seed)
    by_kind: dict[str, list[Mutant]] = {kind: [] for kind in KINDS}
    for mutant in _all(binary):
        by_kind[mutant.kind].append(mutant)
    for candidates in by_kind.values():
        chance.shuffle(candidates)
    seen = {binary}
    while number and any(by_kind.values()):
        for kind in KINDS:
            while by_kind[kind] and number:
                mutant = by_kind[kind].pop()
                if mutant.binary not in seen:
                    seen.add(mutant.binary)
                    number -= 1
                    yield mutant
                    break


def _all(binary: Binary) -> Iterator[Mutant]:
    instructions = decode(binary.text)
    for instruction in instructions:
        yield from _flipped(binary, instruction)
        if instruction.flow != "return":
            nops = b"\x90" * instruction.length
            yield Mutant(_with(binary, instruction.offset, nops), "dropped", f"without {_named(instruction)}")
    yield from _swapped(binary, instructions)
    yield from _of_data(binary)


def _flipped(binary: Binary, instruction: Decoded) -> Iterator[Mutant]:
    """One bit of the encoding changed, where that is an instruction again that has semantics."""
    for place in range(8 * instruction.length):
        raw = bytearray(instruction.raw)
        raw[place // 8] ^= 1 << place % 8
        mutated = _single(bytes(raw))
        if mutated is None:
            continue
        kind = _difference(_single(instruction.raw), mutated)
        if kind:
            what = f"{_named(instruction)} becomes '{replace(mutated, offset=instruction.offset).text()}'"
            yield Mutant(_with(binary, instruction.offset, bytes(raw)), kind, what)


@cache
def _single(raw: bytes) -> Decoded | None:
    """The one instruction that these bytes are, if it has semantics."""
    try:
        instructions = decode(raw)
    except DecodeError:
        return None
    first = instructions[0]
    return first if len(instructions) == 1 and first.encoding in FOLLOWED else None


def _difference(one: Decoded | None, other: Decoded) -> str:
    """The kind of change; nothing where both do the same."""
    if one is None or _meaning(one) == _meaning(other):
        return ""
    if one.mnemonic != other.mnemonic or len(one.operands) != len(other.operands):
        return "opcode"
    if one.target != other.target:
        return "target"
    pairs = [(a, b) for a, b in zip(one.operands, other.operands, strict=True) if a != b]
    if any(isinstance(a, Mem) and isinstance(b, Mem) for a, b in pairs):
        return "address"
    return "number" if any(isinstance(a, Imm) for a, _ in pairs) else "register"


def _meaning(instruction: Decoded) -> Decoded:
    """The instruction as far as the processor tells: sal is shl, and a shift counts modulo its register's width."""
    operands, name = instruction.operands, "shl" if instruction.mnemonic == "sal" else instruction.mnemonic
    if name in _SHIFTS and isinstance(operands[-1], Imm) and not isinstance(operands[0], Imm):
        count = Imm(operands[-1].value % max(32, operands[0].bits))
        operands = (*operands[:-1], count)
    return replace(instruction, raw=b"", encoding="", mnemonic=name, operands=operands)


def _swapped(binary: Binary, instructions: Sequence[Decoded]) -> Iterator[Mutant]:
    targets = {instruction.target for instruction in instructions}
    for one, other in pairwise(instructions):
        moves = any(isinstance(o, Mem) and o.target is not None for i in (one, other) for o in i.operands)
        if one.flow == other.flow == "next" and not moves and other.offset not in targets:
            what = f"{_named(one)} and {_named(other)} exchanged"
            yield Mutant(_with(binary, one.offset, other.raw + one.raw), "swapped", what)


def _of_data(binary: Binary) -> Iterator[Mutant]:
    for place in range(len(binary.data)):
        for bit in range(8):
            data = _spliced(binary.data, place, bytes([binary.data[place] ^ 1 << bit]))
            yield Mutant(replace(binary, data=data), "mask bit", f"bit {bit} of byte {place} of the data changed")
    for place in range(0, len(binary.data) - 7, 8):
        data, what = _spliced(binary.data, place, b"\xff" * 8), f"bytes {place} to {place + 7} of the data all ones"
        yield Mutant(replace(binary, data=data), "mask missing", what)


def _with(binary: Binary, offset: int, raw: bytes) -> Binary:
    return replace(binary, text=_spliced(binary.text, offset, raw))


def _spliced(content: bytes, place: int, raw: bytes) -> bytes:
    return content[:place] + raw + content[place + len(raw) :]


def _named(instruction: Decoded) -> str:
    return f"'{instruction.text()}' at {instruction.offset:#x}"
