"""The emitted driver: arguments arrive, results come back, and every way of breaking a convention is caught."""

import ctypes
from collections.abc import Sequence

import pytest

from setwise.codegen.assemble import assemble
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from setwise.codegen.machine.code import Code, Instruction, Memory, Operand, Register, general, vector
from setwise.codegen.machine.convention import CONVENTIONS, SYSV, WIKI, WIN64, Convention
from setwise.codegen.run import call, cpu
from setwise.codegen.run.call import Runner, missing
from setwise.codegen.run.driver import driver
from setwise.codegen.run.executable import NotRunnable, runnable
from setwise.codegen.run.harness import GENERAL, ArgumentSlot, Signature
from tests.conftest import runs

avx = pytest.mark.skipif("avx" not in cpu.features(), reason="this processor has no AVX")
U64 = ctypes.c_uint64
RAX, RCX, RBX, RSP = map(general, ("rax", "rcx", "rbx", "rsp"))
RET = Instruction("ret")
ALL_CONVENTIONS = pytest.mark.parametrize("convention", CONVENTIONS.values(), ids=CONVENTIONS)


def instruction(mnemonic: str, *operands: Operand) -> Instruction:
    return Instruction(mnemonic, operands)


def runner(signature: Signature, *instructions: Instruction) -> Runner:
    return Runner(assemble(Code("test", instructions)).image, 0, signature)


def array(words: Sequence[int]) -> ctypes.Array[U64]:
    return (U64 * len(words))(*words)


def run(
    body: Sequence[Instruction],
    convention: Convention,
    *columns: Sequence[int],
    passed: Sequence[ArgumentSlot] | None = None,
) -> tuple[list[int], tuple[int, tuple[str, ...]] | None]:
    """The results of a kernel over columns of words, and what it broke."""
    arguments = [GENERAL] * len(columns) if passed is None else passed
    number = len(columns[0]) // arguments[0].words
    arrays, results = [array(column) for column in columns], array([0xDEAD] * number)
    with runner(Signature(convention, tuple(arguments)), *body) as running:
        addresses = [ctypes.addressof(one) for one in arrays]
        violation = running.run(addresses, ctypes.addressof(results), number)
    return list(results), (violation.case, violation.breaches) if violation else None


def weighted_sum(convention: Convention, number: int) -> list[Instruction]:
    """A kernel that gives argument 0 + 2 * argument 1 + 4 * argument 2 and so on."""
    body = [instruction("xor", RAX.at(32), RAX.at(32))]
    for at in reversed(range(number)):
        in_register = at < len(convention.arguments)
        offset = convention.stack_arguments + 8 * (at - len(convention.arguments))
        argument = convention.arguments[at] if in_register else Memory(64, RSP, displacement=offset)
        body += [instruction("add", RAX, RAX), instruction("add", RAX, argument)]
    return [*body, RET]


@runs
@ALL_CONVENTIONS
def test_arguments_arrive_in_registers_and_on_the_stack(convention: Convention) -> None:
    for number in range(1, 3 if convention is WIKI else 10):
        columns = [[1000 * at + case for case in range(5)] for at in range(number)]
        results, broken = run(weighted_sum(convention, number), convention, *columns)
        assert broken is None
        assert results == [sum(column[case] << at for at, column in enumerate(columns)) for case in range(5)]


@runs
def test_no_case_calls_nothing() -> None:
    assert run([instruction("ud2")], SYSV, []) == ([], None)


@runs
@ALL_CONVENTIONS
def test_the_stack_is_aligned_at_the_call(convention: Convention) -> None:
    body = [instruction("mov", RAX, RSP), instruction("and", RAX, 15), RET]
    assert run(body, convention, [0]) == ([8], None)
    # An argument more on the stack does not move it.
    assert run(body, convention, *[[0]] * (2 if convention is WIKI else 7)) == ([8], None)


@runs
def test_win64_kernels_own_their_shadow_space() -> None:
    spoil = [instruction("mov", Memory(64, RSP, displacement=8 * at), RSP) for at in range(1, 5)]
    assert run([*spoil, *weighted_sum(WIN64, 6)], WIN64, *[[1, 2]] * 6) == ([63, 126], None)


@runs
@ALL_CONVENTIONS
def test_what_may_change_may_change(convention: Convention) -> None:
    body = [instruction("mov", register, 7) for register in convention.scratch]
    body += [
        instruction("pxor", vector(n, 128), vector(n, 128)) for n in range(16) if n not in convention.saved_vectors
    ]
    body += [instruction("push", RBX), instruction("mov", RBX, 1), instruction("pop", RBX), RET]
    assert run(body, convention, [1, 2, 3]) == ([7, 7, 7], None)


@runs
@ALL_CONVENTIONS
def test_each_general_register_that_changes_is_caught(convention: Convention) -> None:
    for register in convention.saved:
        for spoil in (instruction("mov", register, 1), instruction("xor", register, -128)):
            _, broken = run([spoil, RET], convention, [1, 2])
            assert broken == (0, (f"{register} changed",))


@runs
@pytest.mark.parametrize("convention", [WIN64, WIKI], ids=["win64", "wiki"])
def test_each_vector_register_that_changes_is_caught(convention: Convention) -> None:
    assert convention.saved_vectors == set(range(6, 16))
    high = Memory(64, RSP, displacement=-8)
    for number in convention.saved_vectors:
        register = vector(number, 128)
        for spoil in ([instruction("pxor", register, register)], [instruction("movhps", register, high)]):
            _, broken = run([*spoil, RET], convention, [1, 2])
            assert broken == (0, (f"xmm{number} changed",))


@runs
@ALL_CONVENTIONS
@pytest.mark.parametrize(
    "unbalanced",
    [
        [instruction("push", RBX)],  # and returns to where rbx points
        [instruction("push", general("r15")), instruction("push", general("rbp"))],
        [instruction("sub", RSP, 8)],
        [instruction("sub", RSP, 40)],
        [instruction("add", RSP, 8)],
        [instruction("pop", RCX), instruction("pop", RCX)],
    ],
    ids=["push", "push 2", "sub 8", "sub 40", "add 8", "pop 2"],
)
def test_an_unbalanced_stack_is_caught(convention: Convention, unbalanced: list[Instruction]) -> None:
    _, broken = run([*unbalanced, RET], convention, [1, 2])
    assert broken == (0, ("rsp changed",))


@runs
@ALL_CONVENTIONS
def test_bytes_that_are_returned_over_are_caught(convention: Convention) -> None:
    # As a convention does whose callee takes the arguments off the stack.
    body = [instruction("pop", RCX), instruction("add", RSP, 8), instruction("jmp", RCX)]
    assert run(body, convention, [1])[1] == (0, ("rsp changed",))


@runs
@ALL_CONVENTIONS
def test_a_set_direction_flag_is_caught(convention: Convention) -> None:
    _, broken = run([instruction("std"), RET], convention, [1, 2])
    assert broken == (0, ("the direction flag is set",))


@runs
@ALL_CONVENTIONS
def test_a_kernel_that_spoils_everything_is_survived(convention: Convention) -> None:
    spoiled = [r for r in convention.saved if r != general("rbp")]
    body = [instruction("xor", r.at(32), r.at(32)) for r in (*spoiled, general("rbp"))]
    body += [instruction("pcmpeqd", vector(n, 128), vector(n, 128)) for n in range(16)]
    body += [instruction("std"), instruction("push", RBX), instruction("pop", RBX), RET]
    _, broken = run(body, convention, [1, 2])
    assert broken is not None
    expected = len(convention.saved) + len(convention.saved_vectors) + 1
    assert len(broken[1]) == expected


@runs
def test_the_first_bad_case_is_told_and_the_rest_not_run() -> None:
    # rbx changes by the third argument's sign bit.
    body = [
        instruction("mov", RAX, general("rdi")),
        instruction("mov", RCX, general("rdi")),
        instruction("shr", RCX, 63),
        instruction("add", RBX, RCX),
        RET,
    ]
    results, broken = run(body, SYSV, [1, 2, 1 << 63, 4])
    assert results == [1, 2, 1 << 63, 0xDEAD]
    assert broken == (2, ("rbx changed",))


@runs
def test_a_runner_is_fine_again_after_a_violation() -> None:
    columns, results = array([0, 5]), array([0, 0])
    body = [instruction("mov", RAX, general("rdi")), instruction("add", RBX, RAX), RET]
    with runner(Signature(SYSV, (GENERAL,)), *body) as running:
        start, out = ctypes.addressof(columns), ctypes.addressof(results)
        assert running.run([start + 8], out, 1) is not None
        assert running.run([start], out, 1) is None
        with pytest.raises(ValueError, match="2 columns for 1 arguments"):
            running.run([start, start], out, 1)


@runs
def test_an_address_goes_along_its_column() -> None:
    column, results = array([10, 20, 30, 40]), array([0] * 2)
    body = [instruction("mov", RAX, Memory(64, general("rdi"), displacement=8)), RET]
    with runner(Signature(SYSV, (ArgumentSlot("address", 2),)), *body) as running:
        assert running.run([ctypes.addressof(column)], ctypes.addressof(results), 2) is None
    assert list(results) == [20, 40]


@runs
@ALL_CONVENTIONS
def test_a_kernel_may_take_the_whole_column(convention: Convention) -> None:
    pointer, number = convention.arguments[:2]
    body = [
        instruction("mov", RAX, number),
        instruction("shl", RAX, 8),
        instruction("add", RAX, Memory(64, pointer)),
        RET,
    ]
    column, results = array([10, 20, 30]), array([0, 0, 0])
    with runner(Signature(convention, (ArgumentSlot("address"), GENERAL), whole=True), *body) as running:
        assert running.run([ctypes.addressof(column)], ctypes.addressof(results), 3) is None
    assert list(results) == [3 * 256 + 10, 0, 0]


@runs
@pytest.mark.parametrize("words", [2, pytest.param(4, marks=avx)])
def test_vectors_go_in_and_come_out(words: int) -> None:
    bits = 64 * words
    xor = "pxor" if words == 2 else "vpxor"
    operands = [vector(n, bits) for n in ((0, 1) if words == 2 else (0, 0, 1))]
    left, right = list(range(100, 100 + 3 * words)), list(range(7, 7 + 3 * words))
    columns, results = [array(left), array(right)], array([0] * 3 * words)
    passed = ArgumentSlot("vector", words)
    signature = Signature(SYSV, (passed, passed), passed, words, vex=words > 2)
    with runner(signature, Instruction(xor, tuple(operands)), RET) as running:
        addresses = [ctypes.addressof(column) for column in columns]
        assert running.run(addresses, ctypes.addressof(results), 3 * words) is None
        with pytest.raises(ValueError, match=f"7 cases are no multiple of {words} lanes"):
            running.run(addresses, ctypes.addressof(results), 7)
    assert list(results) == [a ^ b for a, b in zip(left, right, strict=True)]


@pytest.mark.parametrize("kernel", CONVENTIONS.values(), ids=CONVENTIONS)
@pytest.mark.parametrize("at_home", [SYSV, WIN64], ids=["sysv", "win64"])
def test_the_driver_saves_what_its_host_wants_saved(kernel: Convention, at_home: Convention) -> None:
    made = driver(Signature(kernel, (GENERAL,) * 2), 0x1234_5678_9ABC_DEF0, at_home)
    first_call = next(i for i, one in enumerate(made.items) if isinstance(one, Instruction) and one.mnemonic == "call")
    before, after = made.items[:first_call], made.items[first_call:]

    def copied(items: Sequence[object], from_register: bool) -> set[Register]:
        at = 1 if from_register else 0
        moves = [i for i in items if isinstance(i, Instruction) and i.mnemonic in ("mov", "movups")]
        pairs = [(i.operands[at], i.operands[1 - at]) for i in moves]
        return {a for a, b in pairs if isinstance(a, Register) and isinstance(b, Memory)}

    wanted = {*at_home.saved, *(vector(n, 128) for n in at_home.saved_vectors)}
    assert wanted <= copied(before, from_register=True)
    assert wanted <= copied(after, from_register=False)


def test_missing_features_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "features", frozenset)
    kernel = lower(find("dumb7.attacks.sout"), "bmi2")
    assert missing(kernel.target) == (("bmi1", "bmi2", "popcnt") if runnable() else ("x86-64",))
    with pytest.raises(NotRunnable, match="lacks"):
        call.runner(kernel)
