"""What is too long is told by what code takes at least: never of code that is as long as allowed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from setwise.codegen.catalogue import find
from setwise.codegen.kernel import plan
from setwise.codegen.lower import PIPELINE
from setwise.codegen.passes.unit import Most, Unit
from setwise.codegen.registers import allocate
from setwise.codegen.registers.machine import TooLong
from setwise.codegen.targets import target_named
from setwise.codegen.variants import size, through, variants

CROWDED = [
    ("sliders.pieces", "x86-64", "sysv"),
    ("sliders.union-empty.batch", "avx512", "sysv"),
    ("sliders.union-empty.batch", "sse2", "win64"),
    ("sliders.rays-empty", "x86-64", "win64"),
]


def forms(name: str, isa: str, abi: str) -> list[Unit]:
    """The forms of a kernel, each with its code."""
    return [*variants(PIPELINE, plan(find(name), target_named(isa), abi, None))]


@pytest.mark.parametrize(("name", "isa", "abi"), [*CROWDED, ("kogge-stone.attacks.any", "bmi2", "win64")])
def test_code_is_made_where_it_is_as_long_as_allowed(name: str, isa: str, abi: str) -> None:
    for form in forms(name, isa, abi):
        length, moves, _ = size(form.kernel)
        allowed = through(PIPELINE.code, replace(form, most=Most(length, -moves)))
        assert allowed.code == form.code


def test_no_search_begins_for_what_is_surely_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """One instruction less than where most live asks for, or one move more than there is room for."""
    made = forms(*CROWDED[0])
    monkeypatch.delattr(allocate, "_Search")
    for form in made:
        length, moves, _ = size(form.kernel)
        for most in (Most(length - 1), Most(length, 1 - moves)):
            with pytest.raises(TooLong):
                through(PIPELINE.code, replace(form, most=most))
