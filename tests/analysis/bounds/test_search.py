"""Fewest operations: what the formula says is what trying every program says, and what is found is right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, count, product
from random import Random

import pytest

from setwise.analysis.bounds.certificate import BrokenCertificate, check
from setwise.analysis.bounds.programs import ANY, KINDS, Function, Kinds, Model, Program, Shift, kinds_of, on_line, text
from setwise.analysis.bounds.search import (
    Found,
    Refuted,
    Undecided,
    asked,
    decide,
    monotone,
    on_ring,
    refuted,
    worth_asking,
)
from tests.conftest import require_module

SLOW, LONG = (pytest.mark.slow,), (pytest.mark.slow, pytest.mark.long)
KNOWN = [
    pytest.param(2, 2, 4),
    pytest.param(2, 3, 3),
    pytest.param(3, 3, 5, marks=SLOW),
    pytest.param(3, 2, 7, marks=SLOW),
    pytest.param(4, 3, 7, marks=SLOW),
    pytest.param(4, 2, 9, marks=LONG),
    pytest.param(5, 3, 8, marks=LONG),
]
"""Reach, inputs, fewest operations."""


def fewest_of_all(model: Model) -> int:
    """The fewest operations, by trying every program: a value is what it is on every input, bit beside bit."""
    pairs = list(product(range(1 << model.ring), repeat=2))

    def joined(words: Iterator[int]) -> int:
        return sum(word << at * model.ring for at, word in enumerate(words))

    every = joined(model.attacks((1 << model.ring) - 1, 0) for _ in pairs)
    wanted = joined(model.attacks(*pair) for pair in pairs)
    words = (1 << model.ring) - 1

    def shifted(value: int, distance: int) -> int:
        return joined(model.shifted(value >> at * model.ring & words, distance) for at in range(len(pairs)))

    def next_values(values: tuple[int, ...]) -> set[int]:
        found = {shifted(value, distance) for value in values for distance in range(1, model.ring)}
        for sources in combinations(values, min(model.inputs, len(values))):
            rows = [every]
            for value in sources:
                rows = [part for row in rows for part in (row & value, row & ~value)]
            for table in product((0, 1), repeat=len(rows)):
                found.add(sum(row for row, bit in zip(rows, table, strict=True) if bit))
        return found - set(values)

    programs = {tuple(joined(pair[at] for pair in pairs) for at in (0, 1))}
    for operations in count(1):
        grown = set()
        for values in programs:
            following = next_values(values)
            if wanted in following:
                return operations
            grown |= {(*values, value) for value in following}
        programs = grown
    raise AssertionError


def any_kinds(operations: int) -> list[Kinds]:
    return [(ANY,) * operations]


def each_kind(operations: int) -> list[Kinds]:
    return [*product(KINDS, repeat=operations)]


def fewest(model: Model, asking: Callable[[int], list[Kinds]] = any_kinds) -> int:
    return next(
        number for number in count(1) if any(not isinstance(on_ring(model, kinds), Refuted) for kinds in asking(number))
    )


@pytest.mark.parametrize(
    "model",
    [
        Model(2, 3, 2),
        pytest.param(Model(2, 2, 2), marks=SLOW),
        pytest.param(Model(3, 3, 2), marks=SLOW),
        pytest.param(Model(2, 3, 3), marks=SLOW),
    ],
)
def test_no_program_is_left_out(model: Model) -> None:
    require_module("pysat")
    assert fewest(model) == fewest(model, each_kind) == fewest_of_all(model)


class Computed(Model):
    """The model with what a program computes in the place of attacks."""

    program: Program

    def attacks(self, sliders: int, empty: int, reach: int | None = None) -> int:
        return self.result(self.program, sliders, empty)


def some_program(chance: Random, model: Model, operations: int) -> Program:
    """A program in which everything is used if that can be, and nothing is 1 for empty inputs."""
    made: list[Shift | Function] = []
    unused = {0, 1}
    for number in range(2, 2 + operations):
        before = sorted(range(number), key=lambda value: (value not in unused, chance.random()))
        if chance.random() < 0.4:
            sources = before[:1]
            made.append(Shift(sources[0], chance.randrange(1, model.ring)))
        else:
            sources = sorted(before[: model.inputs])
            rows = (chance.randrange(2) for _ in range(2 ** len(sources) - 1))
            made.append(Function(tuple(sources), (0, *rows)))
        unused = unused - {*sources} | {number}
    return tuple(made)


def computing(program: Program, inputs: int) -> Model:
    model = Computed(1, inputs, 3)
    object.__setattr__(model, "program", program)
    return model


AND, OR, XOR = (0, 0, 0, 1), (0, 1, 1, 1), (0, 1, 1, 0)
NEEDED = {
    "two shifts of one value": (
        *(Shift(0, 1), Shift(0, 2), Function((2, 3), XOR), Function((1, 4), AND), Function((3, 5), XOR)),
    ),
    "shifts of both": (Shift(0, 1), Shift(1, 2), Function((0, 2), AND), Function((1, 3), AND), Function((4, 5), XOR)),
    "two functions of the same": (Function((0, 1), AND), Function((0, 1), XOR), Shift(2, 1), Function((3, 4), OR)),
    "a function of three depths": (Function((0, 1), AND), Shift(2, 1), Function((2, 3), XOR), Function((0, 4), XOR)),
    "a shift last": (Shift(0, 2), Function((1, 2), XOR), Function((0, 3), AND), Shift(4, 1)),
}
"""Programs that no shorter one does, of functions of two values."""


@pytest.mark.slow
@pytest.mark.parametrize("what", NEEDED)
def test_what_a_program_needs_is_not_ruled_out(what: str) -> None:
    require_module("pysat")
    program = NEEDED[what]
    model = computing(program, 2)
    assert fewest(model) == len(program)
    found = on_ring(model, kinds_of(program))
    assert not isinstance(found, Refuted)
    assert kinds_of(found) == kinds_of(program)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_what_a_program_computes_some_program_computes(seed: int) -> None:
    require_module("pysat")
    chance, inputs = Random(seed), 2 + seed % 2
    program = some_program(chance, Model(1, inputs, 3), 6 - inputs)
    model = computing(program, inputs)
    values = {pair: model.attacks(*pair) for pair in model.all_inputs()}
    for at in (0, 1):  # programs that leave an input out are not asked for
        if all(values[pair] == values[(0, pair[1]) if at == 0 else (pair[0], 0)] for pair in values):
            return
    assert fewest(model) <= len(program)


def fewest_on_line(reach: int, inputs: int) -> Found:
    for operations in count(1):
        rest = worth_asking(reach, inputs, operations)
        assert rest.any_reach
        quick = (monotone(reach, inputs, kinds) for kinds in rest.but)
        if (found := next(filter(None, quick), None)) is not None:
            return found
        for kinds in rest.but:
            answer = decide(reach, inputs, kinds)
            if isinstance(answer, Found):
                return answer
            assert isinstance(answer, Refuted)
            assert answer.any_reach
    raise AssertionError


@pytest.mark.parametrize(("reach", "inputs", "operations"), KNOWN)
def test_the_fewest_operations(reach: int, inputs: int, operations: int) -> None:
    require_module("pysat")
    assert len(fewest_on_line(reach, inputs).program) == operations


def test_a_certificate_is_of_its_own_formula() -> None:
    """With one operation more there is a program, so nothing shows that there is none."""
    require_module("pysat")
    model = Model(2, 2, 3)
    answer = on_ring(model, (ANY,) * 3)
    assert isinstance(answer, Refuted)
    again = asked(answer.model, answer.kinds, answer.samples)
    assert check(again.clauses, answer.certificate.splitlines()) == answer.derived
    satisfiable = asked(answer.model, (ANY,) * 4, answer.samples).clauses
    with pytest.raises(BrokenCertificate):
        check(satisfiable, answer.certificate.splitlines())
    with pytest.raises(ValueError, match="some program of 4 operations is right for these 0 inputs"):
        refuted(answer.model, (ANY,) * 4, answer.samples)


def test_kinds_that_are_not_asked_about_have_no_program() -> None:
    """Without one of those that are, nothing shows that there is none."""
    require_module("pysat")
    rest = worth_asking(3, 2, 6)
    assert 0 < len(rest.but) < 2**6
    assert ("shift", "function", "shift", "function", "shift", "function") in rest.but
    assert check(asked(rest.model, rest.kinds, (), rest.but).clauses, rest.certificate.splitlines()) == rest.derived
    with pytest.raises(ValueError, match="some program of 6 operations"):
        refuted(rest.model, rest.kinds, (), rest.but[1:])


def test_what_takes_too_long_is_undecided() -> None:
    require_module("pysat")
    kinds = ("shift", "function") * 6
    assert decide(7, 2, kinds, 0.001) == Undecided(0.001)


def test_what_is_right_on_a_ring_is_held_to_the_line() -> None:
    step, model = Shift(0, 1), Model(2, 2, 4)
    two = (step, Function((1, 2), (0, 0, 0, 1)), Shift(3, 1), Function((2, 4), (0, 1, 1, 1)))
    lifted = on_line(two, model)
    assert lifted == two
    assert text(lifted) == "a = sliders << 1; b = empty & a; c = b << 1; d = a | c"
    around = (Shift(0, 2), Shift(2, 3), Function((1, 3), (0, 0, 0, 1)), Shift(4, 1), Function((3, 5), (0, 1, 1, 1)))
    assert on_line(around, model) == (Shift(0, 2), Shift(2, -1), *around[2:])
    back = (Shift(0, 3), *two[1:])
    assert on_line(back, model) is None
    assert on_line((*two[:3], Function((2, 4), (0, 1, 1, 0))), model) is None


@pytest.mark.parametrize("reach", [2, 3])
def test_what_it_depends_on_whether_a_square_is_attacked(reach: int) -> None:
    needed = {*((0, back) for back in range(1, reach + 1)), *((1, back) for back in range(1, reach))}
    assert set(Model(reach, 2, reach + 1).looked_at()) == needed
    assert set(Model(reach, 2, reach + 2).looked_at()) == needed
    assert set(Model(reach + 1, 2, reach + 1).looked_at()) >= needed


def test_attacks_end_at_what_is_not_empty() -> None:
    model = Model(3, 2, 8)
    assert model.attacks(0b1, 0b0000_0010) == 0b0000_0110
    assert model.attacks(0b1, 0b1111_1110) == 0b0000_1110
    assert model.attacks(0b1000_0000, 0b1) == 0b11
    assert model.ends(0b1, 0b10)
    assert not model.ends(0b1, 0b1110)
