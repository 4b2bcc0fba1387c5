"""Random descriptions, straight and with control, lowered and run: the code gives what the constants give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from setwise.codegen.describe.control import below, nonzero, repeat, switch, when, while_
from setwise.codegen.describe.values import Value, constant
from setwise.codegen.kernel import plan
from setwise.codegen.lower import PIPELINE, lower
from setwise.codegen.run.executable import runnable
from setwise.codegen.targets.general import X86_64
from setwise.codegen.variants import best, size
from tests.codegen.programs import (
    ALL,
    COUNTED,
    PLAIN,
    Description,
    Program,
    Step,
    native,
    oracle,
    programs,
    routine,
    words,
)

ISAS = ("x86-64", "bmi2")
CONVENTIONS = ("sysv", "win64")

natively = pytest.mark.skipif(not runnable(), reason="not run: this processor is not x86-64")

some = settings(max_examples=150)

targets = st.sampled_from(ISAS), st.sampled_from(CONVENTIONS)
STRAIGHT = (programs(), st.lists(words, min_size=4, max_size=4), *targets)
FIXED = (
    programs((*PLAIN, *COUNTED, "not", "copy", "mul", "shlv"), 12),
    st.lists(words, min_size=4, max_size=4),
    *targets,
)
CROWDED = (
    programs((*PLAIN, *COUNTED, "not", "copy", "shlv"), 40, 6, least=20),
    st.lists(words, min_size=6, max_size=6),
    *targets,
)


@natively
@some
@given(*STRAIGHT)
@example(
    # a & 1, and-ed with what was and-ed with it: the one mask must not vouch for itself and vanish.
    Program(2, (Step("and", 0, 0, 1, 0, False), Step("and", 2, 1, 0, 0, False), Step("and", 3, 2, 0, 0, False))),
    [ALL, ALL, 0, 0],
    "x86-64",
    "sysv",
)
@example(
    # and with a complement has no form with an immediate.
    Program(2, (Step("not", 0, 0, 0, 0, True), Step("and", 0, 0, 1, 0, False))),
    [0, 0, 0, 0],
    "bmi2",
    "sysv",
)
def test_random_descriptions(program: Program, arguments: list[int], isa: str, abi: str) -> None:
    function = native(lower(routine(program, program.parameters), isa, abi))
    for case in (arguments, arguments[::-1], [argument ^ ALL for argument in arguments]):
        given_ = case[: program.parameters]
        assert function(*given_) == oracle(program, given_)


@natively
@some
@given(*FIXED)
@example(
    # imul with an immediate has three operands, even where two of them are one register.
    Program(2, (Step("mul", 0, 3, 255, 1, True), Step("xor", 2, 0, 255, 1, False), Step("and", 2, 0, 0, 1, False))),
    [3, 5, 0, 0],
    "x86-64",
    "sysv",
)
def test_random_descriptions_with_fixed_registers(program: Program, arguments: list[int], isa: str, abi: str) -> None:
    """Shifts by a variable want their count in rcx, which is a parameter's too."""
    given_ = arguments[: program.parameters]
    assert native(lower(routine(program, program.parameters), isa, abi))(*given_) == oracle(program, given_)


@natively
# Not shrunk: that takes minutes here, and what is left is as hard to read.
@settings(max_examples=25, phases=(Phase.explicit, Phase.generate))
@given(*CROWDED)
def test_random_descriptions_that_need_all_their_variables(
    program: Program, arguments: list[int], isa: str, abi: str
) -> None:
    def describe(*values: Value) -> tuple[Value, ...]:
        first, *others = program.variables(*values)[::-1]
        for other in others[::2] + others[1::2]:
            first = first.rotate(7) ^ other
        return (first,)

    given_ = arguments[: program.parameters]
    assert native(lower(routine(describe, program.parameters), isa, abi))(*given_) == oracle(describe, given_)


BODIES = ("repeat", "while", "when", "when below", "switch", "switch falls")


def _controlled(kind: str, bodies: Sequence[Program], outer: Program) -> Description:
    """The random bodies in some control, carrying two values; they read the parameters too."""

    def describe(a: Value, b: Value) -> tuple[Value, ...]:
        def body(number: int) -> Callable[..., tuple[Value, ...]]:
            def run(x: Value, y: Value) -> tuple[Value, ...]:
                variables = bodies[number].variables(a, b, x, y)
                return variables[-1], variables[-2]

            return run

        every = [body(number) for number in range(len(bodies))]
        if kind == "repeat":
            x, y = repeat(3, every[0], a, b)
        elif kind == "while":
            rounds = while_(lambda n, *_: nonzero(n), lambda n, *inner: (n >> 9, *every[0](*inner)), a, a, b)
            x, y = rounds[1:]
        elif kind == "when":
            x, y = when(nonzero(a & 4), every[0], a, b)
        elif kind == "when below":
            x, y = when(below(b & 15, 7), every[0], a, constant(3))
        else:
            x, y = switch(a & 3, every, b, a, falls=kind == "switch falls")
        return outer(a, b, x, y)

    return describe


CONTROLLED = (
    st.sampled_from(BODIES),
    st.lists(programs(steps=5).map(lambda p: Program(4, p.steps)), min_size=4, max_size=4),
    programs(PLAIN, 4).map(lambda p: Program(4, p.steps)),
    st.lists(words, min_size=2, max_size=2),
    *targets,
)


@natively
@some
@given(*CONTROLLED)
def test_random_control(
    kind: str, bodies: list[Program], outer: Program, arguments: list[int], isa: str, abi: str
) -> None:
    describe = _controlled(kind, bodies, outer)
    function = native(lower(routine(describe, 2), isa, abi))
    for case in (arguments, arguments[::-1], [0, arguments[0]], [7, 7]):
        assert function(*case) == oracle(describe, case)


@natively
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
    assert native(best(PIPELINE, asked, size))(5, 7) == oracle(describe, (5, 7))


def at_length(test: Any, examples: int, *strategies: st.SearchStrategy[Any]) -> Callable[..., None]:
    """The same test on many more descriptions, other ones each time that it runs."""
    many = settings(max_examples=examples, derandomize=False)(given(*strategies)(test.hypothesis.inner_test))
    return natively(pytest.mark.slow(pytest.mark.long(many)))


test_random_descriptions_at_length = at_length(test_random_descriptions, 100_000, *STRAIGHT)
test_fixed_registers_at_length = at_length(test_random_descriptions_with_fixed_registers, 100_000, *FIXED)
test_all_variables_at_length = at_length(test_random_descriptions_that_need_all_their_variables, 20_000, *CROWDED)
test_control_at_length = at_length(test_random_control, 100_000, *CONTROLLED)
