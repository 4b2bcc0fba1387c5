"""Whole words: what instructions do is not ruled out, and what is ruled out no program of one operation does."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice, product
from random import Random

import pytest

from setwise.analysis.bounds.certificate import check
from setwise.analysis.bounds.words import GENERAL, GOALS, KINDS, VECTORS, Kinds, Words, right_for, ruled_out
from tests.conftest import require_module

ALL = (1 << 64) - 1
BY_BYTES = ("byte-sums", "byte-differences")
OPERATIONS: list[tuple[Words, str, Callable[[int, int], int]]] = [
    (GENERAL, "function", lambda x, y: y & ~x),
    (GENERAL, "sum", lambda x, y: x + 8 * y),
    (GENERAL, "sum", lambda x, y: y - x),
    (VECTORS, "function", lambda x, y: x & 0x00FF_1234_0000_FFFF ^ (y | 0x1F << 40)),
]
"""What one operation makes of two words; of one, below."""
OF_ONE: list[tuple[str, Callable[[int], int]]] = [
    ("constant", lambda x: (x | 0x7F) ^ 0xFF << 56),
    ("shift", lambda x: x << 9),
    ("shift", lambda x: x >> 23),
    ("shift", lambda x: x << 56 | x >> 8),
    ("turn", lambda x: int.from_bytes(x.to_bytes(8, "big"), "little")),
    ("offset", lambda x: x + 0x1234_5678_9ABC_DEF0),
    ("offset", lambda x: 0x1234 - x),
]


def some_program(words: Words, kinds: Kinds, cases: list[tuple[tuple[int, ...], int]]) -> bool:
    require_module("pysat")
    from pysat.solvers import Solver

    with Solver(name="glucose4", bootstrap_with=right_for(words, kinds, cases).clauses) as solver:
        return bool(solver.solve())


@pytest.mark.slow
def test_an_operation_is_of_its_kind_alone() -> None:
    chance = Random(1)
    pairs = [(chance.getrandbits(64), chance.getrandbits(64)) for _ in range(3)]
    for words, kind, two in OPERATIONS:
        cases = [((x, y), two(x, y) & ALL) for x, y in pairs]
        assert [other for other in KINDS if some_program(words, (other,), cases)] == [kind]
    for kind, one in OF_ONE:
        cases = [((x,), one(x) & ALL) for x, _ in pairs]
        assert kind in [other for other in KINDS if some_program(GENERAL, (other,), cases)]
        wrong = [*cases[:2], (cases[2][0], cases[2][1] ^ 1 << 17)]
        assert not some_program(GENERAL, (kind,), wrong)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "goal", "kinds"),
    [
        (GENERAL, "east", ("constant", "sum", "function", "constant")),
        (VECTORS, "east", ("sum", "sum", "function")),
        *((VECTORS, goal, ("sum",)) for goal in BY_BYTES),
        (GENERAL, "byte-sums", ("constant", "constant", "sum", "function", "constant", "function")),
    ],
)
def test_what_kernels_do_is_not_ruled_out(words: Words, goal: str, kinds: Kinds) -> None:
    assert some_program(words, kinds, [*islice(GOALS[goal](), 2)])


@pytest.mark.slow
def test_two_operations_do_not_give_the_attacks_to_the_east() -> None:
    require_module("pysat")
    for at, kinds in enumerate([*product(KINDS, repeat=2)][::3]):
        ruled = ruled_out((GENERAL, VECTORS)[at % 2], "east", kinds)
        assert ruled is not None
        if at == 0:
            clauses = [[int(literal) for literal in line.split()[:-1]] for line in ruled.formula.splitlines()[1:]]
            assert check(clauses, ruled.certificate.splitlines()) == ruled.derived


def test_one_operation_gives_no_sums_of_bytes_in_general_registers() -> None:
    require_module("pysat")
    assert all(ruled_out(GENERAL, "byte-sums", (kind,)) for kind in ("sum", "function"))
    assert ruled_out(VECTORS, "byte-sums", ("sum",)) is None
