"""Room between values in a told order: who would wait lets others by, and all else stays as it was told."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from setwise.codegen.describe.values import Value, make, parameter
from setwise.codegen.passes.spacing import APART, spaced
from setwise.codegen.passes.stretch import Stretch
from setwise.codegen.targets import target_named

LANES, ROOM = 8, 14
TARGET = target_named("avx512")
LEAVES = [parameter(at, LANES) for at in range(3)]


def stretch_of(values: list[Value]) -> Stretch:
    """The values in a row, of which nobody reads the last ones until the end."""
    read = {arg for value in values for arg in value.args}
    return Stretch(values, [value for value in values if value not in read], TARGET, ROOM)


def chains(number: int, steps: int) -> list[list[Value]]:
    """So many chains of steps, of which each waits for the one before."""
    made = []
    for at in range(number):
        chain = [make("xor", LEAVES[0], at + 1)]
        for _ in range(steps - 1):
            chain.append(make("add-bytes", chain[-1], LEAVES[1]))
        made.append(chain)
    return made


@st.composite
def stretches(draw: st.DrawFn) -> Stretch:
    """Values of which each reads two that were there, often the last ones."""
    values: list[Value] = []
    for _ in range(draw(st.integers(1, 60))):
        there = [*LEAVES, *values][-draw(st.integers(1, 40)) :]
        values.append(Value("and", (draw(st.sampled_from(there)), draw(st.sampled_from(there))), lanes=LANES))
    return stretch_of(values)


@given(stretches())
def test_every_value_comes_once_and_after_what_it_is_made_of(stretch: Stretch) -> None:
    order = spaced(stretch)
    assert sorted(order) == list(range(len(stretch)))
    at = {i: place for place, i in enumerate(order)}
    assert all(at[arg] < at[i] for i in order for arg in stretch.before[i])


def test_who_waits_lets_others_by() -> None:
    told = chains(APART, 3)
    stretch = stretch_of([value for chain in told for value in chain])
    at = {i: place for place, i in enumerate(spaced(stretch))}
    assert min(at[i] - at[arg] for i in at for arg in stretch.before[i]) >= APART - 1


def test_where_nobody_waits_the_order_is_the_one_told() -> None:
    told = chains(2 * APART, 2)
    stretch = stretch_of([chain[step] for step in range(2) for chain in told])
    assert spaced(stretch) == list(range(len(stretch)))


def test_who_finds_no_register_waits_for_one() -> None:
    """Where few registers are left chains end before others begin, though each of their steps then waits."""
    others = [parameter(at, LANES) for at in range(3, TARGET.vectors - 3)]
    values, together = [], LEAVES[2]
    for chain in chains(2 * APART, 3):
        together = make("or", together, chain[-1])
        values += [*chain, together]
    stretch = Stretch(values, [*LEAVES, *others, together], TARGET, ROOM)
    left, live = [*stretch.uses], 0
    for i in spaced(stretch):
        live += 1 - sum(left[arg] == 1 for arg in stretch.before[i])
        for arg in stretch.args[i]:
            left[arg] -= 1
        assert live <= TARGET.vectors - len(LEAVES) - len(others)
