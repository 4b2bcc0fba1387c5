"""The loop of a kernel over boards with any strides: machine code with the signature of a NumPy ufunc's inner loop.

`inner_loop` generates `void loop(char **operands, const intptr_t *n, const intptr_t *steps, const void *kernel)` in the
platform's convention. `operands` are the addresses of the inputs, then of the results. `steps` are the distances in
bytes between consecutive boards of each, 0 if one board is for all. The kernel may have any convention.

The loop runs from the last board down to the first, as do kernels on arrays, because hardware prefetches in one
direction. A kernel on arrays gets all boards in one call if all operands are contiguous; of long arrays, which no cache
near the core holds, it gets 64 boards a call, and the inputs of the next call are prefetched. In all other cases a call
gets one board; if lanes are boards, the other lanes are unused.
"""

from collections.abc import Iterator

from setwise.codegen.machine.code import Code, Instruction, Item, Label, Memory, Register, general, vector
from setwise.codegen.machine.convention import Convention
from setwise.codegen.run.harness import RAX, RSP, SAVED_WORDS, Signature, move, passed, restore, save, word

_STEPS, _LEFT, _AT_ONCE, _R10 = map(general, ("rbx", "rbp", "r12", "r10"))
LONG = 1 << 17
"""The boards of a long array."""
_BLOCK, _LINE = 64, 64  # boards of a call on long arrays; bytes of a cache line


def inner_loop(signature: Signature, results: int, host: Convention) -> Code:
    """Return the loop for kernels with that signature and number of results. `host` is the loop's own convention."""
    operands = signature.columns + results
    written = 0 if signature.whole else signature.written  # words of the frame's block for results
    # The frame: the kernel's stack arguments, the operands' addresses, the block for results, the kernel's address,
    # and the saved registers of the loop's caller.
    first = signature.stack_words
    block, kernel = first + operands, first + operands + written
    size = 8 * (kernel + 1 + SAVED_WORDS | 1)  # with the return address a multiple of 16

    def place(register: Register, operand: int) -> Iterator[Item]:
        """Yield the code that sets `register` to the address of the operand's board whose number is in _LEFT."""
        yield move(register, word(_STEPS, operand))
        yield Instruction("imul", (register, _LEFT))
        yield Instruction("add", (register, word(RSP, first + operand)))

    def load() -> Iterator[Item]:
        operand = 0
        for at, (slot, where) in enumerate(zip(signature.arguments, signature.places, strict=True)):
            if signature.whole and at == len(signature.arguments) - 1:
                yield from passed(where, _AT_ONCE)
            elif written and slot.file == "results":
                yield Instruction("lea", (RAX, word(RSP, block)))
                yield from passed(where, RAX)
            else:
                yield from place(RAX, operand)
                operand += 1
                if slot.file == "vector" and isinstance(where, Register):
                    yield Instruction("movq", (where.at(128), word(RAX, 0)))
                else:
                    yield from passed(where, slot.operand(RAX))

    def store() -> Iterator[Item]:
        for number in range(0 if signature.whole else results):
            yield from place(_R10, signature.columns + number)
            if written:
                yield move(RAX, word(RSP, block + number * (written // results)))
            if signature.result and signature.result.file == "vector":
                yield Instruction("movq", (word(_R10, 0), vector(0, 128)))
            else:
                yield move(word(_R10, 0), RAX)

    def begin() -> Iterator[Item]:
        pointers, number, steps, code = host.arguments[:4]
        yield move(_STEPS, steps)
        yield move(_LEFT, word(number, 0))
        yield move(word(RSP, kernel), code)
        yield Instruction("mov", (_AT_ONCE, 1))
        for operand in range(operands):
            yield move(RAX, word(pointers, operand))
            yield move(word(RSP, first + operand), RAX)
        for operand in range(operands if signature.whole else 0):
            yield Instruction("cmp", (word(_STEPS, operand), 8))
            yield Instruction("jne", (Label("begin"),))
        if signature.whole:
            yield move(_AT_ONCE, _LEFT)
            yield Instruction("cmp", (_LEFT, LONG))
            yield Instruction("jb", (Label("begin"),))
            yield Instruction("mov", (_AT_ONCE, _BLOCK))

    def fetch() -> Iterator[Item]:
        """Yield code that prefetches the next call's inputs and limits the last call to the boards that are left.

        Hardware prefetches too late for arrays that share cache sets.
        """
        yield Instruction("cmp", (_AT_ONCE, _BLOCK))
        yield Instruction("jne", (Label("fetched"),))
        yield Instruction("cmp", (_LEFT, 2 * _BLOCK))
        yield Instruction("jb", (Label("last"),))
        for operand in range(signature.columns):
            yield from place(RAX, operand)
            for line in range(8 * _BLOCK, 16 * _BLOCK, _LINE):
                yield Instruction("prefetcht0", (Memory(8, RAX, displacement=-_LINE - line),))
        yield Label("last")
        yield Instruction("cmp", (_LEFT, _AT_ONCE))
        yield Instruction("jae", (Label("fetched"),))
        yield move(_AT_ONCE, _LEFT)
        yield Label("fetched")

    return Code(
        "loop",
        (
            Instruction("sub", (RSP, size)),
            *save(host, RSP, kernel + 1),
            *begin(),
            Label("begin"),
            Instruction("test", (_LEFT, _LEFT)),
            Instruction("je", (Label("leave"),)),
            Label("next"),
            *(fetch() if signature.whole else ()),
            Instruction("sub", (_LEFT, _AT_ONCE)),
            *load(),
            Instruction("call", (word(RSP, kernel),)),
            *store(),
            Instruction("test", (_LEFT, _LEFT)),
            Instruction("jne", (Label("next"),)),
            Label("leave"),
            *([Instruction("vzeroupper")] if signature.vex else []),
            *restore(host, RSP, kernel + 1),
            Instruction("add", (RSP, size)),
            Instruction("ret"),
        ),
    )
