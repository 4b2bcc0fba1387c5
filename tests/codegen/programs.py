"""Helpers for the tests of `lower`: random descriptions without branches, and kernels that run here."""

import ctypes
import operator
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from setwise.codegen.board import DIR8
from setwise.codegen.ir.control import select
from setwise.codegen.ir.layout import Layout
from setwise.codegen.ir.routine import Contract, Parameter, Routine
from setwise.codegen.ir.values import CompassRay, Value, constant
from setwise.codegen.kernel import Kernel
from setwise.codegen.run.call import runner
from setwise.codegen.targets import ALL_SETS, SCALARS

ALL = (1 << 64) - 1

Description = Callable[..., tuple[Value, ...]]
"""A description of straight code over its parameters, without a layout."""


def routine(
    describe: Description, boards: int, scalars: int = 0, results: int = 1, *, batched: bool = False
) -> Routine:
    """Return a routine of `boards` boards, followed by `scalars` numbers that all lanes share.

    Batched, it has a board in each lane where a set has lanes. The wiki convention takes two boards.
    """
    parameters = [Parameter(f"b{i}", "empty" if i == 1 else "board") for i in range(boards)]
    parameters += [Parameter(f"s{i}", "count") for i in range(scalars)]
    parameters += [Parameter("to", "results")] * (results > 1)

    def with_layout(_: Layout, *values: Value) -> tuple[Value, ...]:
        return describe(*values[: boards + scalars])

    contract = Contract(tuple(parameters), "", "", tuple(f"r{i}" for i in range(results)))
    isas = ALL_SETS if batched else SCALARS
    return Routine("test", "form", "", contract, (with_layout,), "", "", isas, batched=batched)


def oracle(describe: Description, arguments: Sequence[int]) -> int:
    """The description run on constants."""
    (result,) = describe(*(constant(argument) for argument in arguments))
    return result.number


def native(kernel: Kernel, cases: Sequence[Sequence[int]]) -> list[int]:
    """Run a kernel here on each case and return its results; fails if it does not restore a saved register."""
    columns = [(ctypes.c_uint64 * len(cases))(*column) for column in zip(*cases, strict=True)]
    results = (ctypes.c_uint64 * len(cases))()
    with runner(kernel) as running:
        violation = running.run([*map(ctypes.addressof, columns)], ctypes.addressof(results), len(cases))
    assert violation is None, violation
    return [*results]


# -- random descriptions

COUNTED = ("shl", "shr", "rotl")
ALONG = ("step", "run")
PLAIN = ("and", "or", "xor", "add", "sub")


@dataclass(frozen=True)
class Step:
    """One step of a random description: `op` on variables `left` and `right` (or a constant, or a count).

    `into` says what becomes of the result: a variable of its own, or the variable on the left, changed in place.
    """

    op: str
    left: int
    right: int
    number: int
    count: int
    in_place: bool


@dataclass(frozen=True)
class Program:
    """A random description: it works on a list of variables that begins with the parameters."""

    parameters: int
    steps: tuple[Step, ...]

    def __call__(self, *values: Value) -> tuple[Value, ...]:
        return (self.variables(*values)[-1],)

    def variables(self, *values: Value) -> list[Value]:
        """All variables as they are in the end."""
        variables = list(values)
        for step in self.steps:
            at = step.left % len(variables)
            made = _result(step, variables[at], variables[step.right % len(variables)])
            if step.in_place:
                variables[at] = made
            else:
                variables.append(made)
        return variables


def _result(step: Step, left: Value, right: Value) -> Value:
    if step.op == "not":
        return ~left
    if step.op == "copy":
        return left.copy()
    if step.op == "rotl":
        return left.rotate(step.count)
    if step.op in ALONG:
        along = CompassRay((DIR8[step.count % 8],))
        return along.run(left, step.count % 3 + 1) if step.op == "run" else along.step(left, step.count % 7 + 1)
    if step.op == "sar":
        return left.arithmetic_shift_right(step.count)
    if step.op in SHIFTED:
        return SHIFTED[step.op](left, right)
    operand = step.count if step.op in COUNTED else right if step.number == 0 else step.number
    return (IN_PLACE if step.in_place else OPERATORS)[step.op](left, operand)


ALONE = [
    "flip_vertical",
    "flip_horizontal",
    "flip_diagonal",
    "flip_anti_diagonal",
    "rotate_180",
    "isolate_lsb",
    "clear_lsb",
    "mask_to_lsb",
    "bit_scan_forward",
    "bit_scan_reverse",
    "popcount",
    "is_empty",
    "__neg__",
]
WITH_ANOTHER = [
    "extract_bits",
    "deposit_bits",
    "carryless_product",
    "high_product",
    "equals",
    "less",
    "less_signed",
    "minimum",
    "maximum",
    "minimum_signed",
    "maximum_signed",
]


def _called(word: str, operands: int = 0) -> Callable[[Value, Value | int], Value]:
    """The method of a value with that name, of one operand or none."""

    def made(left: Value, right: Value | int) -> Value:
        result: Value = getattr(left, word)(*(right,) * operands)
        return result

    return made


OPERATORS: dict[str, Callable[[Value, Value | int], Value]] = {
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "add": operator.add,
    "sub": operator.sub,
    "from": lambda left, right: right - left,
    "mul": operator.mul,
    "shl": operator.lshift,
    "shr": operator.rshift,
    "select": lambda left, right: select(left.less_signed(0), right, ~left),
    **{name: _called(name) for name in ALONE},
    **{name: _called(name, 1) for name in WITH_ANOTHER},
}
SHIFTED: dict[str, Callable[[Value, Value], Value]] = {
    "shlv": lambda left, right: left << (right & 63),
    "shlv-any": operator.lshift,
    "shrv": operator.rshift,
    "rotlv": lambda left, right: left.rotate_left(right),
    "sarv": lambda left, right: left.arithmetic_shift_right(right),
}
"""Shifts by another value, which stays in a register: its number is any."""
IN_PLACE = OPERATORS | {
    "and": operator.iand,
    "or": operator.ior,
    "xor": operator.ixor,
    "add": operator.iadd,
    "sub": operator.isub,
    "shl": operator.ilshift,
    "shr": operator.irshift,
}

words = st.integers(0, ALL) | st.sampled_from((0, 1, ALL, 1 << 63, 0x0123_4567_89AB_CDEF))


MASKS = (
    0xFF,
    0xFFFF,
    0xFFFF_FFFF,
    0xFFFF_FFFF,
    1,
    ALL ^ 0xFFFF_FFFF,
    0xFEFE_FEFE_FEFE_FEFE,
    0x7F7F_7F7F_7F7F_7F7F,
    (1 << 31) - 1,
    1 << 63,
)
EXPRESSIONS = ("and", "and", "and", "or", "or", "xor", "add", "sub", "from", "not", "copy", *COUNTED, *COUNTED, "step")

WORDS = (*SHIFTED, *ALONE, *WITH_ANOTHER, "mul", "sar", "select")
"""The words of `BitWords`, products and shifts by values."""


def small(draw: random.Random, operations: Sequence[str], steps: int = 6, parameters: int = 2) -> Program:
    """Return a random description of at most `steps` steps, with constants, masks and shift counts 0 to 64."""

    def number() -> int:
        ones = ((1 << draw.randrange(65)) - 1) << draw.randrange(64) & ALL
        return draw.choice((0, 0, *draw.choices(MASKS, k=3), ones, ones ^ ALL, draw.getrandbits(64)))

    def step() -> Step:
        left, right = draw.choice((-1, -1, draw.randrange(8))), draw.choice((-2, -3, draw.randrange(8)))
        return Step(draw.choice(operations), left, right, number(), draw.randrange(65), draw.random() < 0.3)

    return Program(parameters, tuple(step() for _ in range(draw.randrange(1, steps + 1))))


def programs(operations: Sequence[str], steps: int = 12) -> st.SearchStrategy[Program]:
    """Random descriptions over two to four parameters."""
    draws = st.randoms(use_true_random=False)
    return st.builds(small, draws, st.just(operations), st.just(steps), st.integers(2, 4))
