"""The verifier accepts the IR after every pass, and notices IR that breaks its rules."""

from collections.abc import Callable

import pytest

from setwise.codegen import pipeline
from setwise.codegen.catalogue import find
from setwise.codegen.ir.graph import Graph
from setwise.codegen.ir.values import Value, constant, parameter
from setwise.codegen.kernel import plan
from setwise.codegen.passes.state import Block, State
from setwise.codegen.targets import target_named
from tests.codegen.passes.verifier import InvalidIR, verify, verify_block, verify_graph

SAMPLE = [
    (name, isa)
    for name in ("kogge-stone.attacks.noEa", "dumb7.occluded-until-dry.sout", "exploding.bishop", "sliders.union")
    for isa in ("x86-64", "bmi2", "sse2", "avx2", "avx512", "gfni")
    if isa in find(name).isas
] + [("sliders.union.batch", "avx2"), ("kogge-stone.attacks.queen.batch", "x86-64"), ("side.pieces.white", "sse2")]


@pytest.mark.parametrize(("name", "isa"), SAMPLE)
def test_every_pass_leaves_valid_ir(name: str, isa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    after: list[str] = []

    def verified(step: Callable[[State], State]) -> Callable[[State], State]:
        def run(state: State) -> State:
            made = step(state)
            verify(made)
            after.append(step.__name__)
            return made

        return run

    monkeypatch.setattr(
        pipeline, "run_passes", lambda passes, state: [state := verified(step)(state) for step in passes][-1]
    )
    for step in (
        "trace_pass",
        "expand_pass",
        "simplify_in_place_pass",
        "simplify_pass",
        "balance_pass",
        "select_pass",
        "join_pass",
    ):
        monkeypatch.setattr(pipeline, step, verified(getattr(pipeline, step)))
    for cached in ("select_best", "_shortest", "selected_forms", "_forms", "_traced"):
        getattr(pipeline, cached).cache_clear()
    pipeline.select_best(plan(find(name), target_named(isa), "sysv", None))
    for cached in ("select_best", "_shortest", "selected_forms", "_forms", "_traced"):
        getattr(pipeline, cached).cache_clear()
    assert {"trace_pass", "expand_pass", "simplify_pass", "select_pass", "schedule_pass", "spill_pass"} <= {*after}


def test_broken_ir_is_noticed() -> None:
    a, b = parameter(0), parameter(1)
    both = Value("and", (a, b))
    twice = Value("or", (both, a))
    verify_block(Block((both, twice)), frozenset(), set())
    for block, rule in (
        (Block((twice, both)), "dominate"),
        (Block((both, both)), "second definition"),
    ):
        with pytest.raises(InvalidIR, match=rule):
            verify_block(block, frozenset(), set())
    for value, rule in (
        (Value("and", (constant(1, 4), a)), "other lanes"),
        (Value("const", attr=(1, 2), lanes=4), "other lanes"),
        (Value("and", (a, b), lanes=3), "lanes that no register has"),
    ):
        with pytest.raises(InvalidIR, match=rule):
            verify_graph(Graph((a, b), (value,)))
