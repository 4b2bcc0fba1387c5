"""What a description may not say is refused in one line, where it is said; what it may say means what it means."""

from collections.abc import Callable

import pytest

from setwise.codegen.board import EAST, NORT
from setwise.codegen.ir.control import at_least, below, nonzero, repeat, switch, table, when, while_
from setwise.codegen.ir.layout import Layout, halves
from setwise.codegen.ir.ray import RuntimeRay
from setwise.codegen.ir.values import CompassRay, Value, constant, parameter
from setwise.codegen.lower import lower
from tests.codegen.programs import routine

A, B, TWO, FOUR = parameter(0), parameter(1), parameter(2, 2), parameter(2, 4)
NORTH = CompassRay((NORT,))
FOUR_WAYS = CompassRay((NORT, EAST, NORT.opposite, EAST.opposite))


@pytest.mark.parametrize(
    ("describe", "complaint"),
    [
        (lambda: A << -3, "cannot shift by -3: shift by 3 in the other direction"),
        (lambda: FOUR >> (1, 2, -3, 4), "cannot shift by -3: shift by 3 in the other direction"),
        (lambda: FOUR << (1, 2), "2 shift counts for 4 lanes"),
        (lambda: A & FOUR, "lanes"),
        (lambda: FOUR_WAYS.step(TWO), "a ray of 4 directions"),
        (lambda: FOUR_WAYS.path(TWO), "a ray of 4 directions"),
        (lambda: NORTH.step(A, 0), "from 1 to 7, not 0"),
        (lambda: NORTH.step(A, 8), "from 1 to 7, not 8"),
        (lambda: NORTH.run(A, 0), "from 1 to 7, not 0"),
        (lambda: RuntimeRay.of(B).run(A, -1), "from 1 to 7, not -1"),
        (lambda: RuntimeRay.of(B).step(FOUR), "takes one board, not 4 lanes"),
        (lambda: RuntimeRay.of(constant(8)), "no direction number 8"),
        (lambda: at_least(A, 0), "a bound must be from 1 to 2\\*\\*31 - 1, or 2\\*\\*63, not"),
        (lambda: at_least(A, 1 << 31), "a bound must be from 1 to 2\\*\\*31 - 1, or 2\\*\\*63, not"),
        (lambda: below(A, 0), "a bound must be from 1 to 2\\*\\*31 - 1, or 2\\*\\*63, not"),
        (lambda: repeat(-1, lambda a: (a,), A), "not -1"),
        (lambda: repeat(2, lambda a: a, A), "functions that return tuples"),
        (lambda: repeat(2, lambda a: (a, a), A), "return 1 values from this loop, when or switch, not 2"),
        (lambda: repeat(2, lambda a: (a, a), constant(1)), "return 1 values from this loop, when or switch, not 2"),
        (lambda: repeat(2, lambda a: (FOUR,), A), "the lanes of a value change from 1 to 4 in this loop, when"),
        (lambda: when(nonzero(A), lambda a, b: (a,), A, B), "return 2 values from this loop, when or switch, not 1"),
        (lambda: when(A, lambda a: (a,), B), "must come from nonzero, equal, below or at_least, not Value"),  # type: ignore[arg-type]
        (lambda: while_(lambda a: a, lambda a: (a,), B), "must come from nonzero, equal, below or at_least, not Value"),
        (
            lambda: switch(A & 1, [lambda a: (a,), lambda a: ()], B),
            "return 1 values from this loop, when or switch, not 0",
        ),
        (lambda: switch(constant(2), [lambda a: (a,)] * 2, B), "no number 2 among 2 functions: choose 0 to 1"),
        (lambda: table((1, 2), constant(2)), "no number 2 among 2 entries: choose 0 to 1"),
        (lambda: table((1, 256), A, size=1), "from 0 to 255, not 256"),
        (lambda: table((1, -1), A), "not -1"),
        (lambda: table((1, 2), A, size=2), "1, 4 or 8 bytes, not 2"),
        (lambda: table((), A), "at least one entry"),
    ],
)
def test_one_line_says_what_is_wrong(describe: Callable[[], object], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as error:
        describe()
    assert "\n" not in str(error.value)


def _leaking(kind: str, a: Value, b: Value) -> tuple[Value, ...]:
    """What is made in a body, taken from outside it."""
    leaked: list[Value] = []

    def body(x: Value) -> tuple[Value, ...]:
        leaked.append(x + b)
        return (x ^ leaked[0],)

    if kind == "loop":
        return repeat(3, body, a)[0], leaked[0]
    if kind == "when":
        (outside,) = when(nonzero(b), body, a)
        return (repeat(2, lambda y: (y & leaked[0],), outside)[0],)
    return switch(a & 1, (body, body), b)


@pytest.mark.parametrize("kind", ["loop", "when", "another body"])
def test_what_a_body_makes_stays_in_it(kind: str) -> None:
    with pytest.raises(ValueError, match="outside the loop, when or switch") as error:
        lower(routine(lambda a, b: _leaking(kind, a, b)[-1:], 2))
    assert "\n" not in str(error.value)


def test_a_body_in_a_body_takes_what_the_outer_one_makes() -> None:
    def outer(x: Value) -> tuple[Value, ...]:
        inside = x ^ 5
        return when(nonzero(x & 1), lambda y: (y + inside,), inside)

    assert lower(routine(lambda a, b: repeat(2, outer, a ^ b), 2))


def test_a_value_of_another_routine_has_no_meaning() -> None:
    kept: list[Value] = []

    def keeping(a: Value, b: Value) -> tuple[Value, ...]:
        kept.extend((a, a & b))
        return (a ^ b,)

    lower(routine(keeping, 2))
    for value in kept[:2]:
        with pytest.raises(ValueError, match="a value of another routine"):
            lower(routine(lambda a, b, value=value: (a | value,), 2))


def test_what_is_no_value_is_not_carried() -> None:
    with pytest.raises(TypeError, match="integer"):
        repeat(2, lambda a: (None,), A)  # type: ignore[arg-type, return-value]


def test_a_loop_that_goes_round_no_times_changes_nothing() -> None:
    assert repeat(0, lambda a, b: (b, a), A, B) == (A, B)
    assert repeat(0, lambda a: (a << 1,), constant(5))[0].number == 5


def test_what_goes_round_for_very_long_goes_round_in_the_code() -> None:
    (last,) = repeat(1 << 40, lambda a: (a + 1,), constant(0))
    (never,) = while_(nonzero, lambda a: (a,), constant(1))
    assert [value.region is not None and value.region.kind for value in (last, never)] == ["loop", "loop"]
    assert repeat(1000, lambda a: (a + 1,), constant(0))[0].number == 1000


def test_a_number_may_stand_where_a_carried_value_does() -> None:
    assert [v.number for v in while_(lambda n, _: nonzero(n), lambda n, m: (n >> 1, m + 1), 9, 0)] == [0, 4]
    assert len(repeat(2, lambda a, n: (a + n, 3), A, 5)) == 2


def test_rotates_take_any_count() -> None:
    assert constant(1).rotate(-1).number == constant(1).rotate(127).number == 1 << 63


def test_a_direction_that_is_known_is_a_ray_of_the_compass() -> None:
    assert RuntimeRay.of(constant(7)).step(constant(1), 2).number == 1 << 16


def test_lanes_of_constants_are_constants() -> None:
    layout = Layout(4)
    assert layout.union([constant((1, 2, 4, 8)), constant(0x10)]).number == 0x1F
    assert layout.union([]).number == 0
    assert layout.board(FOUR_WAYS, constant(3)).constant == (3,) * 4
    assert [half.constant for half in halves(constant((1, 2, 3, 4)))] == [(1, 2), (3, 4)]


def test_a_constant_of_one_lane_is_the_same_in_each() -> None:
    spread: Value = FOUR & constant(7)
    assert spread.args[1].constant == (7,) * 4


def test_a_ray_of_several_directions_takes_one_board_for_all() -> None:
    assert FOUR_WAYS.step(constant(1 << 9)).constant == (1 << 17, 1 << 10, 1 << 1, 1 << 8)
    assert FOUR_WAYS.step(A).lanes == FOUR_WAYS.run(A, 2).lanes == FOUR_WAYS.path(A).lanes == 4


def test_numbers_stand_on_either_side() -> None:
    six = constant(6)
    either = (3 & six, 1 | six, 3 ^ six, 1 + six, 7 - six, 2 * six, 1 << six)
    assert [value.number for value in either] == [2, 7, 5, 7, 1, 12, 64]
    assert (0 | A) is A
