"""Whole words: what instructions do is not ruled out, and what is ruled out no program of one operation does."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice, permutations, product
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


def some_picks(chance: Random, words: Words, kinds: Kinds) -> list[list[int]]:
    """What the operations of a program of these kinds take, so that all is used."""
    while True:
        taken = [{"function": words.inputs, "sum": 2}.get(kind, 1) for kind in kinds]
        picks = [[chance.randrange(2 + at) for _ in range(number)] for at, number in enumerate(taken)]
        if {*range(1 + len(kinds))} == {one for each in picks for one in each}:
            return picks


def some_value(chance: Random, words: Words, kind: str, at: list[int]) -> Callable[[list[int]], int]:
    """An operation of a kind, of these values."""
    tables = [chance.getrandbits(1 << len(at)) for _ in range(64 if words.constants else 1)] * 64
    constant, distance, place = chance.getrandbits(64), chance.randrange(1, 64), chance.getrandbits(2)
    width, scale = chance.choice(words.widths), chance.choice(words.scales)
    masks = [-chance.getrandbits(1) & ALL for _ in range(2)]

    def parts(word: int) -> list[int]:
        return [word >> low & (1 << width) - 1 for low in range(0, 64, width)]

    def value(values: list[int]) -> int:
        x, y = values[at[0]], values[at[-1]]
        if kind == "function":
            rows = [sum((values[one] >> square & 1) << bit for bit, one in enumerate(at)) for square in range(64)]
            return sum((tables[square] >> row & 1) << square for square, row in enumerate(rows))
        if kind == "constant":
            return (x & constant, x | constant, x ^ constant, ~x & constant)[place]
        if kind == "shift":
            return (x << distance & ALL, x >> distance, (x << distance | x >> 64 - distance) & ALL)[place % 3]
        if kind == "turn":
            return int.from_bytes(x.to_bytes(8, "big"), "little")
        second = constant if kind == "offset" else y << scale & ALL
        pairs = zip(parts(x ^ masks[0]), parts(second ^ masks[1]), strict=True)
        sums = [(one + other + place % 2) % (1 << width) for one, other in pairs]
        return sum(part << low for part, low in zip(sums, range(0, 64, width), strict=True))

    return value


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_what_a_program_computes_is_not_ruled_out_in_every_order(seed: int) -> None:
    """Of any kinds: some program of those in another order does it, or a shorter one, which leaves out one or more."""
    chance, words = Random(seed), (GENERAL, VECTORS)[seed % 2]
    kinds = (*(chance.choice(KINDS) for _ in range(2)), chance.choice(("function", "sum")))
    cases = [[chance.getrandbits(64), chance.getrandbits(64)] for _ in range(4)]
    for kind, picks in zip(kinds, some_picks(chance, words, kinds), strict=True):
        operation = some_value(chance, words, kind, picks)
        for values in cases:
            values.append(operation(values))
    wanted = [((x, y), last) for x, y, *_, last in cases]
    some = {order for number in (1, 2, 3) for order in permutations(kinds, number)}
    assert any(some_program(words, order, wanted) for order in sorted(some))


@pytest.mark.slow
def test_two_operations_do_not_give_the_attacks_to_the_east() -> None:
    require_module("pysat")
    for at, kinds in enumerate([*product(KINDS, repeat=2)][::3]):
        ruled = ruled_out((GENERAL, VECTORS)[at % 2], "east", kinds)
        assert ruled is not None
        if at == 0:
            clauses = [
                [int(literal) for literal in line.split()[:-1]] for line in ruled.formula.dimacs().splitlines()[1:]
            ]
            assert check(clauses, ruled.certificate.splitlines()) == ruled.derived


def test_one_operation_gives_no_sums_of_bytes_in_general_registers() -> None:
    require_module("pysat")
    assert all(ruled_out(GENERAL, "byte-sums", (kind,)) for kind in ("sum", "function"))
    assert ruled_out(VECTORS, "byte-sums", ("sum",)) is None
