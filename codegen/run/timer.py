"""The timing loop, machine code that calls a routine directly, between measurements of the core's speed.

`timer` generates `void time(uint64_t *context)` in front of the routine's bytes. It runs trials. Each one reads time
stamps (rdtsc, serialized by lfence) before, between and behind its sections:

    chain    CHAIN_ADDS dependent additions: one cycle each on every processor
    wide     WIDE_ROWS rows of four additions, alternating between two sets of registers, so that they wait for ALUs
             alone: a cycle a row with four ALUs without competition, less with more ALUs
    warming  about a quarter of the rounds that follow, to power up vector units, idle in the sections before
    calls    rounds of calls of the routine
    wide, chain, and an empty section: the overhead of a stamp

A time stamp counter may advance in steps (26 ticks, or 10 nanoseconds, on Zen 5), so the sections are long. Granite
Rapids powers down its 512-bit units after about 4 microseconds without use, and they are then slow for thousands of
cycles. So untimed calls precede the timed ones.

All arguments but a chained one are passed again for each call, because a call may change their registers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, get_args

from setwise.codegen.assemble import assemble
from setwise.codegen.machine.code import Code, Instruction, Item, Label, Register, general
from setwise.codegen.machine.convention import Convention
from setwise.codegen.run.harness import RAX, RSP, SAVED_WORDS, Signature, move, passed, restore, save, word

Mode = Literal["chained", "independent", "mixed"]
MODES: tuple[Mode, ...] = get_args(Mode)

CALLS = 16
"""Calls in a round, enough to make the overhead of the loop small."""
CHAIN_ADDS = 1 << 14
WIDE_ROWS = 1 << 12
STAMPS = 8
"""Words of a record, its stamps: before chain, wide, warming, calls, wide, chain and the empty section, and its end."""

# The words of the context behind the saved registers of the loop's caller. The caller sets these five.
ARGUMENTS, ARGUMENTS_END, ROUNDS, TRIALS, RECORDS = range(SAVED_WORDS, SAVED_WORDS + 5)
_ZEROS = SAVED_WORDS + 8  # as many words as a vector has, aligned for one
RESULTS = _ZEROS + 8
"""The index of the first result word in the context: the last call's result, or the words that a routine stores."""
_MOST_RESULTS = 64
CONTEXT_WORDS = RESULTS + _MOST_RESULTS

_LINE, _PAGE = 64, 4096
_STACK = 128  # bytes at the end of a page, for shadow space and arguments on the stack
_CHAIN_UNROLLED, _WIDE_UNROLLED = 64, 32
_BEGINNINGS = 16  # number of different delays before the rounds
_WARMING = 2  # right shift of the rounds: a quarter
_RDX = general("rdx")
_WIDE = tuple(map(general, ("rax", "r8", "r9", "r10", "r11", "rcx", "rsi", "rdi")))  # two rows
# Registers that are callee-saved in every convention.
_ROUND, _END, _SET, _TRIAL, _RECORD, _CONTEXT = map(general, ("rbx", "rbp", "r12", "r13", "r14", "r15"))


@dataclass(frozen=True, slots=True)
class Calls:
    """The order and the dependence of calls; a round of the loop has `in_round` calls.

    chained      The result becomes argument number `chained` of the next call, by one register move, or without an
                 instruction if a vector result is in the argument's register. Results that are written through an
                 address are chained through memory: the first word is loaded. With `keeps` the argument waits for the
                 result but keeps its value, for routines whose time depends on their arguments; that takes an `and` and
                 an `or`, a cycle each.
    independent  Every call has the same arguments; results are discarded.
    mixed        Each call takes the next of many sets of arguments; results are discarded.
    """

    mode: Mode
    chained: int = 0
    keeps: bool = False
    in_round: int = CALLS


@dataclass(frozen=True, slots=True)
class Timer:
    """The timing loop followed by the routine, as one block that must begin at a page boundary.

    The last `data` bytes are the routine's data.
    """

    image: bytes
    data: int


def timer(routine: bytes, signature: Signature, calls: Calls, host: Convention, data: int = 0) -> Timer:
    """Return the timing loop, followed by a routine's bytes, the last `data` of which are data.

    `host` is the loop's own convention. The routine begins at a page boundary; if it has data, its data does instead,
    which is mapped in separate pages. Raises ValueError if the calls cannot be chained.
    """
    if calls.mode == "chained":
        _check_chain(signature, calls.chained)
    leave = [*([Instruction("vzeroupper")] if signature.vex else []), *restore(host, _CONTEXT), Instruction("ret")]
    items = [*_enter(host), *_trial(signature, calls), *leave, Label("routine")]
    code = len(routine) - data if data else 0
    for place, alignment, behind in (("round", _LINE, 0), ("routine", _PAGE, code)):
        at = assemble(Code("time", tuple(items))).labels[place] + behind
        here = items.index(Label(place))
        items[here:here] = [Instruction("nop")] * (-at % alignment)
    return Timer(assemble(Code("time", tuple(items))).text + routine, data)


def _check_chain(signature: Signature, chained: int) -> None:
    argument, result = signature.arguments[chained], signature.result
    if argument.file == "results" or (result is not None and result != argument):
        raise ValueError("the result of a call cannot be an argument of the next: time independent calls")
    if isinstance(signature.places[chained], int):
        raise ValueError("the chained argument is on the stack: time independent calls")


def _enter(host: Convention) -> Iterator[Item]:
    context = host.arguments[0]
    yield from save(host, context)
    yield move(_CONTEXT, context)
    for register, place in ((_SET, ARGUMENTS), (_END, ARGUMENTS_END), (_TRIAL, TRIALS), (_RECORD, RECORDS)):
        yield move(register, word(_CONTEXT, place))
    yield Instruction("sub", (RSP, _STACK))
    yield Instruction("and", (RSP, -_PAGE))
    yield Instruction("sub", (RSP, _STACK))


def _trial(signature: Signature, calls: Calls) -> Iterator[Item]:
    yield Label("trial")
    chain, wide = (CHAIN_ADDS, (RAX,) * _CHAIN_UNROLLED), (4 * WIDE_ROWS, _WIDE * (_WIDE_UNROLLED // 2))
    sections = (
        _repeated("chain before", *chain),
        _repeated("wide before", *wide),
        _calls(signature, calls, "warming "),
        _calls(signature, calls),
        _repeated("wide behind", *wide),
        _repeated("chain behind", *chain),
    )
    for number, section in enumerate(sections):
        yield from _stamp(number)
        yield from section
    yield from _stamp(STAMPS - 2)
    yield from _stamp(STAMPS - 1)
    yield Instruction("add", (_RECORD, 8 * STAMPS))
    yield Instruction("sub", (_TRIAL, 1))
    yield Instruction("jne", (Label("trial"),))


def _stamp(number: int) -> Iterator[Item]:
    """Yield code that stores stamp `number` of a record, taken after all earlier instructions and before later ones."""
    yield Instruction("lfence")
    yield Instruction("rdtsc")
    yield Instruction("shl", (_RDX, 32))
    yield Instruction("or", (RAX, _RDX))
    yield move(word(_RECORD, number), RAX)
    yield Instruction("lfence")


def _repeated(name: str, adds: int, sums: Sequence[Register]) -> Iterator[Item]:
    """Yield a loop, labelled `name`, of `adds` additions of rdx, which is 1, to the registers `sums` in turn."""
    yield Instruction("mov", (_RDX.at(32), 1))  # in a register: some processors eliminate additions of immediates
    yield Instruction("mov", (_ROUND.at(32), adds // len(sums)))
    yield Label(name)
    for register in sums:
        yield Instruction("add", (register, _RDX))
    yield Instruction("sub", (_ROUND, 1))
    yield Instruction("jne", (Label(name),))


def _calls(signature: Signature, calls: Calls, warming: str = "") -> Iterator[Item]:
    """Yield the rounds of a trial. With `warming`, a prefix of the labels, yield the warm-up rounds instead."""
    chained = calls.mode == "chained"
    yield from _before_rounds(signature, calls, warming)
    if warming:
        yield Instruction("shr", (_ROUND, _WARMING))
        yield Instruction("add", (_ROUND, 1))
    yield Label(f"{warming}round")
    for call in range(calls.in_round):
        for number in range(len(signature.arguments)):
            if not (chained and number == calls.chained):
                yield from _passed(signature, number, call if calls.mode == "mixed" else 0)
        yield Instruction("call", (Label("routine"),))
        if chained:
            yield from _close(signature, calls)
    if calls.mode == "mixed":
        yield Instruction("add", (_SET, calls.in_round * offsets(signature)[-1]))
        yield Instruction("cmp", (_SET, _END))
        yield Instruction("jb", (Label(f"{warming}more sets"),))
        yield move(_SET, word(_CONTEXT, ARGUMENTS))
        yield Label(f"{warming}more sets")
    yield Instruction("sub", (_ROUND, 1))
    yield Instruction("jne", (Label(f"{warming}round"),))
    if signature.result is not None:
        register = signature.register(signature.result)
        yield move(word(_CONTEXT, RESULTS, register.bits), register, signature.vex)


def _before_rounds(signature: Signature, calls: Calls, warming: str) -> Iterator[Item]:
    """Yield the load of a chain's first argument, a delay that differs from trial to trial, and the number of rounds.

    A core may run a loop in one of several rhythms, a few per cent apart, and keep it for long. Different delays find
    them all.
    """
    if calls.mode == "chained":
        yield from _passed(signature, calls.chained)
    yield move(_ROUND, _TRIAL)
    yield Instruction("and", (_ROUND, _BEGINNINGS - 1))
    yield Instruction("add", (_ROUND, 1))
    yield Label(f"{warming}step")
    yield Instruction("sub", (_ROUND, 1))
    yield Instruction("jne", (Label(f"{warming}step"),))
    yield move(_ROUND, word(_CONTEXT, ROUNDS))


def offsets(signature: Signature) -> tuple[int, ...]:
    """Return the offset of each argument in a set of arguments, and the size of a set, in bytes.

    Addresses of results take no space. All other arguments have the size of the largest one, and so are aligned.
    """
    words = max((slot.lanes for slot in signature.arguments), default=1)
    return tuple(accumulate((8 * words * (slot.file != "results") for slot in signature.arguments), initial=0))


def _passed(signature: Signature, number: int, of_set: int = 0) -> Iterator[Instruction]:
    """Yield the moves of argument `number` to its place, from the set `of_set` sets behind the current one."""
    slot, place, (*starts, stride) = signature.arguments[number], signature.places[number], offsets(signature)
    if slot.file != "results":
        yield from passed(place, slot.operand(_SET, starts[number] + of_set * stride), signature.vex)
    elif isinstance(place, Register):
        yield Instruction("lea", (place, word(_CONTEXT, RESULTS)))
    else:
        yield Instruction("lea", (RAX, word(_CONTEXT, RESULTS)))
        yield from passed(place, RAX)


def _close(signature: Signature, calls: Calls) -> Iterator[Instruction]:
    """Yield the moves that pass the result of a call to an argument of the next, or make that argument wait for it."""
    slot, place = signature.arguments[calls.chained], signature.places[calls.chained]
    assert isinstance(place, Register)
    result = signature.register(slot)
    place, bits = place.at(result.bits), result.bits
    if signature.result is None:
        yield move(place, word(_CONTEXT, RESULTS))
    elif slot.file == "general":
        yield move(place, result)
    elif result.number != place.number:
        mnemonic = "vmovdqa64" if bits == 512 else "vmovdqa" if signature.vex else "movdqa"
        yield Instruction(mnemonic, (place, result))
    if calls.keeps:
        argument = slot.operand(_SET, offsets(signature)[calls.chained])
        for name, operand in (("and", word(_CONTEXT, _ZEROS, bits)), ("or", argument)):
            if slot.file == "general" or not signature.vex:
                yield Instruction(name if slot.file == "general" else f"p{name}", (place, operand))
            else:
                yield Instruction(f"vp{name}{'q' if bits == 512 else ''}", (place, place, operand))
