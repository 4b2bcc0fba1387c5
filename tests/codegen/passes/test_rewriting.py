"""Each rewriting rule is proved for all values, and shortens the graph that it is for."""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import reduce
from itertools import product
from operator import or_, xor
from typing import Any

import pytest

from setwise.analysis.proof.pointers import Addresses
from setwise.analysis.proof.solver import Solver
from setwise.analysis.semantics.words import Word
from setwise.analysis.spec.words import population
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.matrices import FALLING, RISING_BY_ONE, files
from setwise.codegen.ir.operations import ALL
from setwise.codegen.ir.values import Value, constant, parameter
from setwise.codegen.passes.rewriting import rules
from setwise.codegen.passes.rules import RULES, TARGET_RULES
from setwise.codegen.passes.simplify import simplify
from tests.conftest import require_module

CHOICES = (FALLING, RISING_BY_ONE, 0x10101010_80000000)
"""Constants whose bytes have at most one bit each."""
COUNTS = (1, 2, 7, 8, 31, 32, 33, 56, 57, 63)
MEANINGS: Mapping[str, Any] = {
    "ALL": ALL,
    "rotl": lambda x, n: x << n % 64 | x >> -n % 64,
    "sar": lambda x, n: x >> n | -(x >> 63) << 64 - n,
    "isolate_lsb": lambda x: x & -x,
    "clear_lsb": lambda x: x & x - 1,
    "mask_to_lsb": lambda x: x ^ x - 1,
    "popcount": population,
    "tzcnt": lambda x: population(~x & x - 1),
    "flip": lambda x: reduce(or_, ((x >> 8 * at & 0xFF) << 56 - 8 * at for at in range(8))),
    "andn": lambda x, y: ~x & y,
    "select": lambda mask, x, y: mask & x | ~mask & y,
    "log2": lambda number: number.value.bit_length() - 1,
    "affine": lambda x, matrix, n: reduce(or_, (_product(x, matrix, at) << at for at in range(64))),
    "chooses": lambda number: True,
    "low_shl": lambda x, n: x << n & 0xFFFFFFFF,
    "displaced_shift": lambda x, a, n: (x << n) + a,
    "displaced_sum": lambda x, y, a: x + y + a,
    "displaced_scaled_sum": lambda x, y, a, n: x + (y << n) + a,
    "scaled_sum": lambda x, y, n: x + (y << n),
    "signed": lambda a: True,
    "has": lambda op: True,
    "lacks": lambda op: True,
    "inverse": lambda a, b: True,
}


def _product(squares: Any, matrix: Any, at: int) -> Any:
    """A bit of the bytes of squares, each times a matrix, which has the row of the lowest bit in its highest byte."""
    byte, bit = divmod(at, 8)
    both = squares >> 8 * byte & matrix >> 8 * (7 - bit)
    return reduce(xor, (both >> column & 1 for column in range(8)))


def parts(line: str) -> tuple[str, str, str]:
    """The pattern, the replacement and the condition of a rule."""
    text, *definitions = line.split(" where ")
    text, _, condition = text.partition(" if ")
    pattern, replacement = re.split("[-=]>", text)
    for name, meaning in (definition.split(" = ") for definition in definitions):
        pattern = re.sub(rf"\b{name}\b", f"({meaning})", pattern)
    return pattern.strip(), replacement.strip(), condition.strip() or "True"


def cases(line: str, domain: Addresses) -> Iterator[dict[str, Any]]:
    """Yield bindings of a rule's names: values to unknown words, counts to each of COUNTS.

    If the rule takes a logarithm, bind A to each power of two; if A chooses bits, to each of CHOICES.
    """
    texts = parts(line)
    nodes = [node for text in texts for node in ast.walk(ast.parse(text, mode="eval"))]
    names = {node.id for node in nodes if isinstance(node, ast.Name)} - {*MEANINGS}
    words = {name: Word(domain, domain.unknown(name)) for name in names if name not in "nmk"}
    counts = sorted(names - {*words})
    numbers_of_a = [1 << at for at in range(64)] if "log2" in line else CHOICES if "chooses" in line else ()
    bound = [{"A": Word(domain, number)} for number in numbers_of_a] or [{}]
    for chosen, constants in product(product(COUNTS, repeat=len(counts)), bound):
        numbers = dict(zip(counts, chosen, strict=True))
        if eval(texts[2], {**MEANINGS, **words, **numbers}):
            given = {**MEANINGS, **words, **numbers, **constants}
            if inverse := re.search(r"inverse\(A, (.*)\)", texts[2]):
                given["A"] = ~eval(inverse[1], given)
            yield given


@pytest.mark.parametrize("line", [rule.text for table in (RULES, TARGET_RULES) for rule in rules(table)])
def test_a_rule_holds_for_all_values(line: str) -> None:
    require_module("bitwuzla")
    domain = Addresses()
    solver = Solver(domain)
    pattern, replacement, _ = parts(line)
    seen = 0
    for names in cases(line, domain):
        before, after = eval(pattern, names), eval(replacement, names)
        differ = domain.not_(domain.eq(before.value, after.value if isinstance(after, Word) else after & ALL, 64), 1)
        assert not solver.possible([differ], sums=True), names
        seen += 1
    assert seen


@pytest.mark.parametrize(
    ("before", "operations"),
    [
        (lambda x, y: (x ^ y) | x & y, ["or"]),
        (lambda x, y: x & y | x & ~y, []),
        (lambda x, y: x - ~y - 1, ["add"]),
        (lambda x, y: (x << 3 << 61) + y, []),
        (lambda x, y: x << 5 | x >> 59, ["rotl"]),
        (lambda x, y: x * 8, ["shl"]),
        (lambda x, y: files(x, FALLING) | files(y, FALLING), ["or", "affine"]),
        (lambda x, y: files(x, 3) | files(y, 3), ["affine", "affine", "or"]),
    ],
)
def test_a_graph_is_shortened(before: Any, operations: list[str]) -> None:
    boards = parameter(0), parameter(1)
    made = simplify(Graph(boards, (before(*boards),)))
    assert [value.op for value in made.order if value.args] == operations


def test_a_value_that_stays_in_use_is_not_computed_again() -> None:
    x, y = parameter(0), parameter(1)
    union: Value = x | y
    kept = simplify(Graph((x, y), (union, union - (x & y), x & y)))
    assert [value.op for value in kept.order if value.args].count("or") == 1


def test_lanes_with_counts_of_their_own_are_left() -> None:
    x = parameter(0, 2)
    turned = x << (1, 2) | x >> (63, 62)
    assert "rotl" not in simplify(Graph((x,), (turned,))).operations
    assert constant(1).number == 1


def test_the_first_order_of_arguments_that_matches_is_taken() -> None:
    """The places of values in memory must not decide."""
    for _ in range(50):
        x, y = parameter(0), parameter(1)
        (made,) = simplify(Graph((x, y), ((x | y) ^ (x & y),))).results
        assert (made.op, made.args) == ("xor", (x, y))
