"""The evaluator of descriptions says what the ray-walk says of fills, and what descriptions run on constants give."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setwise.analysis.semantics.domains import BitVectors, Integers
from setwise.analysis.semantics.words import Word
from setwise.analysis.spec import raywalk
from setwise.analysis.spec.evaluator import EvaluationError, evaluate
from setwise.codegen.board import DIR8, Direction
from setwise.codegen.fills import dumb7, kogge_stone
from setwise.codegen.ir.bits import known_zero
from setwise.codegen.ir.control import at_least, below, nonzero, repeat, switch, table, when, while_
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.ray import RuntimeRay
from setwise.codegen.ir.values import CompassRay, Value, beside, constant, make, parameter, repeated, reshaped
from tests.codegen.programs import ALL, COUNTED, PLAIN, Program, oracle, programs, words


def traced(describe: Callable[..., tuple[Value, ...]], parameters: int = 2, lanes: int = 1) -> Graph:
    given_ = tuple(parameter(i, lanes) for i in range(parameters))
    return Graph(given_, describe(*given_))


@pytest.mark.parametrize("direction", DIR8, ids=str)
@pytest.mark.parametrize("fill", [dumb7.occluded_rolled, dumb7.occluded_until_dry, kogge_stone.occluded])
@settings(max_examples=8)
@given(gen=words, pro=words)
def test_fills_are_what_the_ray_walk_says(fill: Callable[..., Value], direction: Direction, gen: int, pro: int) -> None:
    expected = raywalk.occluded(direction.name, gen, pro)
    compass = traced(lambda g, p: (fill(CompassRay((direction,)), g, p),))
    assert evaluate(compass, (gen, pro)) == ((expected,),)
    at_run_time = traced(lambda g, p, dir8: (fill(RuntimeRay.of(dir8), g, p),), 3)
    assert evaluate(at_run_time, (gen, pro, DIR8.index(direction))) == ((expected,),)


@given(programs((*PLAIN, *COUNTED, "not", "copy", "mul", "shlv")), st.lists(words, min_size=4, max_size=4))
def test_straight_code_is_what_it_gives_on_constants(program: Program, arguments: list[int]) -> None:
    given_ = arguments[: program.parameters]
    assert evaluate(traced(program, program.parameters), given_) == ((oracle(program, given_),),)


def _controlled(a: Value, b: Value) -> tuple[Value, ...]:
    x, y = repeat(3, lambda x, y: (x + y, x ^ 1), a, b)
    x, y = when(below(y & 15, 7), lambda x, y: (y, x), x, y)
    x, y = when(at_least(y & 15, 9), lambda x, y: (x | 1, y), x, y)
    (x,) = switch(y & 1, (lambda x: (x << 1,), lambda x: (x ^ y,)), x)
    (x,) = switch(a & 1, (lambda x: (x - 5,), lambda x: (~x,)), x, falls=True)
    left, z = while_(lambda left, _: nonzero(left), lambda left, z: (left >> 1, z + left), b & 255, x)
    return x, z | left, table((3, 1, 4, 1, 5), a & 3, size=1)


@given(a=words, b=words)
def test_control_is_what_it_gives_on_constants(a: int, b: int) -> None:
    expected = tuple((value.number,) for value in _controlled(constant(a), constant(b)))
    assert evaluate(traced(_controlled), (a, b)) == expected


def test_words_may_be_arrays_and_known_words_of_a_domain() -> None:
    cases = [(a, b) for a in (0, 1, 6, 9, 77, ALL) for b in (0, 3, 8, 200, ALL ^ 4)]
    columns = [np.array(column, np.uint64) for column in zip(*cases, strict=True)]
    graph = traced(_controlled)
    together = evaluate(graph, columns)
    for at, case in enumerate(cases):
        expected = evaluate(graph, case)
        assert [int(word[at]) for (word,) in together] == [word for (word,) in expected]
        known = evaluate(graph, [Word(Integers(), word) for word in case])
        assert [word.value for (word,) in known] == [word for (word,) in expected]


def test_lanes() -> None:
    east_and_north = CompassRay((DIR8[1], DIR8[7]))

    def describe(boards: Value) -> tuple[Value, ...]:
        low, high = (Value(op, (boards,)) for op in ("low-half", "high-half"))
        bytewise = make("sub-bytes", make("add-bytes", boards, boards), constant((1, 2)))
        return east_and_north.step(boards), high, low, Value("unite", (boards,)), bytewise

    results = evaluate(traced(describe, 1, 2), ((0x80FF, 0x10),))
    assert results == ((0xFE, 0x1000), (0x10,), (0x80FF,), (0x80FF,), (0x00FD, 0x1E))


def test_lanes_in_other_places() -> None:
    def describe(a: Value, b: Value) -> tuple[Value, ...]:
        pair = beside(a, b)
        eight = repeated(pair, beside(a << 8, a << 8))
        odd = Value("join-odd", (eight, eight), lanes=8)
        return pair, reshaped("extended", pair, 4), eight, reshaped("exchange", eight | odd, 8), odd

    graph = traced(describe)
    results = evaluate(graph, (2, 4))
    assert results[:3] == ((2, 4), (2, 4, 0, 0), (2, 4, 2, 4, 512, 512, 512, 512))
    assert results[3:] == ((6, 4, 6, 4, 512, 512, 512, 512), (4, 4, 4, 4, 512, 512, 512, 512))
    assert results[:3] == tuple(value.constant for value in describe(constant(2), constant(4))[:3])
    assert known_zero(graph.results[1], {}) == (0, 0, ALL, ALL)


@pytest.mark.parametrize(
    ("describe", "complaint"),
    [
        (
            lambda a, b: while_(lambda n, _: nonzero(n), lambda n, m: (n >> 1, m ^ n), a, b),
            "how often its loop runs",
        ),
        (lambda a, b: while_(lambda n: nonzero(n | 1), lambda n: (n,), a), "has not ended"),
        (lambda a, b: (table((1, 2), a),), "of 2 entries"),
        (lambda a, b: switch(a, [lambda x: (x,)] * 3, b), "of 3 functions"),
        (lambda a, b: (Value("load", (a, b)),), "'load'"),
    ],
)
def test_what_has_no_value_is_told_in_one_line(describe: Callable[..., tuple[Value, ...]], complaint: str) -> None:
    bit_vectors = BitVectors()
    unknown = [Word(bit_vectors, bit_vectors.variable(name, 64)) for name in "ab"]
    arguments = unknown if complaint == "how often its loop runs" else (5, 6)
    with pytest.raises(EvaluationError, match=complaint) as error:
        evaluate(traced(describe), arguments)
    assert "\n" not in str(error.value)
