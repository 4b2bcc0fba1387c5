"""The loop that times routines: it calls as often as it says, with the arguments that it says, and really chains."""

import ctypes
from collections.abc import Sequence

import pytest

from setwise.analysis.code.decode import Reg, decode
from setwise.codegen.assemble import assemble
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from setwise.codegen.machine.code import Code, Instruction, Memory, Register, general, vector
from setwise.codegen.machine.convention import SYSV, WIN64
from setwise.codegen.run import cpu
from setwise.codegen.run.call import host
from setwise.codegen.run.function import Function
from setwise.codegen.run.harness import GENERAL, ArgumentSlot, Signature
from setwise.codegen.run.stopwatch import ArgumentSets, Stopwatch
from setwise.codegen.run.timer import CALLS, RESULTS, Calls, timer
from tests.conftest import runs

ALL = (1 << 64) - 1
RAX, RDI, RSI, RSP = map(general, ("rax", "rdi", "rsi", "rsp"))
ONE, TWO = Signature(SYSV, (GENERAL,)), Signature(SYSV, (GENERAL, GENERAL))


def routine(*instructions: Instruction) -> bytes:
    return assemble(Code("stub", (*instructions, Instruction("ret")))).image


def loop(image: bytes, signature: Signature, calls: Calls, words: Sequence[int]) -> Stopwatch:
    return Stopwatch(timer(image, signature, calls, host()), ArgumentSets(tuple(words)))


def last(
    image: bytes, signature: Signature, calls: Calls, words: Sequence[int], rounds: int, number: int = 1
) -> tuple[int, ...]:
    """The first words of the last result of a trial of so many rounds."""
    stopwatch = loop(image, signature, calls, words)
    stopwatch.run(rounds, 1)
    return tuple(stopwatch._context[RESULTS : RESULTS + number])


def warming(rounds: int) -> int:
    """Rounds of calls that go before so many: a quarter, and one more."""
    return rounds // 4 + 1


COUNTING = (Instruction("add", (Memory(64, RDI), 1)),)
SPOILING = tuple(
    Instruction("mov", (register, -1)) for register in SYSV.scratch if register != RDI
)  # all that a routine may change


@runs
@pytest.mark.parametrize(
    ("calls", "in_a_round"), [(Calls("independent"), CALLS), (Calls("independent", in_round=1), 1)]
)
@pytest.mark.parametrize("more", [(), SPOILING], ids=["alone", "spoiling"])
def test_it_calls_as_often_as_it_says(calls: Calls, in_a_round: int, more: tuple[Instruction, ...]) -> None:
    counter = ctypes.c_uint64()
    stopwatch = loop(routine(*COUNTING, *more), ONE, calls, [ctypes.addressof(counter)])
    for rounds, trials in ((1, 1), (7, 3), (100, 2)):
        counter.value = 0
        assert len(stopwatch.run(rounds, trials)) == trials
        assert counter.value == (rounds + warming(rounds)) * trials * in_a_round


@runs
def test_each_run_takes_all_sets_in_another_order() -> None:
    rounds = 96 // CALLS
    seen = [[0] * 96 for _ in range(5)]
    # The first word is where the next set goes; those of the calls before, which are not timed, come first.
    room = (ctypes.c_uint64 * (97 + warming(rounds) * CALLS))()
    room[0] = ctypes.addressof(room) + 8
    noting = (
        Instruction("mov", (RAX, Memory(64, RDI))),
        Instruction("mov", (Memory(64, RAX), RSI)),
        Instruction("add", (Memory(64, RDI), 8)),
    )
    words = [word for number in range(96) for word in (ctypes.addressof(room), number)]
    calls = Calls("mixed")
    stopwatch = Stopwatch(timer(routine(*noting), TWO, calls, host()), ArgumentSets(tuple(words), in_set=2))
    for order in seen:
        room[0] = ctypes.addressof(room) + 8
        stopwatch.run(rounds, 1)
        order[:] = room[-96:]
    assert all(sorted(order) == list(range(96)) for order in seen)
    assert len({tuple(order) for order in seen}) == len(seen)


@runs
@pytest.mark.parametrize("rounds", [1, 5])
def test_a_result_is_the_next_argument(rounds: int) -> None:
    add, x, y = find("bytewise.add"), 0x0102_0304_0506_0708, 0x1122_3344_5566_7788
    python = Function.of(add, "x86-64")
    expected = x
    for _ in range(rounds * CALLS):
        expected = python(expected, y)
    image = assemble(lower(add, "x86-64").code).image
    assert last(image, TWO, Calls("chained"), [x, y], rounds) == (expected,)


@runs
def test_the_chained_argument_may_be_another() -> None:
    subtract = routine(Instruction("mov", (RAX, RDI)), Instruction("sub", (RAX, RSI)))
    assert last(subtract, TWO, Calls("chained", chained=1), [100, 30], 1) == (30,)  # 16 times 100 - x
    assert last(subtract, TWO, Calls("chained", chained=0), [100, 3], 1) == (100 - 3 * CALLS,)


@runs
def test_an_argument_that_is_kept_waits_but_stays() -> None:
    successor = routine(Instruction("lea", (RAX, Memory(64, RDI, displacement=1))))
    assert last(successor, ONE, Calls("chained"), [7], 3) == (7 + 3 * CALLS,)
    assert last(successor, ONE, Calls("chained", keeps=True), [7], 3) == (8,)
    kept = decode(timer(successor, ONE, Calls("chained", keeps=True), SYSV).image[: 1 << 12])
    calls = [at for at, one in enumerate(kept) if one.mnemonic == "call"]
    assert len(calls) == 2 * CALLS  # warming and timed
    assert {tuple(one.mnemonic for one in kept[at + 1 : at + 4]) for at in calls} == {("mov", "and", "or")}
    assert all(one.writes >= {"rdi"} for at in calls for one in kept[at + 1 : at + 4])


@runs
def test_results_in_memory_are_chained_through_memory() -> None:
    signature = Signature(SYSV, (GENERAL, ArgumentSlot("results", 2)), None)
    stub = routine(
        Instruction("add", (RDI, 5)),
        Instruction("mov", (Memory(64, RSI), RDI)),
        Instruction("mov", (Memory(64, RSI, displacement=8), RSI)),
    )
    first, second = last(stub, signature, Calls("chained"), [1], 2, number=2)
    assert first == 1 + 5 * 2 * CALLS
    assert second % 8 == 0
    assert second > 0


@runs
@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize(
    ("isa", "lanes", "mnemonic"), [("sse2", 2, "paddq"), ("avx2", 4, "vpaddq"), ("avx512f", 8, "vpaddq")]
)
@pytest.mark.parametrize("chained", [0, 1])
def test_vectors_are_chained_in_registers(isa: str, lanes: int, mnemonic: str, chained: int, keeps: bool) -> None:
    if isa != "sse2" and isa not in cpu.features():
        pytest.skip(f"this processor lacks {isa}")
    one, other = vector(0, 64 * lanes), vector(1, 64 * lanes)
    operands: tuple[Register, ...] = (one, other) if isa == "sse2" else (one, one, other)
    passed = ArgumentSlot("vector", lanes)
    signature = Signature(SYSV, (passed, passed), passed, vex=isa != "sse2")
    words = [*range(1, lanes + 1), *(10 * (lane + 1) for lane in range(lanes))]
    x, y = words[:lanes], words[lanes:]
    grown, fixed = (x, y) if chained == 0 else (y, x)
    # A kept argument that lies where the result comes is put back behind the last call, too.
    steps = 3 * CALLS if not keeps else chained
    expected = tuple(a + steps * b for a, b in zip(grown, fixed, strict=True))
    stub = routine(Instruction(mnemonic, operands))
    assert last(stub, signature, Calls("chained", chained, keeps), words, 3, lanes) == expected


@runs
def test_arguments_come_on_the_stack_where_the_convention_says_so() -> None:
    signature = Signature(WIN64, (*(GENERAL,) * 5, ArgumentSlot("results", 1)))
    # Windows: the fifth and sixth lie above the return address and 32 bytes of shadow space.
    fifth, sixth = (Memory(64, RSP, displacement=at) for at in (40, 48))
    stub = routine(
        Instruction("mov", (RAX, fifth)),
        Instruction("mov", (general("r11"), sixth)),
        Instruction("mov", (Memory(64, general("r11")), RAX)),
        Instruction("add", (RAX, general("r9"))),
    )
    assert last(stub, signature, Calls("independent"), [1, 2, 3, 40, 500], 1) == (540,)


@runs
def test_arrays_come_with_room_for_the_result_and_their_length() -> None:
    assert find("kogge-stone.attacks.nort.batch").contract.elements
    signature = Signature(SYSV, (GENERAL,) * 4, None)
    kernel = lower(find("kogge-stone.attacks.nort.batch"), "x86-64")
    rooks = tuple(1 << square for square in range(37))
    empty = tuple(ALL ^ rook for rook in rooks)
    made = timer(assemble(kernel.code).image, signature, Calls("independent", in_round=1), host())
    stopwatch = Stopwatch(made, ArgumentSets(arrays=(rooks, empty)))
    stopwatch.run(1, 1)
    north = Function.of(find("kogge-stone.attacks.nort"), "x86-64")
    assert list(stopwatch._arrays[2]) == [north(rook, free) for rook, free in zip(rooks, empty, strict=True)]


@pytest.mark.parametrize(
    ("signature", "chained", "says"),
    [
        (Signature(SYSV, (ArgumentSlot("vector", 4), GENERAL)), 0, "cannot be an argument of the next"),
        (Signature(SYSV, (ArgumentSlot("results", 2),), None), 0, "cannot be an argument of the next"),
        (Signature(WIN64, (GENERAL,) * 5), 4, "is on the stack"),
    ],
)
def test_what_cannot_be_chained_is_refused(signature: Signature, chained: int, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        timer(b"\xc3", signature, Calls("chained", chained), SYSV)


def test_a_windows_host_gets_its_registers_back() -> None:
    """What Windows' C keeps and System V's does not: rdi, rsi, and the low halves of xmm6 to xmm15."""
    made = decode(timer(b"\xc3", ONE, Calls("independent"), WIN64).image)
    first, *_, last = (at for at, one in enumerate(made) if one.mnemonic == "call")
    text, end = made[:first], made[last:]
    stored = {source.full for one in text if one.stores for source in one.operands[1:2] if isinstance(source, Reg)}
    loaded = {target.full for one in end if one.loads for target in one.operands[:1] if isinstance(target, Reg)}
    kept = {"rbx", "rbp", "rsi", "rdi", "r12", "r13", "r14", "r15", *(f"zmm{number}" for number in range(6, 16))}
    assert kept <= stored
    assert kept <= loaded
