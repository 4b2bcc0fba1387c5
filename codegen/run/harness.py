"""Signatures of kernels, and the code that passes arguments and saves registers in all loops around kernels.

driver.py checks a kernel call by call, loop.py runs it over boards with any strides, timer.py times it. Each saves its
caller's registers in a block of words, with other state: a context outside the stack, or a frame on it. `host` is the
convention of such a loop itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from setwise.codegen.ir.routine import Contract
from setwise.codegen.machine.code import Instruction, Memory, Register, general, vector
from setwise.codegen.machine.convention import Convention

RAX, RSP = general("rax"), general("rsp")

# Words for the caller's registers: one for each general register from 0 on, two for each vector register from 16 on.
_GENERAL, _VECTORS = 0, 16
SAVED_WORDS = 48


@dataclass(frozen=True, slots=True)
class ArgumentSlot:
    """The passing of an argument or a result.

    The column of an argument holds its data for all calls: `words` words of 8 bytes for each call, or an array.

    general   the word in a general register, or on the stack if the convention has no register left
    vector    the words in a vector register of their size; the n-th vector is in the convention's n-th vector register
    address   the address of the words in the column
    results   the address of the call's words in the results; it has no column
    """

    file: Literal["general", "vector", "address", "results"]
    words: int = 1

    @property
    def lanes(self) -> int:
        """The number of words in the register, 1 unless it is a vector register."""
        return self.words if self.file == "vector" else 1

    def operand(self, base: Register, displacement: int = 0) -> Memory | Register:
        """Return the operand to pass: the words at `base` + `displacement`, or `base` if the argument is an address."""
        if self.file in ("address", "results"):
            return base
        return Memory(64 * self.lanes, base, displacement=displacement)


GENERAL = ArgumentSlot("general")


@dataclass(frozen=True, slots=True)
class Signature:
    """The calling sequence of a kernel: its convention, arguments and result (None if it writes through an address).

    Each call takes `lanes` cases. With `whole` one call takes all cases, and the last argument, which has no column, is
    their number. With `vex`, vectors are moved by AVX instructions instead of SSE.
    """

    convention: Convention
    arguments: tuple[ArgumentSlot, ...]
    result: ArgumentSlot | None = GENERAL
    lanes: int = 1
    whole: bool = False
    vex: bool = False

    @property
    def places(self) -> tuple[Register | int, ...]:
        """The register of each argument; for an argument on the stack its offset from rsp at entry, in bytes."""
        return self.convention.places([slot.lanes for slot in self.arguments])

    @property
    def stack_words(self) -> int:
        """The number of words that the caller reserves above the return address: shadow space and stack arguments."""
        on_stack = sum(isinstance(place, int) for place in self.places)
        return (self.convention.stack_arguments - 8) // 8 + on_stack

    @property
    def columns(self) -> int:
        """The number of argument columns."""
        return sum(slot.file != "results" for slot in self.arguments) - self.whole

    @property
    def written(self) -> int:
        """The number of words that a call writes through the address for results; with `whole`, for each case."""
        return sum(slot.words for slot in self.arguments if slot.file == "results")

    @property
    def interleaved(self) -> int:
        """The number of results if a call writes several boards of each through an address, side by side; else 0."""
        return self.written // self.lanes if self.lanes > 1 else 0

    def register(self, slot: ArgumentSlot) -> Register:
        """Return the register of a result, as wide as its slot."""
        return self.convention.result_for(slot.lanes).at(64 * slot.lanes)


def signature(contract: Contract, convention: Convention, lanes: int = 1, vex: bool = False) -> Signature:
    """Return the signature of kernels with this contract.

    An argument or single result is a vector of `lanes` words, or a word in a general register if `lanes` is 1 or the
    parameter is scalar. Arrays are passed by address. Several results go to an address, boards of each side by side.
    """
    if contract.elements:
        results = len(contract.results)
        inputs = [ArgumentSlot("address")] * (len(contract.parameters) - results - 1)
        arrays = (*inputs, *[ArgumentSlot("results")] * results, GENERAL)
        return Signature(convention, arrays, None, whole=True, vex=vex)
    board = ArgumentSlot("vector", lanes) if lanes > 1 else GENERAL
    written = ArgumentSlot("results", len(contract.results) * lanes)
    arguments = tuple(written if p.kind == "results" else GENERAL if p.scalar else board for p in contract.parameters)
    return Signature(convention, arguments, None if written in arguments else board, lanes, vex=vex)


def passed(place: Register | int, argument: Register | Memory, vex: bool = False) -> Iterator[Instruction]:
    """Yield the moves of an argument to its place (of `Signature.places`) before a call, to the stack through rax."""
    if isinstance(place, Register):
        yield move(place.at(argument.bits), argument, vex)
        return
    if argument != RAX:
        yield move(RAX, argument)
    yield move(word(RSP, place // 8 - 1), RAX)  # before the call rsp is 8 above its value at the kernel's entry


def word(base: Register, number: int, bits: int = 64) -> Memory:
    """Return the memory operand of `bits` bits that begins `number` words of 8 bytes above the address in `base`."""
    return Memory(bits, base, displacement=8 * number)


def save(host: Convention, base: Register, first: int = 0) -> Iterator[Instruction]:
    """Yield the moves that save rsp and the callee-saved registers of `host` at `base`, from its word `first` on."""
    for memory, register in _slots(host, base, first):
        yield move(memory, register)


def restore(host: Convention, base: Register, first: int = 0) -> Iterator[Instruction]:
    """Yield the moves that restore the registers that `save` saved, the base register last."""
    for memory, register in sorted(_slots(host, base, first), key=lambda slot: slot[1] == base):
        yield move(register, memory)


def move(target: Register | Memory, origin: Register | Memory, vex: bool = False) -> Instruction:
    """Return a move to `target`, register or memory. Vectors need no alignment; `vex` moves them by AVX, else SSE."""
    if any(isinstance(operand, Register) and operand.file == "vector" for operand in (target, origin)):
        return Instruction("vmovups" if vex else "movups", (target, origin))
    return Instruction("mov", (target, origin))


def _slots(host: Convention, base: Register, first: int) -> Iterator[tuple[Memory, Register]]:
    for register in (RSP, *host.saved):
        yield word(base, first + _GENERAL + register.number), register
    for number in sorted(host.saved_vectors):
        yield word(base, first + _VECTORS + 2 * number, 128), vector(number, 128)
