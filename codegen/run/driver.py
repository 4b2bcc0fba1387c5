"""The driver, machine code that calls a kernel for many cases and checks the registers that the kernel must preserve.

`driver` generates `uint64_t drive(const void *kernel, void *const *columns, void *results, uint64_t n)` in the
platform's convention. It makes n calls. Before each it loads the arguments and sets the callee-saved registers to known
values; after it, it checks those registers, rsp and the direction flag. The first call that violates the convention is
the last one. The result is the mask of its violations, 0 if there are none.

Its state is in a context, a block outside the stack with an address that is part of the code, so that it survives a
kernel that corrupts registers and the stack pointer. The known values of general registers, and words around the
kernel's return address, are valid return addresses in the driver: a kernel that returns to a saved register or to a
wrong word nearby still returns to the driver.
"""

from collections.abc import Iterator, Sequence

from setwise.codegen.machine.code import Code, Instruction, Item, Label, Memory, Register, general, vector
from setwise.codegen.machine.convention import Convention
from setwise.codegen.run.harness import RAX, RSP, SAVED_WORDS, Signature, move, passed, restore, save, word

# Bits of the mask: 0 to 15 general registers, 16 to 31 vector registers, then:
DIRECTION_FLAG = 32

# The words of the context behind the saved registers of the driver's caller.
_KERNEL, _COLUMNS, _RESULTS, _N, CASE_WORD, _BROKEN, _CALL_RSP = range(SAVED_WORDS, SAVED_WORDS + 7)
_KNOWN_VECTORS = SAVED_WORDS + 8  # two words for each of 16 vector registers
_SEEN_VECTOR = _KNOWN_VECTORS + 2 * 16
CONTEXT_WORDS = _SEEN_VECTOR + 2
"""The number of words of a context. Word `CASE_WORD` has the number of the current call, or of a call that violates."""

_R10, _R11 = general("r10"), general("r11")
_RETURNED = "returned"
_WAYS_BACK = 8  # return addresses above the arguments, and as many below the kernel's return address
_JUNK = 0x5A5A_A5A5_3C3C_C3C3


def by_case(words: Sequence[int], results: int, lanes: int) -> list[int]:
    """Reorder the words of calls with several lanes so that the `results` results of each case are adjacent.

    >>> by_case([10, 11, 20, 21, 12, 13, 22, 23], 2, 2)
    [10, 20, 11, 21, 12, 22, 13, 23]
    """
    ordered = list(words)
    for result in range(results):
        for lane in range(lanes):
            ordered[lane * results + result :: results * lanes] = words[result * lanes + lane :: results * lanes]
    return ordered


def initial_context() -> list[int]:
    """Return the initial words of a context: zeros, and a known value for each vector register."""
    words = [0] * CONTEXT_WORDS
    for at in range(32):
        words[_KNOWN_VECTORS + at] = (0x9E37_79B9_7F4A_7C15 * (at + 1)) & 0xFFFF_FFFF_FFFF_FFFF
    return words


def breaches(mask: int) -> tuple[str, ...]:
    """Return the violations in a mask that `drive` returned, as text.

    >>> breaches(1 << 3 | 1 << 22 | 1 << DIRECTION_FLAG)
    ('rbx changed', 'xmm6 changed', 'the direction flag is set')
    """
    names = [Register("general", n, 64).name for n in range(16)] + [vector(n, 128).name for n in range(16)]
    changed = [f"{name} changed" for bit, name in enumerate(names) if mask >> bit & 1]
    return (*changed, *(["the direction flag is set"] if mask >> DIRECTION_FLAG & 1 else []))


def driver(signature: Signature, context_address: int, host: Convention) -> Code:
    """Return the driver for kernels with that signature; `host` is the convention of the driver itself.

    Its context is at `context_address`. After each call it stores a result that is in a register.
    """
    return Code(
        "drive",
        (
            *_enter(host, context_address),
            *_reserve(signature),
            Label("next"),
            *_at_context(context_address),
            *_load_arguments(signature),
            *_fill(signature.convention),
            Instruction("call", (word(_R11, _KERNEL),)),
            Label(_RETURNED),
            *(Instruction("nop") for _ in range(16)),  # the address of nop n is general register n's known value
            *_at_context(context_address),
            *_examine(signature.convention),
            *_store_result(signature),
            move(_R10, word(_R11, _BROKEN)),
            Instruction("test", (_R10, _R10)),
            Instruction("jne", (Label("leave"),)),
            Instruction("add", (word(_R11, CASE_WORD), 1)),
            Label("test"),
            move(_R10, word(_R11, CASE_WORD)),
            Instruction("cmp", (_R10, word(_R11, _N))),
            Instruction("jb", (Label("next"),)),
            Label("leave"),
            *([Instruction("vzeroupper")] if signature.vex else []),
            *restore(host, _R11),
            move(RAX, word(_R11, _BROKEN)),
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


def _reserve(signature: Signature) -> Iterator[Item]:
    """Yield code that reserves aligned stack words, fills them with return addresses, and begins at call 0, mask 0."""
    words = signature.stack_words + _WAYS_BACK
    yield Instruction("sub", (RSP, 8 * words))
    yield Instruction("and", (RSP, -16))
    yield Instruction("lea", (_R10, _way_back(0)))
    for at in range(words):
        yield move(word(RSP, at), _R10)
    yield move(word(_R11, _CALL_RSP), RSP)
    yield Instruction("xor", (_R10.at(32), _R10.at(32)))
    yield move(word(_R11, _BROKEN), _R10)
    yield move(word(_R11, CASE_WORD), _R10)
    yield Instruction("jmp", (Label("test"),))


def _load_arguments(signature: Signature) -> Iterator[Item]:
    columns, arrays = iter(range(len(signature.arguments))), 0
    for slot, place in zip(signature.arguments, signature.places, strict=True):
        yield move(RAX, word(_R11, _RESULTS if slot.file == "results" else _COLUMNS))
        if slot.file != "results":
            yield move(RAX, word(RAX, next(columns)))
        elif signature.whole:  # arrays of results follow each other, each of as many boards as the last argument says
            yield move(_R10, word(_R11, _COLUMNS))
            yield move(_R10, word(_R10, signature.columns))
            yield Instruction("imul", (_R10, word(_R10, 0), 8 * arrays))
            yield Instruction("add", (RAX, _R10))
            arrays += 1
        yield Instruction("imul", (_R10, word(_R11, CASE_WORD), 8 * slot.words))
        yield Instruction("add", (RAX, _R10))
        yield from passed(place, slot.operand(RAX), signature.vex)


def _fill(convention: Convention) -> Iterator[Item]:
    """Yield moves of known values to callee-saved registers, return addresses below rsp, and junk to rax and r10."""
    for register in convention.saved:
        yield Instruction("lea", (register, _way_back(register.number)))
    for number in sorted(convention.saved_vectors):
        yield Instruction("movups", (vector(number, 128), word(_R11, _KNOWN_VECTORS + 2 * number, 128)))
    yield Instruction("lea", (_R10, _way_back(0)))
    for at in range(2, 2 + _WAYS_BACK):
        yield move(word(RSP, -at), _R10)
    yield Instruction("mov", (RAX, _JUNK))
    yield move(_R10, RAX)


def _examine(convention: Convention) -> Iterator[Item]:
    """Yield the code that adds a call's violations to the mask and restores rsp; rax keeps its value."""
    yield Instruction("cmp", (RSP, word(_R11, _CALL_RSP)))
    yield from _note_if_unequal(RSP.number)
    yield move(RSP, word(_R11, _CALL_RSP))
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
    """Yield the code that sets bit number `bit` of the mask if r10, which is 0 or 1, is 1."""
    yield Instruction("shl", (_R10, bit))
    yield Instruction("or", (word(_R11, _BROKEN), _R10))


def _store_result(signature: Signature) -> Iterator[Item]:
    if slot := signature.result:
        register = signature.register(slot)
        yield Instruction("imul", (_R10, word(_R11, CASE_WORD), 8 * slot.words))
        yield Instruction("add", (_R10, word(_R11, _RESULTS)))
        yield move(Memory(register.bits, _R10), register, signature.vex)
