"""Choosing among forms: the shortest code is taken, and no form is given up that is better."""

from collections.abc import Iterator
from dataclasses import replace
from math import inf

import pytest

from setwise.codegen import pipeline
from setwise.codegen.catalogue import find
from setwise.codegen.ir.matrices import FALLING, files
from setwise.codegen.kernel import Kernel, plan
from setwise.codegen.lower import lower
from setwise.codegen.passes.state import State
from setwise.codegen.pipeline import MOST_FORMS, REFINEMENTS, lower_forms, refine, select_best, size
from setwise.codegen.regalloc.allocate import allocate_pass
from setwise.codegen.targets import target_named
from setwise.codegen.targets.table import Refused
from tests.codegen.programs import routine as described

SEVERAL = [("push.attacks.nort", "x86-64"), ("kogge-stone.attacks.rook", "bmi2")]


def offered(name: str, isa: str) -> Iterator[Kernel]:
    """Each form, and what else is tried of it."""
    for form in lower_forms(plan(find(name), target_named(isa), "sysv", None)):
        yield form.kernel
        for step, behind, _ in REFINEMENTS:
            yield from (state.kernel for state in refine(step, behind, form))


@pytest.mark.parametrize(("name", "isa"), SEVERAL)
def test_several_variants_are_offered_and_none_twice(name: str, isa: str) -> None:
    kernels = list(offered(name, isa))
    assert 1 < len(kernels) <= 2 * MOST_FORMS
    assert len({kernel.code for kernel in kernels}) == len(kernels)


@pytest.mark.parametrize(
    ("name", "isa"), [*SEVERAL, ("kogge-stone.attacks.nort.batch", "avx2"), ("sliders.sides-empty", "x86-64")]
)
def test_no_form_is_given_up_that_is_better(name: str, isa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def unlimited(state: State) -> State:
        return allocate_pass(replace(state, most=inf))

    limited = select_best(plan(find(name), target_named(isa), "sysv", None))
    code = tuple(unlimited if step is allocate_pass else step for step in pipeline.CODE)
    monkeypatch.setattr(pipeline, "CODE", code)
    assert size(limited) <= min(map(size, offered(name, isa)))


def test_a_description_with_an_operation_that_the_target_lacks_is_left_out() -> None:
    turned, shifted = (
        described(lambda x, how=how: (how(x),), 1, batched=True)
        for how in (lambda x: files(x, FALLING), lambda x: x << 7 ^ x >> 9)
    )
    either = replace(turned, descriptions=(*shifted.descriptions, *turned.descriptions))
    code = {isa: str(lower(either, isa).code) for isa in ("avx512", "gfni")}
    assert "vgf2p8affineqb" in code["gfni"]
    assert code["avx512"] == str(lower(shifted, "avx512").code)
    with pytest.raises(Refused, match="setwise has no avx512 instruction for 'affine'"):
        lower(turned, "avx512")
