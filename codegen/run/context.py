"""A context: a block outside the stack, where a loop that calls kernels keeps its own state and its host's registers.

What the host wants back comes first; behind it, from word `SAVED_WORDS` on, each loop has words of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from setwise.codegen.machine.code import Instruction, Memory, Register, general, vector
from setwise.codegen.machine.convention import Convention

_GENERAL, _VECTORS = 0, 16  # a word a general register, two a vector register
SAVED_WORDS = 48


def word(base: Register, number: int, bits: int = 64) -> Memory:
    """What lies so many words behind an address."""
    return Memory(bits, base, displacement=8 * number)


def save(host: Convention, context: Register) -> Iterator[Instruction]:
    """The registers that the host's convention saves, and rsp, into the context at this register."""
    for memory, register in _slots(host, context):
        yield move(memory, register)


def restore(host: Convention, context: Register) -> Iterator[Instruction]:
    """All of them back, the one that holds the context's address last."""
    for memory, register in sorted(_slots(host, context), key=lambda slot: slot[1] == context):
        yield move(register, memory)


def move(target: Register | Memory, origin: Register | Memory, avx: bool = False) -> Instruction:
    """A move between registers, or of a register from or to memory; vectors lie at any address."""
    if any(isinstance(operand, Register) and operand.file == "vector" for operand in (target, origin)):
        return Instruction("vmovups" if avx else "movups", (target, origin))
    return Instruction("mov", (target, origin))


def _slots(host: Convention, context: Register) -> Iterator[tuple[Memory, Register]]:
    for register in (general("rsp"), *host.saved):
        yield word(context, _GENERAL + register.number), register
    for number in sorted(host.saved_vectors):
        yield word(context, _VECTORS + 2 * number, 128), vector(number, 128)
