"""The loop over many cases as machine code: it calls a kernel of any convention and watches what must survive.

`driver` makes `uint64_t drive(const void *kernel, void *const *columns, void *results, uint64_t n)` in the platform's
convention. For each case it fills the registers that the kernel must save with known values, loads the arguments,
calls, and looks whether those registers, rsp and the direction flag are as they were. It returns at the first case
where they are not, with a mask of what differs, else 0 after n cases.

Its own state lies in a context, a block outside the stack whose address is part of the code, so that it comes back
whatever a kernel does to registers and stack pointer. The known values are addresses of the way back, too, and so are
the words around the kernel's stack: one that returns to a saved register or to a word too far up or down still arrives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from setwise.codegen.ir.routine import Contract
from setwise.codegen.machine.code import Code, Instruction, Item, Label, Memory, Register, general, vector
from setwise.codegen.machine.convention import Convention
from setwise.codegen.run.context import SAVED_WORDS, move, restore, save, word


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


GENERAL = ArgumentSlot("general")

# Bits of the mask: 0 to 15 general registers, 16 to 31 vector registers, then:
DIRECTION_FLAG = 32

# The words of the context behind what the host wants back.
_KERNEL, _COLUMNS, _RESULTS, _N, CASE_WORD, _BROKEN, _CALL_RSP = range(SAVED_WORDS, SAVED_WORDS + 7)
_KNOWN_VECTORS = SAVED_WORDS + 8  # two words each
_SEEN_VECTOR = _KNOWN_VECTORS + 2 * 16
CONTEXT_WORDS = _SEEN_VECTOR + 2
"""How many there are; word `CASE_WORD` holds the number of the case, from 0: behind a breach, the case that made it."""

_RAX, _RSP, _R10, _R11 = map(general, ("rax", "rsp", "r10", "r11"))
_RETURNED = "returned"
_WAYS_BACK = 8  # words above the arguments, and as many below the kernel's return address
_JUNK = 0x5A5A_A5A5_3C3C_C3C3


def passing(contract: Contract, lanes: int = 1) -> tuple[tuple[ArgumentSlot, ...], ArgumentSlot | None]:
    """How a routine's arguments and its result are passed, with so many boards in a vector register (1: general ones).

    The result is None where it is written through an address: then a call leaves each result's boards side by side.
    """
    board = ArgumentSlot("vector", lanes) if lanes > 1 else GENERAL
    written = ArgumentSlot("results", len(contract.results) * lanes)
    arguments = tuple(written if p.kind == "results" else GENERAL if p.scalar else board for p in contract.parameters)
    return arguments, None if written in arguments else board


def by_case(words: Sequence[int], results: int, lanes: int) -> list[int]:
    """What calls with so many boards each have left of several results, put so that those of a case are side by side.

    >>> by_case([10, 11, 20, 21, 12, 13, 22, 23], 2, 2)
    [10, 20, 11, 21, 12, 22, 13, 23]
    """
    ordered = list(words)
    for result in range(results):
        for lane in range(lanes):
            ordered[lane * results + result :: results * lanes] = words[result * lanes + lane :: results * lanes]
    return ordered


def initial_context() -> list[int]:
    """The words that a context holds before the first call: the values that vector registers must keep."""
    words = [0] * CONTEXT_WORDS
    for at in range(32):
        words[_KNOWN_VECTORS + at] = (0x9E37_79B9_7F4A_7C15 * (at + 1)) & 0xFFFF_FFFF_FFFF_FFFF
    return words


def breaches(mask: int) -> tuple[str, ...]:
    """What a mask of `drive` says, in words.

    >>> breaches(1 << 3 | 1 << 22 | 1 << DIRECTION_FLAG)
    ('rbx changed', 'xmm6 changed', 'the direction flag is set')
    """
    names = [Register("general", n, 64).name for n in range(16)] + [vector(n, 128).name for n in range(16)]
    changed = [f"{name} changed" for bit, name in enumerate(names) if mask >> bit & 1]
    return (*changed, *(["the direction flag is set"] if mask >> DIRECTION_FLAG & 1 else []))


def driver(
    convention: Convention,
    arguments: Sequence[ArgumentSlot],
    context_address: int,
    host: Convention,
    result: ArgumentSlot | None = GENERAL,
    avx: bool = False,
) -> Code:
    """The driver for kernels of `convention` with these arguments; `host` is the convention in which it is called.

    A result is stored to results[case]; without one the kernel writes through an address. `avx` says whether the
    processor may be asked for VEX instructions: vectors of more than 128 bits need them.
    """
    wide = any(slot.file == "vector" and slot.words > 2 for slot in (*arguments, *([result] if result else ())))
    if wide and not avx:
        raise ValueError("vectors of more than 128 bits need AVX")
    return Code(
        "drive",
        (
            *_enter(host, context_address),
            *_reserve(convention, arguments),
            Label("next"),
            *_at_context(context_address),
            *_load_arguments(convention, arguments, avx),
            *_fill(convention),
            Instruction("call", (word(_R11, _KERNEL),)),
            Label(_RETURNED),
            *(Instruction("nop") for _ in range(16)),  # a way back for each general register
            *_at_context(context_address),
            *_examine(convention),
            *(_store_result(convention, result, avx) if result else ()),
            move(_R10, word(_R11, _BROKEN)),
            Instruction("test", (_R10, _R10)),
            Instruction("jne", (Label("leave"),)),
            move(_R10, word(_R11, CASE_WORD)),
            Instruction("add", (_R10, 1)),
            move(word(_R11, CASE_WORD), _R10),
            Label("test"),
            Instruction("cmp", (_R10, word(_R11, _N))),
            Instruction("jb", (Label("next"),)),
            Label("leave"),
            *([Instruction("vzeroupper")] if wide else []),
            *restore(host, _R11),
            move(_RAX, word(_R11, _BROKEN)),
            Instruction("ret"),
        ),
    )


def _at_context(address: int) -> Iterator[Item]:
    yield Instruction("mov", (_R11, address))


def _way_back(number: int) -> Memory:
    return Memory(64, symbol=_RETURNED, displacement=number)


def _enter(host: Convention, context_address: int) -> Iterator[Item]:
    yield from _at_context(context_address)
    for number, register in zip((_KERNEL, _COLUMNS, _RESULTS, _N), host.arguments, strict=False):
        yield move(word(_R11, number), register)
    yield from save(host, _R11)


def _reserve(convention: Convention, arguments: Sequence[ArgumentSlot]) -> Iterator[Item]:
    """Room for shadow space and stack arguments and some ways back above, at a multiple of 16; the loop's start."""
    on_stack = sum(isinstance(place, int) for place in _places(convention, arguments))
    words = (convention.stack_arguments - 8) // 8 + on_stack + _WAYS_BACK
    yield Instruction("sub", (_RSP, 8 * words))
    yield Instruction("and", (_RSP, -16))
    yield Instruction("lea", (_R10, _way_back(0)))
    for at in range(words):
        yield move(word(_RSP, at), _R10)
    yield move(word(_R11, _CALL_RSP), _RSP)
    yield Instruction("xor", (_R10.at(32), _R10.at(32)))
    yield move(word(_R11, _BROKEN), _R10)
    yield move(word(_R11, CASE_WORD), _R10)
    yield Instruction("jmp", (Label("test"),))


def _load_arguments(convention: Convention, arguments: Sequence[ArgumentSlot], avx: bool) -> Iterator[Item]:
    columns = 0
    for slot, place in zip(arguments, _places(convention, arguments), strict=True):
        if slot.file == "results":
            yield move(_RAX, word(_R11, _RESULTS))
        else:
            yield move(_RAX, word(_R11, _COLUMNS))
            yield move(_RAX, word(_RAX, columns))
            columns += 1
        yield from _add_case(slot)
        if slot.file == "vector" and isinstance(place, Register):
            register = place.at(64 * slot.words)
            yield move(register, word(_RAX, 0, register.bits), avx)
            continue
        if slot.file == "general":
            yield move(_RAX, word(_RAX, 0))
        # Before the call rsp is 8 above what the kernel sees.
        yield move(word(_RSP, place // 8 - 1) if isinstance(place, int) else place, _RAX)


def _places(convention: Convention, arguments: Sequence[ArgumentSlot]) -> tuple[Register | int, ...]:
    return convention.places([slot.lanes for slot in arguments])


def _add_case(slot: ArgumentSlot) -> Iterator[Item]:
    """To rax the distance of this case's words from the column's start."""
    yield move(_R10, word(_R11, CASE_WORD))
    yield Instruction("imul", (_R10, _R10, 8 * slot.words))
    yield Instruction("add", (_RAX, _R10))


def _fill(convention: Convention) -> Iterator[Item]:
    """Known values into all that must survive, ways back below the stack, junk into rax and r10."""
    for register in convention.saved:
        yield Instruction("lea", (register, _way_back(register.number)))
    for number in sorted(convention.saved_vectors):
        yield Instruction("movups", (vector(number, 128), word(_R11, _KNOWN_VECTORS + 2 * number, 128)))
    yield Instruction("lea", (_R10, _way_back(0)))
    for at in range(2, 2 + _WAYS_BACK):
        yield move(word(_RSP, -at), _R10)
    yield Instruction("mov", (_RAX, _JUNK))
    yield move(_R10, _RAX)


def _examine(convention: Convention) -> Iterator[Item]:
    """Differences into the mask; rax is left alone."""
    yield Instruction("cmp", (_RSP, word(_R11, _CALL_RSP)))
    yield from _note_if_unequal(_RSP.number)
    yield move(_RSP, word(_R11, _CALL_RSP))
    yield Instruction("pushfq")
    yield Instruction("pop", (_R10,))
    yield Instruction("cld")
    yield Instruction("shr", (_R10, 10))
    yield Instruction("and", (_R10, 1))
    yield from _note(DIRECTION_FLAG)
    for register in convention.saved:
        yield Instruction("lea", (_R10, _way_back(register.number)))
        yield Instruction("cmp", (_R10, register))
        yield from _note_if_unequal(register.number)
    for number in sorted(convention.saved_vectors):
        yield Instruction("movups", (word(_R11, _SEEN_VECTOR, 128), vector(number, 128)))
        for half in range(2):
            yield move(_R10, word(_R11, _SEEN_VECTOR + half))
            yield Instruction("cmp", (_R10, word(_R11, _KNOWN_VECTORS + 2 * number + half)))
            yield from _note_if_unequal(16 + number)


def _note_if_unequal(bit: int) -> Iterator[Item]:
    yield Instruction("setne", (_R10.at(8),))
    yield Instruction("movzx", (_R10.at(32), _R10.at(8)))
    yield from _note(bit)


def _note(bit: int) -> Iterator[Item]:
    """The bit in r10, 0 or 1, into the mask."""
    yield Instruction("shl", (_R10, bit))
    yield Instruction("or", (word(_R11, _BROKEN), _R10))


def _store_result(convention: Convention, result: ArgumentSlot, avx: bool) -> Iterator[Item]:
    yield move(_R10, word(_R11, CASE_WORD))
    yield Instruction("imul", (_R10, _R10, 8 * result.words))
    yield Instruction("add", (_R10, word(_R11, _RESULTS)))
    register = convention.result_for(result.lanes).at(64 * result.lanes)
    yield move(word(_R10, 0, register.bits), register, avx)
