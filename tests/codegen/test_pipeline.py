"""Choosing among forms: the shortest code is taken, and no form is given up that is better."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf

import pytest

from setwise.codegen import pipeline
from setwise.codegen.catalogue import find
from setwise.codegen.kernel import Kernel, plan
from setwise.codegen.lower import lower
from setwise.codegen.passes.schedule import estimate
from setwise.codegen.passes.state import SizeLimit
from setwise.codegen.pipeline import MOST_FORMS, REFINEMENTS, lower_forms, refine, select_best, size
from setwise.codegen.targets import target_named
from setwise.codegen.targets.vector import GFNI

SEVERAL = [("push.attacks.nort", "x86-64"), ("kogge-stone.attacks.rook", "bmi2")]


def offered(name: str, isa: str) -> Iterator[Kernel]:
    """Each form, and what else is tried of it."""
    for form in lower_forms(plan(find(name), target_named(isa), "sysv", None)):
        yield form.kernel
        for refinement in REFINEMENTS:
            yield from (state.kernel for state in refine(refinement, form))


@pytest.mark.parametrize(("name", "isa"), SEVERAL)
def test_several_variants_are_offered_and_none_twice(name: str, isa: str) -> None:
    kernels = list(offered(name, isa))
    assert 1 < len(kernels) <= 2 * MOST_FORMS
    assert len({kernel.code for kernel in kernels}) == len(kernels)


@pytest.fixture
def nothing_is_known() -> Iterator[None]:
    for cached in (pipeline._shortest, pipeline._select_best):
        cached.cache_clear()
    yield
    for cached in (pipeline._shortest, pipeline._select_best):
        cached.cache_clear()


@pytest.mark.usefixtures("nothing_is_known")
@pytest.mark.parametrize(("name", "isa"), SEVERAL)
def test_no_form_is_lost_because_not_all_are_asked_to_the_end(
    name: str, isa: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = plan(find(name), target_named(isa), "sysv", None)
    first = [form.kernel.code for form in lower_forms(asked)]
    monkeypatch.setattr(pipeline, "estimate", lambda state, _: estimate(state, inf))
    pipeline._shortest.cache_clear()
    assert [form.kernel.code for form in lower_forms(asked)] == first


@pytest.mark.usefixtures("nothing_is_known")
@pytest.mark.parametrize(
    ("name", "isa"), [*SEVERAL, ("kogge-stone.attacks.nort.batch", "avx2"), ("sliders.sides-empty", "x86-64")]
)
def test_no_form_is_given_up_that_is_better(name: str, isa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = plan(find(name), target_named(isa), "sysv", None)
    limited = select_best(asked)
    assert size(limited) <= min(map(size, offered(name, isa)))
    monkeypatch.setattr(pipeline, "size_limit", lambda *_, **__: SizeLimit())
    pipeline._select_best.cache_clear()
    assert select_best(asked).code == limited.code


@pytest.mark.parametrize(("name", "lanes", "same"), [("push.attacks.sout", 8, True), ("sliders.union", 8, False)])
def test_a_set_that_adds_nothing_to_a_routine_has_the_kernel_of_the_one_that_it_extends(
    name: str, lanes: int, same: bool
) -> None:
    asked = plan(find(name), GFNI, "sysv", lanes)
    taken = select_best(asked)
    assert (taken.code == lower(find(name), "avx512", lanes=lanes).code) == same
    assert taken.target is GFNI
    assert select_best(replace(asked, target=replace(GFNI, extends=None))).code == taken.code
