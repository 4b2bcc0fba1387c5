"""Every number is in the range that is known of its value, and the indexes that people write have tight ranges."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setwise.analysis.spec.evaluator import evaluate
from setwise.codegen.ir.control import at_least, below, equal, nonzero, repeat, select, switch, table, when
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.ranges import ValueRanges
from setwise.codegen.ir.values import ALL, Condition, Value, constant, parameter, reshaped
from tests.codegen.programs import COUNTED, PLAIN, SHIFTED, WORDS, Program, programs, words

SMALL = 100
"""The bound of the first parameter of random descriptions."""

operations = (*PLAIN, *PLAIN, *COUNTED, *WORDS, *SHIFTED, "from", "minimum", "maximum", "popcount", "not", "copy")


@settings(max_examples=200)
@given(programs(operations), st.lists(words, min_size=4, max_size=4), st.integers(0, SMALL), words, words)
def test_each_number_is_in_the_range_of_its_value(
    program: Program, arguments: list[int], small: int, number: int, other: int
) -> None:
    parameters = tuple(parameter(at) for at in range(program.parameters))
    variables = program.variables(*parameters)
    chosen = [
        select(test(variables[-1], variables[0]), one, variables[-2])
        for test in (below, at_least, equal)
        for one in (variables[0], variables[-1], constant(number))
    ]
    two = [select(below(variables[-1], 7), constant(number), constant(other)), variables[-1] & variables[-1].less(9)]
    graph = Graph(parameters, (*variables, *chosen, *two))
    graph = Graph(parameters, graph.order)
    ranges = ValueRanges(graph, {parameters[0]: (0, SMALL)})
    results = evaluate(graph, [small, *arguments[: program.parameters - 1]])
    for value, (result,) in zip(graph.results, results, strict=True):
        least, most = ranges[value]
        assert least <= result <= most, (value, least, result, most)


def _either(x: Value, condition: Condition) -> Value:
    (y,) = when(condition, lambda y: (y + 5,), x & 7)
    return y


def _falls(x: Value, falls: bool) -> Value:
    (y,) = switch(x & 1, [lambda y: (y + 5,), lambda y: (y + 9,)], x & 7, falls=falls)
    return y


INDEXES: dict[str, tuple[Callable[[Value, Value], Value], tuple[int, int]]] = {
    "offset": (lambda x, _: 4096 + x.extract_bits(0x7E), (4096, 4159)),
    "pext of a masked mask": (lambda x, y: x.extract_bits(y & 0xF0), (0, 15)),
    "pext of an entry": (lambda x, y: x.extract_bits(table([0xF000, 0xFF, 0x11], y.minimum(2))), (0, 255)),
    "difference": (lambda x, _: 64 - x.popcount(), (0, 64)),
    "sum of counts": (lambda x, y: x.popcount() + y.bit_scan_forward(), (0, 128)),
    "count under a mask": (lambda x, _: (x & 0xFF00).popcount(), (0, 8)),
    "first of some": (lambda x, _: (x | 1 << 63).bit_scan_forward(), (0, 63)),
    "last of some": (lambda x, _: (x | 1).bit_scan_reverse(), (0, 63)),
    "product": (lambda x, y: (x & 7) * 9 + (y & 3), (0, 66)),
    "packed": (lambda x, y: x.popcount() << 3 | y & 7, (0, 519)),
    "rotated": (lambda x, _: x.popcount().rotate(4), (0, 0x7F0)),
    "least": (lambda x, y: x.minimum(y.minimum(20)), (0, 20)),
    "greatest": (lambda x, _: (x & 15).maximum(3) - 3, (0, 12)),
    "least of a difference": (lambda x, y: (x & 31) + 1 - y.minimum(1), (0, 32)),
    "least of equals": (lambda x, _: (x & 31).minimum(x >> 59), (0, 31)),
    "chosen from a bound on": (lambda x, _: select(below(x, 9), 20, x), (9, ALL)),
    "clamped": (lambda x, _: select(below(x, 9), x, 3), (0, 8)),
    "clamped from above": (lambda x, _: select(at_least(x, 9), 2, x) + 1, (1, 9)),
    "masked": (lambda x, y: x & 15 & y.less(x), (0, 15)),
    "kept where below": (lambda x, _: x & x.less(9), (0, 8)),
    "if": (lambda x, y: _either(x, nonzero(y)), (0, 12)),
    "switch": (lambda x, _: _falls(x, False), (5, 21)),
    "fall-through": (lambda x, _: _falls(x, True), (5, 21)),
    "loop": (lambda x, _: repeat(3, lambda y: (y + 1,), x & 7)[0], (0, ALL)),
    "entry": (lambda x, _: table([3, 9, 4, 7], x & 3), (3, 9)),
    "in lanes": (lambda x, _: reshaped("broadcast", x.popcount(), 4) + constant((1, 2, 3, 4)), (1, 68)),
    "unknown sum": (lambda x, _: x + 1, (0, ALL)),
    "wrap": (lambda x, _: (x & 3) - 1, (0, ALL)),
    "moved wrap": (lambda x, _: (x & 3 | 4) + ALL, (3, 6)),
}


@pytest.mark.parametrize("name", INDEXES)
def test_the_range_of_an_index(name: str) -> None:
    index, wanted = INDEXES[name]
    parameters = parameter(0), parameter(1)
    value = index(*parameters)
    assert ValueRanges(Graph(parameters, (value,)), {})[value] == wanted
