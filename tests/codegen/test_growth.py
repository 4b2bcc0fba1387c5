"""Growth: what making code takes grows with a description's length, and no depth of it is too deep."""

from collections.abc import Callable
from itertools import product
from random import Random

import pytest

from setwise.codegen.board import DIR8
from setwise.codegen.ir.control import repeat
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.values import Value, parameter
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.passes import liveness, simplify
from setwise.codegen.passes.code_motion import place_values
from setwise.codegen.passes.simplify import demanded_bits
from setwise.codegen.run.executable import runnable
from setwise.codegen.targets import ALL_SETS
from tests.codegen.programs import COUNTED, PLAIN, Description, Program, Step, native, oracle, routine

LONG = 1500
SQUARES = (1 << 64) - 1
Link = Callable[[Value, Value, Value, int], Value]
"""From what there is so far, from two boards and a number to what comes next."""

CHAINS: dict[str, Link] = {
    "sums": lambda x, a, b, i: (x ^ b, x + a, x << 1, x & b, x | a, x - b)[i % 6],
    "unions": lambda x, a, b, i: x | b << i % 60 + 1,
    "union of masked": lambda x, a, b, i: (x | a >> i % 50 + 1) & ~(1 << i % 64),
    "masks that nobody sees": lambda x, a, b, i: x >> 1 & SQUARES >> 1 + i % 2,
    "fills": lambda x, a, b, i: x | x.step(DIR8[i % 8]) & b,
    "logic of three boards": lambda x, a, b, i: (x ^ a, x & b, x | a)[i % 3],
}

TWO_DEEP = ("union of masked", "masks that nobody sees", "fills")
"""Those whose step is two operations deep."""


def chain(step: Link, length: int) -> Description:
    """Each step made of the one before."""

    def describe(a: Value, b: Value) -> tuple[Value, ...]:
        x = a
        for i in range(length):
            x = step(x, a, b, i)
        return (x,)

    return describe


def expressions(draw: Random, length: int) -> Program:
    """Random operations on the six boards made last, and in the end the union of such."""

    def step() -> Step:
        left, right = -draw.randrange(1, 7), -draw.randrange(1, 7)
        return Step(draw.choice((*PLAIN, *COUNTED, "not")), left, right, 0, draw.randrange(1, 64), False)

    steps = [step() for _ in range(length)]
    return Program(4, (*steps, *(Step("xor", -1, -2 * at, 0, 0, False) for at in range(1, 6))))


def checked(kernel: Kernel, describe: Description, parameters: int) -> None:
    """What the kernel of one board gives here is what the description gives on constants."""
    if kernel.layout.lanes == 1 and runnable():
        boards = [Random(place).getrandbits(64) for place in range(parameters)]
        assert native(kernel, [boards]) == [oracle(describe, boards)]


TURNS = [(isa, [*CHAINS][at % len(CHAINS)]) for at, isa in enumerate(ALL_SETS[:-1])]


@pytest.mark.parametrize(
    ("isa", "kind"),
    [pytest.param(*pair, marks=[pytest.mark.slow] * (pair not in TURNS)) for pair in product(ALL_SETS, CHAINS)],
)
def test_long_chains_are_made(isa: str, kind: str) -> None:
    describe = chain(CHAINS[kind], LONG // 2 if kind in TWO_DEEP else LONG)
    checked(lower(routine(describe, 2, batched=True), isa), describe, 2)


@pytest.mark.parametrize(
    "isa", [pytest.param(isa, marks=pytest.mark.slow) if isa != "bmi2" else isa for isa in ALL_SETS]
)
def test_a_thousand_random_operations_are_made(isa: str) -> None:
    describe = expressions(Random(1), 1000)
    checked(lower(routine(describe, 4, batched=True), isa), describe, 4)


def calls(monkeypatch: pytest.MonkeyPatch, module: object, name: str, work: Callable[[], object]) -> int:
    """How often the work calls a function of a module."""
    function = getattr(module, name)
    count = 0

    def counted(*args: object, **keywords: object) -> object:
        nonlocal count
        count += 1
        return function(*args, **keywords)

    with monkeypatch.context() as patch:
        patch.setattr(module, name, counted)
        work()
    return count


def test_masks_that_nobody_sees_vanish_together(monkeypatch: pytest.MonkeyPatch) -> None:
    def searches(length: int) -> int:
        boards = parameter(0), parameter(1)
        graph = Graph(boards, chain(CHAINS["masks that nobody sees"], length)(*boards))
        return calls(monkeypatch, simplify, "demanded", lambda: demanded_bits(graph))

    assert searches(400) == searches(40) < 10


def test_what_lives_in_nested_loops_is_found_by_going_through_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def blocks(depth: int) -> int:
        def body(inner: int, x: Value, y: Value) -> tuple[Value, ...]:
            if inner:
                x, y = repeat(2, lambda *carried: body(inner - 1, *carried), x, y)
            return x + y, y ^ x << 1

        boards = parameter(0), parameter(1)
        results = body(depth, *boards)
        block = place_values(Graph(boards, results))
        return calls(monkeypatch, liveness, "_events", lambda: liveness.program_points(block, results))

    assert [blocks(depth) for depth in (0, 1, 4, 12)] == [1, 2, 5, 13]
