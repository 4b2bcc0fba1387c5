"""The lowering from description to running code: the classic listings, equal costs, control, spills.

A description run on constants is the oracle for the same description as machine code.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest

from setwise.analysis.code.decode import decode
from setwise.codegen.assemble import assemble
from setwise.codegen.catalogue import find
from setwise.codegen.ir.control import below, nonzero, repeat, switch, table, when, while_
from setwise.codegen.ir.values import Value, constant
from setwise.codegen.kernel import plan
from setwise.codegen.lower import lower
from setwise.codegen.machine.code import Memory
from setwise.codegen.pipeline import select_best
from setwise.codegen.targets.general import X86_64
from tests.analysis.listings import DUMB7, KOGGE_STONE
from tests.codegen.programs import ALL, Description, native, oracle, routine
from tests.conftest import runs

ISAS = ("x86-64", "bmi2")
CONVENTIONS = ("sysv", "win64")

both = pytest.mark.parametrize("isa", ISAS)
each = pytest.mark.parametrize("abi", CONVENTIONS)

SAMPLES = (0, 1, 2, 3, 7, 0x80, 0xFF, 1 << 63, ALL, 0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210, 0x8100_0000_0000_0081)


def lines(describe: Description | str, isa: str = "x86-64", abi: str = "wiki") -> list[str]:
    """The instructions of a kernel without its ret, as its bytes say: `mov rax,rdx`."""
    chosen = find(describe) if isinstance(describe, str) else routine(describe, 2)
    decoded = decode(assemble(lower(chosen, isa, abi).code).text)
    assert decoded[-1].mnemonic == "ret"
    return [_line(instruction.text()) for instruction in decoded[:-1]]


def _line(text: str) -> str:
    mnemonic, _, operands = text.partition(" ")
    return f"{mnemonic} {operands.replace(' ', '')}"


def check(describe: Description, isa: str, abi: str) -> None:
    """The kernel of two boards gives what the description gives: every sample in the first place, with two others."""
    count = len(SAMPLES)
    cases = [(one, SAMPLES[(at + step) % count]) for at, one in enumerate(SAMPLES) for step in (1, 5)]
    made = native(lower(routine(describe, 2), isa, abi), cases)
    assert made == [oracle(describe, case) for case in cases]


# -- the classic comparison


@pytest.mark.parametrize(("family", "classic"), [("dumb7", DUMB7), ("kogge-stone", KOGGE_STONE)])
def test_a_fill_is_the_classic_listing(family: str, classic: str) -> None:
    assert [*lines(f"{family}.attacks.sout"), "ret"] == [line.strip() for line in classic.split(";")]


# -- allocations of equal cost follow the description's own variables


def _copied(a: Value, b: Value) -> tuple[Value, ...]:
    x = a.copy()
    a ^= b
    x -= a
    return (x,)


def _not_copied(a: Value, b: Value) -> tuple[Value, ...]:
    b ^= a
    a -= b
    return (a,)


def test_of_equal_costs_the_descriptions_variables_decide() -> None:
    """Both compute a - (a ^ b) with one move; which value is moved, and what is written over, is as it is written."""
    assert lines(_copied) == ["mov rax,rdx", "xor rdx,rcx", "sub rax,rdx"]
    assert lines(_not_copied) == ["xor rcx,rdx", "sub rdx,rcx", "mov rax,rdx"]
    for a in SAMPLES:
        assert oracle(_copied, (a, 0x55)) == oracle(_not_copied, (a, 0x55)) == (a - (a ^ 0x55)) & ALL


# -- control


def _steps(*amounts: int) -> list[Callable[..., tuple[Value, ...]]]:
    def body(amount: int) -> Callable[..., tuple[Value, ...]]:
        return lambda x, y: (x.rotate(amount) + y, y ^ amount)

    return [body(amount) for amount in amounts]


def _rounds(a: Value, b: Value) -> tuple[Value, ...]:
    return (repeat(5, lambda x, y: (x + y, x ^ y), a, b)[0],)


def _fibonacci(a: Value, b: Value) -> tuple[Value, ...]:
    return (repeat(7, lambda x, y: (y, x + y), a, b)[0],)


def _until_dry(a: Value, b: Value) -> tuple[Value, ...]:
    x, y = while_(lambda x, _: nonzero(x), lambda x, y: (x >> 9, y + x), a, b)
    return (x ^ y,)


def _while_below(a: Value, b: Value) -> tuple[Value, ...]:
    return (while_(lambda x, _: below(x, 1000), lambda x, y: (x + 111, y ^ x), a & 2047, b)[1],)


def _when(a: Value, b: Value) -> tuple[Value, ...]:
    (x,) = when(nonzero(a & 3), lambda x: (x + a,), b)
    return (x ^ b,)


def _when_below(a: Value, b: Value) -> tuple[Value, ...]:
    x, y = when(below(a & 15, 8), lambda x, y: (x + a, y ^ x), b, a)
    return (x - y,)


def _switch(a: Value, b: Value) -> tuple[Value, ...]:
    x, y = switch(a & 3, _steps(1, 5, 11, 23), b, a)
    return (x ^ y,)


def _switch_falls(a: Value, b: Value) -> tuple[Value, ...]:
    x, y = switch(a & 3, _steps(1, 5, 11, 23), b, a, falls=True)
    return (x ^ y,)


def _tables(a: Value, b: Value) -> tuple[Value, ...]:
    bytes_ = table([i * 37 % 251 for i in range(64)], a & 63, size=1)
    halves = table([i * i * 1_000_003 % (1 << 32) for i in range(64)], a >> 58, size=4)
    return (bytes_ + halves ^ table([ALL // (i + 1) for i in range(64)], b & 63),)


def _loop_with_switch(a: Value, b: Value) -> tuple[Value, ...]:
    return (repeat(5, lambda x, y: (switch(x & 3, _steps(1, 5, 11, 23), y, x)[0], x + y), a, b)[0],)


def _loop_in_loop(a: Value, b: Value) -> tuple[Value, ...]:
    def outer(x: Value, y: Value) -> tuple[Value, ...]:
        return repeat(4, lambda z: ((z << 1) + y + a,), x)[0], y + 1

    return (repeat(3, outer, a, b)[0],)


def _constants_go_in(a: Value, b: Value) -> tuple[Value, ...]:
    return (when(nonzero(a & 1), lambda x, y: (x + b, constant(9)), constant(7), constant(0))[0] + b,)


def _minus(x: Value, y: Value) -> Value:
    return x - y


# What a loop or a branch carries round in a circle, or leaves as a constant.
CIRCLES: tuple[tuple[str, Description], ...] = (
    ("loop swaps", lambda a, b: (repeat(7, lambda x, y: (y, x), a, b)[0],)),
    ("loop turns three", lambda a, b: (repeat(7, lambda x, y, z: (y, z, x), a, b, a ^ b)[0],)),
    ("branch swaps", lambda a, b: (_minus(*when(nonzero(a & 1), lambda x, y: (y, x), b, a)),)),
    ("loop leaves a constant", lambda a, b: (repeat(7, lambda x, y: (x + y, constant(5)), a, b)[0],)),
    ("loop leaves zero", lambda a, b: (repeat(7, lambda x, y: (x + y, constant(0)), a, b)[0],)),
)

CONTROL = (
    _rounds,
    _fibonacci,
    _until_dry,
    _while_below,
    _when,
    _when_below,
    _switch,
    _switch_falls,
    _tables,
    _loop_with_switch,
    _loop_in_loop,
    _constants_go_in,
)


@runs
@both
@each
@pytest.mark.parametrize(
    "describe",
    [
        *(pytest.param(describe, id=describe.__name__.strip("_")) for describe in CONTROL),
        *(pytest.param(describe, id=name) for name, describe in CIRCLES),
    ],
)
def test_control_runs_as_described(describe: Description, isa: str, abi: str) -> None:
    check(describe, isa, abi)


def test_control_is_real_control() -> None:
    """A loop goes back, a switch is one indirect jump, and falling through takes no jump."""

    def flows(describe: Description) -> list[str]:
        decoded = decode(assemble(lower(routine(describe, 2), "x86-64", "sysv").code).text)
        return [instruction.flow for instruction in decoded if instruction.flow not in ("next", "return")]

    assert flows(_rounds) == ["branch"]
    assert flows(_when) == ["branch"]
    assert flows(_switch) == ["indirect", "jump", "jump", "jump"]
    assert flows(_switch_falls) == ["indirect"]
    assert flows(_tables) == []


@runs
@both
@each
def test_a_condition_that_turns_out_constant(isa: str, abi: str) -> None:
    """What is masked away is a constant only once the algebra has seen it: by then the region is made."""

    def direct(a: Value, b: Value) -> tuple[Value, ...]:
        return (when(nonzero(a & 0xFF & 0xFF00), lambda x: (x + a,), b)[0],)

    def copied(a: Value, b: Value) -> tuple[Value, ...]:
        return (when(nonzero((a & 0xFF & 0xFF00).copy()), lambda x: (x + a,), b)[0],)

    def index(a: Value, b: Value) -> tuple[Value, ...]:
        return (switch(a & 0xFF & 0xFF00, _steps(3, 5), b, a)[0],)

    def bounded(a: Value, b: Value) -> tuple[Value, ...]:
        return (when(below(a & 0xFF & 0xFF00, 5), lambda x: (x + a,), b)[0],)

    for describe in (direct, copied, index, bounded):
        check(describe, isa, abi)


@runs
@pytest.mark.parametrize("falls", [False, True])
@pytest.mark.parametrize("jumps", [False, True])
def test_a_switch_whose_index_becomes_a_number(falls: bool, jumps: bool) -> None:
    """What is known of bits makes a number of it only after the switch was described."""
    rows = tuple(row for row in X86_64.rows if jumps or row.op != "distance")

    def describe(a: Value, b: Value) -> tuple[Value, ...]:
        found = b
        for number in range(3):
            index = (((a | 4) & 4) >> 1 & 1) ^ number
            (found,) = switch(index, [lambda x, n=n: (x + (a ^ n),) for n in range(4)], found, falls=falls)
        return (found,)

    asked = plan(routine(describe, 2), replace(X86_64, rows=rows), "sysv", None)
    assert native(select_best(asked), [(5, 7)]) == [oracle(describe, (5, 7))]


# -- constants in every place


@runs
@both
@each
@pytest.mark.parametrize(
    "number", [0, 1, 0xFF, (1 << 31) - 1, 1 << 31, 1 << 63, ALL, ALL - 0xFF, 0xFEFE_FEFE_FEFE_FEFE]
)
def test_constants_in_every_place(number: int, isa: str, abi: str) -> None:
    """Immediates, and what is too long for one; not every form takes either."""
    k = constant(number)
    for describe in (
        lambda a, b: ((a & k) ^ b,),
        lambda a, b: ((~a & k) ^ b,),
        lambda a, b: ((k & ~a) + b,),
        lambda a, b: ((a + k) ^ b,),
        lambda a, b: ((k - a) ^ b,),
        lambda a, b: ((a - k) | b,),
        lambda a, b: ((a * k) ^ b,),
        lambda a, b: (k.copy() ^ (b & a),),
        lambda a, b: (k << (a & 63),),
        lambda a, b: (a & b & 0 | k,),
    ):
        check(describe, isa, abi)


@pytest.mark.parametrize("name", ["exploding.rook", "exploding.bishop", "shift.one.any", "kogge-stone.attacks.noEa"])
def test_no_constant_lies_there_that_nobody_reads(name: str) -> None:
    """A factor that is an immediate in the end needs no place in memory."""
    code = lower(find(name), "bmi2").code
    operands = [operand for instruction in code.instructions for operand in instruction.operands]
    read = {operand.symbol for operand in operands if isinstance(operand, Memory)}
    assert [datum.label for datum in code.data if datum.label not in read] == []
