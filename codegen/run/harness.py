"""How a kernel is called, and the code that all loops around kernels have: it passes arguments and saves registers.

driver.py watches a kernel case by case, loop.py runs it over boards anywhere, timer.py times it. Each loop keeps its
state and the registers of its host in a block of words: a context, which lies outside the stack, or a frame on it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from setwise.codegen.ir.routine import Contract
from setwise.codegen.machine.code import Instruction, Memory, Register, general, vector
from setwise.codegen.machine.convention import Convention

RAX, RSP = general("rax"), general("rsp")

# The words of the host's registers: one a general register, two a vector register.
_GENERAL, _VECTORS = 0, 16
SAVED_WORDS = 48


@dataclass(frozen=True, slots=True)
class ArgumentSlot:
    """How an argument or a result is passed, and its part of a column: `words` of 8 bytes a case.

    general   a word in a general register, or on the stack where the convention has no register left
    vector    the words in a vector register of that size; the n-th vector is in the convention's n-th vector register
    address   the address of the case's words in the column
    results   the address of the case's words in the results; it has no column
    """

    file: Literal["general", "vector", "address", "results"]
    words: int = 1

    @property
    def lanes(self) -> int:
        """How many words the register holds."""
        return self.words if self.file == "vector" else 1

    def operand(self, base: Register, displacement: int = 0) -> Memory | Register:
        """Return the words that lie at an address in a register, or for a slot that takes an address, the register."""
        if self.file in ("address", "results"):
            return base
        return Memory(64 * self.lanes, base, displacement=displacement)


GENERAL = ArgumentSlot("general")


@dataclass(frozen=True, slots=True)
class Signature:
    """How a kernel is called: its convention, its arguments, its result (None where it writes through an address).

    With `lanes` each call takes so many cases. With `whole` one call takes them all, and a last argument, which has no
    column, says how many they are. `vex` tells that vectors are moved by AVX's instructions, not by SSE's.
    """

    convention: Convention
    arguments: tuple[ArgumentSlot, ...]
    result: ArgumentSlot | None = GENERAL
    lanes: int = 1
    whole: bool = False
    vex: bool = False

    @property
    def places(self) -> tuple[Register | int, ...]:
        """The registers that the arguments come in; of one on the stack the bytes above rsp at entry."""
        return self.convention.places([slot.lanes for slot in self.arguments])

    @property
    def stack_words(self) -> int:
        """Words above the return address: shadow space and arguments on the stack."""
        on_stack = sum(isinstance(place, int) for place in self.places)
        return (self.convention.stack_arguments - 8) // 8 + on_stack

    @property
    def columns(self) -> int:
        """How many columns of arguments it takes."""
        return sum(slot.file != "results" for slot in self.arguments) - self.whole

    @property
    def written(self) -> int:
        """How many words a call writes through the address for results."""
        return sum(slot.words for slot in self.arguments if slot.file == "results")

    @property
    def interleaved(self) -> int:
        """How many results a call writes for several boards each, result by result; else 0."""
        return self.written // self.lanes if self.lanes > 1 else 0

    def register(self, slot: ArgumentSlot) -> Register:
        """Return the register that a result comes in, as wide as its slot."""
        return self.convention.result_for(slot.lanes).at(64 * slot.lanes)


def signature(contract: Contract, convention: Convention, lanes: int = 1, vex: bool = False) -> Signature:
    """Return how a routine is called with so many boards in a vector register (1: general registers).

    A call leaves each of several results' boards side by side.
    """
    if contract.elements:
        inputs = len(contract.parameters) - 2
        arrays = (*[ArgumentSlot("address")] * inputs, ArgumentSlot("results"), GENERAL)
        return Signature(convention, arrays, None, whole=True, vex=vex)
    board = ArgumentSlot("vector", lanes) if lanes > 1 else GENERAL
    written = ArgumentSlot("results", len(contract.results) * lanes)
    arguments = tuple(written if p.kind == "results" else GENERAL if p.scalar else board for p in contract.parameters)
    return Signature(convention, arguments, None if written in arguments else board, lanes, vex=vex)


def passed(place: Register | int, argument: Register | Memory, vex: bool = False) -> Iterator[Instruction]:
    """Yield the moves of an argument to its place before a call; to the stack it goes through rax."""
    if isinstance(place, Register):
        yield move(place.at(argument.bits), argument, vex)
        return
    if argument != RAX:
        yield move(RAX, argument)
    yield move(word(RSP, place // 8 - 1), RAX)  # before the call rsp is 8 above what the kernel sees


def word(base: Register, number: int, bits: int = 64) -> Memory:
    """Return the memory so many words behind an address."""
    return Memory(bits, base, displacement=8 * number)


def save(host: Convention, base: Register, first: int = 0) -> Iterator[Instruction]:
    """Yield the moves of rsp and of the registers that the host's convention saves, to the words from `first` on."""
    for memory, register in _slots(host, base, first):
        yield move(memory, register)


def restore(host: Convention, base: Register, first: int = 0) -> Iterator[Instruction]:
    """Yield the moves of all of them back, that of the base itself last."""
    for memory, register in sorted(_slots(host, base, first), key=lambda slot: slot[1] == base):
        yield move(register, memory)


def move(target: Register | Memory, origin: Register | Memory, vex: bool = False) -> Instruction:
    """Return a move between registers, or of a register from or to memory; vectors lie at any address."""
    if any(isinstance(operand, Register) and operand.file == "vector" for operand in (target, origin)):
        return Instruction("vmovups" if vex else "movups", (target, origin))
    return Instruction("mov", (target, origin))


def _slots(host: Convention, base: Register, first: int) -> Iterator[tuple[Memory, Register]]:
    for register in (RSP, *host.saved):
        yield word(base, first + _GENERAL + register.number), register
    for number in sorted(host.saved_vectors):
        yield word(base, first + _VECTORS + 2 * number, 128), vector(number, 128)
