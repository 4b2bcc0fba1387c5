"""A bit that a shift drops is subtracted as a borrow, where nothing on the way to the subtraction sets the flags."""

import random
from collections.abc import Callable
from itertools import pairwise, product

import pytest

from setwise.codegen.catalogue import find
from setwise.codegen.ir.control import nonzero, when
from setwise.codegen.ir.operations import ALL
from setwise.codegen.ir.values import Value, make
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.variants import variant_named
from tests.codegen.programs import native, oracle, routine

Description = Callable[[Value, Value, Value], tuple[Value, ...]]
TAKEN: dict[str, Description] = {
    "half": lambda a, b, c: ((a ^ c) - (b >> 1) - (b & 1),),
    "half of a sum": lambda a, b, c: (a - ((b + c) >> 1) - ((b + c) & 1),),
    "flipped": lambda a, b, c: ((a | c) - make("flip", b >> 1) - (b & 1),),
    "twice": lambda a, b, c: (c - (a >> 1) - (a & 1) - (b >> 1) - (b & 1),),
    "of what is read again": lambda a, b, c: ((a - (b >> 1) - (b & 1)) ^ b ^ (c - b),),
    "from both": lambda a, b, c: ((a - (b >> 1) - (b & 1)) ^ (c - (a >> 1) - (a & 1)),),
}
NOT_TAKEN: dict[str, Description] = {
    "masked": lambda a, b, c: (a - (b >> 1 & c) - (b & 1),),
    "by two": lambda a, b, c: ((a ^ c) - (b >> 2) - (b & 1),),
    "another bit": lambda a, b, c: (a - (b >> 1) - (c & 1),),
    "more than a bit": lambda a, b, c: ((a ^ c) - (b >> 1) - (b & 3),),
    "a half that is read again": lambda a, b, c: ((a - (b >> 1) - (b & 1)) ^ c & b >> 1,),
    "within a region": lambda a, b, c: when(nonzero(c & 1), lambda a: (a - (b >> 1) - (b & 1),), a),
}


def mnemonics(kernel: Kernel) -> list[str]:
    return [instruction.mnemonic for instruction in kernel.code.instructions]


def assert_computed(describe: Description, isa: str, borrows: int) -> None:
    rng = random.Random(isa)
    cases = [[rng.choice((0, 1, ALL, rng.getrandbits(64))) for _ in range(3)] for _ in range(500)]
    kernel = lower(routine(describe, 3), isa)
    assert mnemonics(kernel).count("sbb") == borrows
    assert native(kernel, cases) == [oracle(describe, case) for case in cases]


@pytest.mark.parametrize(("isa", "name"), list(product(("x86-64", "bmi2"), TAKEN)))
def test_the_borrow_is_taken(isa: str, name: str) -> None:
    assert_computed(TAKEN[name], isa, 2 if name in ("twice", "from both") else 1)


def test_the_borrow_is_taken_past_what_keeps_the_flags() -> None:
    def gathered(a: Value, b: Value, c: Value) -> tuple[Value, ...]:
        found = make("gather", b, c)
        return (a - make("scatter", found >> 1, c) - (found & 1),)

    assert_computed(gathered, "bmi2", 1)


@pytest.mark.parametrize(("isa", "name"), list(product(("x86-64", "bmi2"), NOT_TAKEN)))
def test_the_borrow_is_not_taken(isa: str, name: str) -> None:
    assert_computed(NOT_TAKEN[name], isa, 0)


@pytest.mark.parametrize("variant", ["pext", "pext-short", "pext-size"])
@pytest.mark.parametrize("name", ["sliders.pair", "sliders.sides"])
def test_nothing_sets_the_flags_in_between(name: str, variant: str) -> None:
    """The shift, pdep and sbb stay next to each other in every variant, except for a `mov`, which keeps the flags."""
    code = [one for one in mnemonics(variant_named(variant, find(name), "bmi2")) if one != "mov"]
    borrows = [at for at, one in enumerate(code) if one == "sbb"]
    assert len(borrows) == (2 if name == "sliders.sides" else 1)
    assert all(code[at - 2 : at] == ["shr", "pdep"] for at in borrows)
    assert all(later - earlier > 2 for earlier, later in pairwise(borrows))
