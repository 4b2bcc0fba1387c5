"""Choosing among variants: the objective that is given decides, and the shortest code is taken where none is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import inf

import pytest

from setwise.codegen.catalogue import find
from setwise.codegen.kernel import Kernel, plan
from setwise.codegen.lower import PIPELINE, lower
from setwise.codegen.targets import target_named
from setwise.codegen.targets.vector import GFNI
from setwise.codegen.variants import MOST_FORMS, again, best, size, variants

SEVERAL = [("push.attacks.nort", "x86-64"), ("kogge-stone.attacks.rook", "bmi2")]


def offered(name: str, isa: str) -> Iterator[Kernel]:
    """Each form, and what else is tried of it."""
    for form in variants(PIPELINE, plan(find(name), target_named(isa), "sysv", None)):
        yield form.kernel
        for step in PIPELINE.again:
            yield from (unit.kernel for unit in again(PIPELINE, step, form))


@pytest.mark.parametrize(("name", "isa"), SEVERAL)
def test_several_variants_are_offered_and_none_twice(name: str, isa: str) -> None:
    kernels = list(offered(name, isa))
    assert 1 < len(kernels) <= 2 * MOST_FORMS
    assert len({kernel.code for kernel in kernels}) == len(kernels)


@pytest.mark.parametrize(("name", "isa"), SEVERAL)
def test_no_form_is_lost_because_not_all_are_asked_to_the_end(name: str, isa: str) -> None:
    asked = plan(find(name), target_named(isa), "sysv", None)
    to_the_end = PIPELINE._replace(promise=lambda unit, _: PIPELINE.promise(unit, inf))
    first, second = ([form.kernel.code for form in variants(line, asked)] for line in (PIPELINE, to_the_end))
    assert first == second


@pytest.mark.parametrize(("name", "isa"), SEVERAL)
def test_the_objective_decides(name: str, isa: str) -> None:
    kernels = list(offered(name, isa))
    assert size(lower(find(name), isa)) == min(map(size, kernels))
    for wanted in (kernels[0], kernels[-1]):

        def objective(kernel: Kernel, wanted: Kernel = wanted) -> tuple[bool, bool]:
            return kernel.selected.shape != wanted.selected.shape, kernel.code != wanted.code

        assert best(PIPELINE, plan(find(name), target_named(isa), "sysv", None), objective).code == wanted.code


@pytest.mark.parametrize(
    ("name", "isa"), [*SEVERAL, ("kogge-stone.attacks.nort.batch", "avx2"), ("sliders.sides-empty", "x86-64")]
)
def test_no_form_is_given_up_that_is_better(name: str, isa: str) -> None:
    to_the_end = partial(size)  # of any objective but `size` itself nothing is known before the end
    asked = plan(find(name), target_named(isa), "sysv", None)
    assert best(PIPELINE, asked, to_the_end).code == lower(find(name), isa).code


@pytest.mark.parametrize(("name", "lanes", "same"), [("push.attacks.sout", 8, True), ("sliders.union", 8, False)])
def test_a_set_that_adds_nothing_to_a_routine_has_the_kernel_of_the_one_that_it_extends(
    name: str, lanes: int, same: bool
) -> None:
    asked = plan(find(name), GFNI, "sysv", lanes)
    taken = best(PIPELINE, asked, size)
    assert (taken.code == lower(find(name), "avx512", lanes=lanes).code) == same
    assert taken.target is GFNI
    assert best(PIPELINE, replace(asked, target=replace(GFNI, extends=None)), size).code == taken.code
