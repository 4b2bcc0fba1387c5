"""A kernel in a loop over boards that lie anywhere: machine code with the signature of a NumPy ufunc's inner loop.

`inner_loop` makes `void loop(char **operands, const intptr_t *n, const intptr_t *steps, const void *kernel)` in the
platform's convention. Operands are the inputs and behind them the results; from one board of an operand to the next it
is as many bytes as its step says, 0 where one is for all. The kernel may be of any convention.

It goes from the last board down to the first, as kernels on arrays do: processors fetch ahead what goes one way. A
kernel on arrays takes 64 boards a call where they lie side by side, and meanwhile the next 64 are fetched, in the order
in which they are wanted; else one a call. Any other takes one a call; where its lanes are boards that is the first of
them, and nobody looks at the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from setwise.codegen.ir.routine import Contract
from setwise.codegen.machine.code import Code, Instruction, Item, Label, Memory, Register, general, vector
from setwise.codegen.machine.convention import Convention
from setwise.codegen.run.context import move, word

_RAX, _RBX, _RBP, _RSP, _R10, _R12 = map(general, ("rax", "rbx", "rbp", "rsp", "r10", "r12"))
_STEPS, _LEFT, _AT_ONCE = _RBX, _RBP, _R12
_BLOCK, _LINE = 64, 64  # boards; bytes
_KEPT = (_RBX, _RBP, _R12)
_LEAVE = Label("leave")


def inner_loop(contract: Contract, lanes: int, convention: Convention, host: Convention) -> Code:
    """The loop for kernels of `convention` with this contract and so many boards a register; `host` calls the loop."""
    parameters = contract.parameters
    places = convention.places([1 if parameter.scalar else lanes for parameter in parameters])
    arrays = sum(parameter.kind == "boards" for parameter in parameters)
    operands = arrays or sum(p.kind != "results" for p in parameters) + len(contract.results)
    # The frame: what the kernel finds above its return address, then the loop's own words.
    first = (convention.stack_arguments - 8) // 8 + sum(isinstance(place, int) for place in places)
    written = parameters[-1].kind == "results"
    each = lanes if written else 1
    block, kernel = first + operands, first + operands + len(contract.results) * each
    lost = (
        [register for register in host.saved if register not in convention.saved],
        [vector(number, 128) for number in sorted(host.saved_vectors - convention.saved_vectors)],
    )
    general_at, vectors_at = kernel + 1, kernel + 1 + len(lost[0])
    kept = [(word(_RSP, general_at + at), register) for at, register in enumerate(lost[0])]
    kept += [(word(_RSP, vectors_at + 2 * at, 128), register) for at, register in enumerate(lost[1])]

    def place(register: Register, operand: int) -> Iterator[Item]:
        """Where that operand has the first of the boards that are not left."""
        yield move(register, word(_STEPS, operand))
        yield Instruction("imul", (register, _LEFT))
        yield Instruction("add", (register, word(_RSP, first + operand)))

    def load() -> Iterator[Item]:
        operand = 0
        for parameter, where in zip(parameters, places, strict=True):
            # Before the call rsp is 8 above what the kernel sees.
            target = word(_RSP, where // 8 - 1) if isinstance(where, int) else where
            if parameter.kind == "count":
                yield move(target, _AT_ONCE)
                continue
            if parameter.kind == "results":
                yield Instruction("lea", (_RAX, word(_RSP, block)))
            else:
                yield from place(_RAX, operand)
                operand += 1
                if isinstance(target, Register) and target.file == "vector":
                    yield Instruction("movq", (target.at(128), word(_RAX, 0)))
                    continue
                if parameter.kind != "boards":
                    yield move(_RAX, word(_RAX, 0))
            yield move(target, _RAX)

    def store() -> Iterator[Item]:
        if arrays:
            return
        results = range(len(contract.results))
        for number in results:
            yield from place(_R10, operands - len(results) + number)
            if written:
                yield move(_RAX, word(_RSP, block + number * each))
            if lanes > 1 and not written:
                yield Instruction("movq", (word(_R10, 0), vector(0, 128)))
            else:
                yield move(word(_R10, 0), _RAX)

    def all_at_once() -> Iterator[Item]:
        for operand in range(operands):
            yield move(_RAX, word(_STEPS, operand))
            yield Instruction("cmp", (_RAX, 8))
            yield Instruction("jne", (Label("begin"),))
        yield Instruction("mov", (_AT_ONCE, _BLOCK))

    def begin() -> Iterator[Item]:
        pointers, number, steps, code = host.arguments[:4]
        yield move(_STEPS, steps)
        yield move(_LEFT, word(number, 0))
        yield move(word(_RSP, kernel), code)
        for operand in range(operands):
            yield move(_RAX, word(pointers, operand))
            yield move(word(_RSP, first + operand), _RAX)
        yield from (move(memory, register) for memory, register in kept)
        yield Instruction("mov", (_AT_ONCE, 1))
        yield from all_at_once() if arrays else ()

    def fetch() -> Iterator[Item]:
        """What the next call reads: processors foresee that too late where arrays share places in the cache."""
        yield Instruction("cmp", (_AT_ONCE, _BLOCK))
        yield Instruction("jne", (Label("fetched"),))
        yield Instruction("cmp", (_LEFT, 2 * _BLOCK))
        yield Instruction("jb", (Label("last"),))
        for operand in range(operands - len(contract.results)):
            yield from place(_RAX, operand)
            for line in range(8 * _BLOCK, 16 * _BLOCK, _LINE):
                yield Instruction("prefetcht0", (Memory(8, _RAX, displacement=-_LINE - line),))
        yield Label("last")
        yield Instruction("cmp", (_LEFT, _AT_ONCE))
        yield Instruction("jae", (Label("fetched"),))
        yield move(_AT_ONCE, _LEFT)
        yield Label("fetched")

    body = (
        *begin(),
        Label("begin"),
        Instruction("test", (_LEFT, _LEFT)),
        Instruction("je", (_LEAVE,)),
        Label("next"),
        *(fetch() if arrays else ()),
        Instruction("sub", (_LEFT, _AT_ONCE)),
        *load(),
        Instruction("call", (word(_RSP, kernel),)),
        *store(),
        Instruction("test", (_LEFT, _LEFT)),
        Instruction("jne", (Label("next"),)),
        _LEAVE,
        *([Instruction("vzeroupper")] if lanes > 2 else []),
        *(move(register, memory) for memory, register in kept),
    )
    return Code("loop", tuple(_framed(vectors_at + 2 * len(lost[1]), body)))


def _framed(words: int, body: Iterable[Item]) -> Iterator[Item]:
    """Put the body between entry and ret, with that many words of stack, aligned to 16, and _KEPT for its own use."""
    size = 8 * (words + words % 2)  # the return address and the three registers are 32 bytes
    for register in _KEPT:
        yield Instruction("push", (register,))
    yield Instruction("sub", (_RSP, size))
    yield from body
    yield Instruction("add", (_RSP, size))
    for register in reversed(_KEPT):
        yield Instruction("pop", (register,))
    yield Instruction("ret")
