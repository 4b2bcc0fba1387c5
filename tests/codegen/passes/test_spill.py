"""Any value may wait on the stack, of any register file, in regions and behind them: code gives what constants give.

Kernels are stepped, so that those of every instruction set run here, and return with all that they must save.
"""

from collections.abc import Callable, Sequence
from functools import partial, reduce

import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.run.caller import Caller
from setwise.analysis.run.interpreter import Interpreter
from setwise.analysis.spec.contracts import task_of
from setwise.codegen.ir.control import at_least, below, nonzero, repeat, switch, table, when, while_
from setwise.codegen.ir.values import Value, constant
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.machine.code import Instruction, Memory, Register, general
from setwise.codegen.targets import TARGETS
from setwise.codegen.targets.table import Refused
from tests.codegen.programs import ALL, Description, routine

Values = tuple[Value, ...]

scalar = pytest.mark.parametrize(("isa", "abi"), [("x86-64", "win64"), ("bmi2", "sysv")])
wide = pytest.mark.parametrize(
    ("isa", "lanes", "abi"), [("sse2", 2, "win64"), ("avx2", 4, "sysv"), ("avx512", 8, "win64")]
)


CASES = (
    (0x0123_4567_89AB_CDEF, 7, 0xFEDC_BA98_7654_3210, 0x8100_0000_0000_0081, 3, 0x5555_0000_FFFF_1234),
    (ALL, 1 << 63, 2, 0, 0xFF, 1),
)


def check(describe: Description, boards: int, isa: str, abi: str, lanes: int = 1, scalars: int = 0) -> Kernel:
    """The kernel gives, in every lane, what the description gives on constants; it leaves what it must as it was."""
    count = len(describe(*(constant(1) for _ in range(boards + scalars))))
    kernel = lower(routine(describe, boards, scalars, count, batched=True), isa, abi, lanes)
    caller = Caller(binary_of(kernel), task_of(kernel))
    for case in CASES:
        given = [case[at % len(case)] ^ at // len(case) for at in range(boards + scalars)]
        trace = caller.trace(given)
        expected = [result.number for result in describe(*map(constant, given))]
        assert caller.results(trace) == tuple((number,) * lanes for number in expected)
        before = Interpreter(caller.binary).state
        for register in kernel.convention.saved:
            assert trace.registers[register.name] == before.registers[register.name]
        for number in kernel.convention.saved_vectors:
            assert trace.vectors[f"zmm{number}"][:2] == before.vectors[f"zmm{number}"][:2]
    return kernel


def slots(kernel: Kernel) -> list[Instruction]:
    """What writes to the stack or reads from it beyond what is saved."""
    rsp = general("rsp")
    starts = {rsp, *(i.operands[0] for i in kernel.code.instructions if i.mnemonic == "lea" and _base(i) == rsp)}
    others = (i for i in kernel.code.instructions if i.mnemonic != "lea" and not i.mnemonic.endswith("ups"))
    return [i for i in others if _base(i) in starts]


def _base(instruction: Instruction) -> Register | None:
    return next((operand.base for operand in instruction.operands if isinstance(operand, Memory)), None)


def joined(values: Sequence[Value]) -> Value:
    """All of the values in one, so that each counts."""
    return reduce(lambda total, value: total.rotate(7) - value, values)


def many(count: int, first: Value) -> list[Value]:
    """So many values, each made from the one before."""
    values = [first]
    for n in range(1, count):
        values.append(values[-1].rotate(n) ^ (values[-1] >> 3))
    return values


# -- vectors


def crowded(count: int) -> Description:
    """Return a description of `count` values that are used in reverse order, so that all are live at once."""
    return lambda a, b: (joined(many(count, a ^ b)[::-1]),)


@scalar
@pytest.mark.parametrize("count", [8, 12, 16, 20])
def test_more_values_than_registers(isa: str, abi: str, count: int) -> None:
    assert bool(slots(check(crowded(count), 2, isa, abi))) == (count > 15)


@wide
def test_more_vectors_than_registers(isa: str, lanes: int, abi: str) -> None:
    registers = TARGETS[isa].vectors
    assert slots(check(crowded(registers + 6), 2, isa, abi, lanes))
    assert not slots(check(crowded(registers - 4), 2, isa, abi, lanes)), "where registers suffice, nothing waits"


@wide
@pytest.mark.parametrize("rounds", [0, 3])
def test_what_is_fetched_stays_for_the_next_use(isa: str, lanes: int, abi: str, rounds: int) -> None:
    """Straight on, and in a loop, where what is used before it has to make way is not fetched at all."""

    def body(a: Value, b: Value) -> Value:
        early = a ^ b
        total = joined(many(TARGETS[isa].vectors + 6, early + b)[::-1])
        for n in range(5):
            total = total.rotate(n + 1) - early
        return total

    def describe(a: Value, b: Value) -> Values:
        return repeat(rounds, lambda x: (body(x, b),), a) if rounds else (body(a, b),)

    kernel = check(describe, 2, isa, abi, lanes)
    fetched = [i.operands[1] for i in slots(kernel) if isinstance(i.operands[1], Memory)]
    assert fetched
    assert len(set(fetched)) == len(fetched), "no slot is read twice"


def _once(_: int, body: Description, *inits: Value) -> Values:
    return body(*inits)


@pytest.mark.parametrize(("isa", "lanes"), [("avx2", 4), ("avx512", 8)])
@pytest.mark.parametrize("abi", ["sysv", "win64"])
@pytest.mark.parametrize("numbers", [2, 16])
def test_vectors_that_wait_in_a_loop_lie_within_lines(isa: str, lanes: int, abi: str, numbers: int) -> None:
    """Wherever rsp is at entry, as long as a register is left to say where; other code is not made longer for it."""

    def describe(in_loop: bool, a: Value, n: Value) -> Values:
        def crowd(x: Value, *counts: Value) -> Values:
            return joined(many(TARGETS[isa].vectors + 6, x)[::-1]), *counts[1:], *counts[:1]

        last, *counts = (repeat if in_loop else _once)(3, crowd, a, *many(numbers, n))
        return when(nonzero(joined(counts)), lambda x: (x ^ last,), a)

    def vectors(kernel: Kernel) -> list[Memory]:
        operands = [o for i in slots(kernel) for o in i.operands if isinstance(o, Memory)]
        return [operand for operand in operands if operand.bits == 64 * lanes]

    looped = check(partial(describe, True), 1, isa, abi, lanes, scalars=1)
    rounded = [i.operands[1] for i in looped.code.instructions if i.mnemonic == "and" and i.operands[1] == -8 * lanes]
    assert bool(rounded) == (numbers == 2)
    assert all(operand.displacement % (8 * lanes) == 0 for operand in vectors(looped))
    assert {operand.base == general("rsp") for operand in vectors(looped)} == {not rounded}
    straight = check(partial(describe, False), 1, isa, abi, lanes, scalars=1)
    assert {operand.base for operand in vectors(straight)} == {general("rsp")}


@wide
def test_vectors_and_numbers_wait_together(isa: str, lanes: int, abi: str) -> None:
    def describe(a: Value, n: Value) -> Values:
        boards, numbers = many(TARGETS[isa].vectors + 2, a), many(17, n)
        (last, *_) = repeat(2, lambda x: (joined([x, *boards]),), a)
        (total,) = when(nonzero(joined(numbers)), lambda x: (x ^ last,), a)
        return (total ^ joined(boards),)

    assert slots(check(describe, 1, isa, abi, lanes, scalars=1))


@wide
def test_a_region_carries_constant_vectors(isa: str, lanes: int, abi: str) -> None:
    """Into it, out of it, the same in each lane or not, zero or not; a constant may also be the result."""

    def describe(a: Value, n: Value) -> Values:
        other = constant(5, a.lanes)
        x, y = when(nonzero(n & 1), lambda x, y: (x + a, constant(9, a.lanes)), constant(0, a.lanes), other)
        (z,) = repeat(2, lambda z: (z + x,), constant(ALL - 7, a.lanes))
        return x - y, z, constant(1 << 40, a.lanes)

    check(describe, 1, isa, abi, lanes, scalars=1)
    check(lambda a: (constant(3, a.lanes),), 1, isa, abi, lanes)
    check(lambda a, b: (b,), 2, isa, abi, lanes)


@pytest.mark.parametrize(("isa", "lanes"), [("sse2", 2), ("avx2", 4), ("avx512", 8), ("avx512", 2)])
def test_one_number_for_all_lanes_may_be_the_result(isa: str, lanes: int) -> None:
    check(lambda a, n: (n + 1,), 1, isa, "sysv", lanes, scalars=1)
    check(lambda a, n: (n, a, constant(7)), 1, isa, "sysv", lanes, scalars=1)


@pytest.mark.parametrize("isa", ["sse2", "avx2", "avx512"])
def test_more_boards_than_registers_for_arguments_are_refused(isa: str) -> None:
    nine = routine(lambda *boards: (joined(boards),), 9, batched=True)
    for abi, count in (("sysv", 8), ("win64", 4)):
        with pytest.raises(
            Refused, match=f"takes 9 boards in vector registers, and {abi} has {count} .*x86-64 or bmi2"
        ):
            lower(nine, isa, abi)
        check(lambda *boards: (joined(boards),), count, isa, abi, lanes=2)
    check(lambda *boards: (joined(boards),), 9, "x86-64", "win64")


def test_more_stack_than_a_page_is_refused() -> None:
    with pytest.raises(Refused, match=r"needs \d,\d{3} bytes of stack, .* 4,096 at most: .* take fewer lanes"):
        lower(routine(crowded(100), 2, batched=True), "avx512", lanes=8)


# -- shift counts


@scalar
def test_a_loop_shifts_by_what_is_outside(isa: str, abi: str) -> None:
    """The count comes to rcx for the shift, and whoever is there comes back."""
    check(lambda a, b: repeat(3, lambda x: (x << (b & 63),), a), 2, isa, abi)
    check(lambda a, b, c: repeat(3, lambda x: ((x << (b & 63)) + x.rotate(c & 63) + a,), a), 3, isa, abi)
    check(lambda a, b, c, d: when(nonzero(a), lambda x: (x.rotate(d) ^ x.rotate(c) ^ b,), d), 4, isa, abi)


# -- what regions carry


def _around(count: int) -> Description:
    """A loop that carries so many values, each of which takes the place of the next."""

    def describe(a: Value, b: Value) -> Values:
        def body(*values: Value) -> Values:
            return (*values[1:], values[0] + b)

        return (joined(repeat(5, body, *many(count, a))),)

    return describe


@scalar
@pytest.mark.parametrize("count", [12, 13, 20])
def test_a_loop_carries_more_than_registers_hold(count: int, isa: str, abi: str) -> None:
    assert bool(slots(check(_around(count), 2, isa, abi))) == (count > 12)


def test_each_region_carries_more_than_registers_hold() -> None:
    """What one body leaves unchanged, exchanges, makes of all others or sets to a constant, the next one finds."""

    def body(step: int) -> Callable[..., Values]:
        def carry(x: Value, y: Value, *values: Value) -> Values:
            return (y, x, joined(values) + step, constant(step), *(v.rotate(step) ^ x for v in values[2:]))

        return carry

    def describe(a: Value, b: Value) -> Values:
        values: Values = tuple(many(16, a ^ b))
        values = when(below(b & 15, 8), body(3), *values)
        values = switch(a & 3, [body(n) for n in (5, 11, 23, 40)], *values)
        values = switch(b & 1, [body(n) for n in (7, 13)], *values, falls=True)
        _, *values_ = while_(lambda n, *_: nonzero(n), lambda n, *v: (n >> 9, *body(9)(*v)), a, *values)
        return (joined(when(at_least(a & 15, 8), body(1), *values_)),)

    assert slots(check(describe, 2, "x86-64", "win64"))


@scalar
def test_values_wait_behind_and_inside_a_region(isa: str, abi: str) -> None:
    def behind(a: Value, b: Value) -> Values:
        x, y = repeat(2, lambda x, y: (x + y, y ^ b), a, b)
        return (joined([*many(20, x)[::-1], y, a]),)

    def inside(a: Value, b: Value) -> Values:
        x, y = repeat(2, lambda x, y: (joined([*many(20, x + a)[::-1], y]), x), a, b)
        return (x - y,)

    assert slots(check(behind, 2, isa, abi))
    assert slots(check(inside, 2, isa, abi))


# -- parameters and results


@scalar
def test_parameters_nobody_uses_and_results_that_nobody_makes(isa: str, abi: str) -> None:
    check(lambda *p: (p[2],), 7, isa, abi)
    check(lambda *p: (p[6],), 7, isa, abi)
    check(lambda *p: (constant(1 << 40),), 3, isa, abi)
    check(lambda *p: (p[0], constant(5), p[0], p[4] + 1), 5, isa, abi)
    check(lambda *p: (joined([*many(20, p[0])[::-1], p[7]]), p[7], p[1]), 8, isa, abi)


def test_two_results_without_an_address_are_refused() -> None:
    two = routine(lambda a, b: (a, b), 2)
    with pytest.raises(Refused, match=r"^test\.form gives 2 results, not one: for several let the last"):
        lower(two)


@scalar
def test_flags_are_not_those_of_a_register_that_a_table_has_overwritten(isa: str, abi: str) -> None:
    """An entry of four bytes is written to the lower half, ecx, and with it to all of rcx."""
    numbers = [5, 1, 7, 0]

    def describe(a: Value, b: Value) -> Values:
        first = table(numbers, b & 3, size=4)
        return when(nonzero(table(numbers, a & 3, size=4)), lambda x: (x + 1,), first)

    check(describe, 2, isa, abi)
