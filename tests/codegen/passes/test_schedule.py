"""The order of values: what is reordered keeps its sense, costs no move more, and ends sooner."""

from dataclasses import replace

import pytest

from setwise.codegen.catalogue import find
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.values import Value, parameter
from setwise.codegen.lower import lower
from setwise.codegen.passes.code_motion import place_values
from setwise.codegen.passes.schedule import latency_schedule_pass, schedule_pass
from setwise.codegen.passes.state import Block, State
from setwise.codegen.passes.ternary import map_ternary
from setwise.codegen.pipeline import CODE, run_passes

LONG = [
    ("dumb7.attacks.queen", "x86-64"),
    ("kogge-stone.attacks.queen", "x86-64"),
    ("kogge-stone.attacks.rook", "bmi2"),
]


def ordered(name: str, isa: str) -> tuple[State, Block, Block]:
    """A routine in the target's operations, their order, and the one that ends sooner."""
    kernel = lower(find(name), isa)
    graph = kernel.selected
    state = State(kernel.routine, kernel.layout, kernel.routine.descriptions[0], target=kernel.target, graph=graph)
    state = schedule_pass(replace(state, block=place_values(graph)))
    return state, state.block, latency_schedule_pass(state).block


def values(block: Block) -> list[Value]:
    """Those of straight code."""
    return [item for item in block.items if isinstance(item, Value)]


def end(order: list[Value]) -> int:
    """The cycle in which the last is done on a machine that begins with four values a cycle, in their order."""
    done: dict[Value, int] = {}
    for at, value in enumerate(order):
        done[value] = 1 + max([at // 4, *(done.get(arg, 0) for arg in value.args)])
    return max(done.values())


@pytest.mark.parametrize(("name", "isa"), LONG)
def test_the_last_rays_are_interleaved_so_that_a_set_ends_sooner(name: str, isa: str) -> None:
    _, before, after = ordered(name, isa)
    assert end(values(after)) < 0.95 * end(values(before))


@pytest.mark.parametrize(("name", "isa"), LONG)
def test_every_value_still_comes_after_what_it_is_made_of(name: str, isa: str) -> None:
    _, before, after = ordered(name, isa)
    order = values(after)
    assert set(order) == set(values(before))
    assert len(order) == len(set(order))
    place_of = {value: at for at, value in enumerate(order)}
    assert all(place_of[arg] < at for value, at in place_of.items() for arg in value.args if arg in place_of)


@pytest.mark.parametrize(("name", "isa"), LONG)
def test_to_end_sooner_costs_no_instruction(name: str, isa: str) -> None:
    state, before, after = ordered(name, isa)
    lengths = [len(run_passes(CODE, replace(state, block=block)).code.instructions) for block in (before, after)]
    assert lengths[1] <= lengths[0]


def test_one_ray_has_one_order() -> None:
    """Its steps wait for each other, so the very same block comes back."""
    _, before, after = ordered("dumb7.attacks.sout", "x86-64")
    assert after is before


@pytest.mark.parametrize("turned", [False, True])
def test_what_is_ready_last_is_what_a_ternary_overwrites(turned: bool) -> None:
    flood, empty = parameter(0, 8), parameter(1, 8)
    later = Value("rotl", (flood,), (9,) * 8, 8)
    step = empty & later if turned else later & empty
    made = map_ternary(Graph((flood, empty), (flood | step,)), frozenset({8})).results[0]
    assert made.op == "ternary"
    assert made.args[0].op == "rotl"
