"""Searches alike go one way: what one has found, the others take, and it is what they would have found."""

from collections.abc import Iterator

import pytest

from setwise.codegen.catalogue import find
from setwise.codegen.kernel import plan
from setwise.codegen.machine.code import Code
from setwise.codegen.pipeline import lower_forms
from setwise.codegen.regalloc import allocate
from setwise.codegen.targets import target_named


@pytest.fixture(autouse=True)
def no_way_is_known() -> Iterator[None]:
    allocate._paths.cache_clear()
    yield
    allocate._paths.cache_clear()


def code(name: str, isa: str, abi: str = "sysv") -> Code:
    return next(lower_forms(plan(find(name), target_named(isa), abi, None))).code


def searches() -> int:
    return allocate._paths.cache_info().misses


@pytest.mark.parametrize("isa", ["x86-64", "avx2"])
@pytest.mark.parametrize("name", ["dumb7.occluded.{}", "kogge-stone.attacks.{}.batch"])
def test_directions_share_their_search(name: str, isa: str) -> None:
    alone = code(name.format("noWe"), isa)
    allocate._paths.cache_clear()
    code(name.format("noEa"), isa)
    before = searches()
    assert code(name.format("noWe"), isa) == alone
    assert searches() == before


def test_what_the_search_asks_tells_searches_apart() -> None:
    code("kogge-stone.attacks.noEa", "x86-64")
    for name, isa, abi in (
        ("kogge-stone.attacks.noEa", "x86-64", "win64"),  # other registers
        ("kogge-stone.attacks.noEa", "bmi2", "sysv"),  # other rows
        ("kogge-stone.attacks.east", "x86-64", "sysv"),  # a shift by one is a sum
        ("kogge-stone.occluded.noEa", "x86-64", "sysv"),
    ):
        before = searches()
        code(name, isa, abi)
        assert searches() > before
