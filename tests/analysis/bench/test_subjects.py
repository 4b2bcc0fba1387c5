"""What is timed and how: arguments within the contract, and ways to call that fit."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from setwise.analysis.bench.subjects import Subject, arguments_for, subject
from setwise.analysis.code.decode import Binary
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.ir.control import table
from setwise.codegen.ir.routine import Contract, Parameter, Routine
from setwise.codegen.lower import lower
from setwise.codegen.machine.convention import SYSV
from setwise.codegen.run.harness import signature
from setwise.codegen.run.timer import CALLS, Mode
from tests.codegen.programs import routine as described


@cache
def of(name: str, isa: str = "x86-64", lanes: int | None = None) -> Subject:
    return subject(lower(find(name), isa, "sysv", lanes))


def shell(routine: Routine, boards: int = 0) -> Subject:
    """A subject of that routine's contract without its code."""
    called = signature(routine.contract, SYSV)
    return Subject(routine.name, "x86-64", 1, "-", Binary(b"\xc3"), routine.contract, called, boards)


def cases(routine: Routine) -> Iterator[dict[str, int]]:
    """The words that each parameter is given, a case each."""
    arrays = bool(routine.contract.elements)
    made = arguments_for(shell(routine, 64 if arrays else 0), "independent" if arrays else "mixed", 1000)
    parameters = [p.name for p in routine.contract.elements or routine.contract.parameters if p.kind != "results"]
    rows = zip(*made.arrays, strict=True) if arrays else zip(*[iter(made.words)] * len(parameters), strict=True)
    for row in rows:
        yield dict(zip(parameters, row, strict=True))


# One routine of each shape: directions are alike.
SHAPES = list({(r.contract.parameters, r.contract.elements): r for r in catalogue().values()}.values())


@pytest.mark.parametrize("routine", SHAPES, ids=lambda routine: routine.name)
def test_arguments_are_within_the_contract(routine: Routine) -> None:
    kinds = {p.name: p for p in routine.contract.elements or routine.contract.parameters}
    seen = list(cases(routine))
    assert len(set(map(str, seen))) > len(seen) // 2
    for case in seen:
        sliders = [word for name, word in case.items() if kinds[name].kind == "board"]
        occupied = [word for name, word in case.items() if kinds[name].kind == "occupied"]
        empty = [word for name, word in case.items() if kinds[name].kind == "empty"]
        together = 0
        for word in sliders:
            assert word
            assert not word & together
            together |= word
        for word in empty:
            assert not word & together
        if len(occupied) == 1:
            assert together & ~occupied[0] == 0
        elif occupied:
            assert not occupied[0] & occupied[1]
        for name, word in case.items():
            assert 0 <= word < (kinds[name].below or 1 << 64)


def test_fixed_arguments_are_one_set_and_mixed_ones_are_many() -> None:
    union = shell(find("sliders.union"))
    assert len(arguments_for(union, "independent").words) == 3
    assert len(arguments_for(union, "chained").words) == 3
    words = len(arguments_for(union, "mixed").words)
    assert words > 3 * 10_000
    assert words % (3 * CALLS) == 0
    assert arguments_for(union, "mixed", 64) == arguments_for(union, "mixed", 64)


@pytest.mark.parametrize(
    ("name", "isa", "modes", "chained"),
    [
        ("sliders.union", "x86-64", ("chained", "independent"), (0, 1, 2)),
        ("kogge-stone.attacks.sout", "avx2", ("chained", "independent"), (0, 1)),
        ("dumb7.occluded-until-dry.sout", "x86-64", ("chained", "independent", "mixed"), (0, 1)),
        ("dumb7.attacks.any", "x86-64", ("chained", "independent", "mixed"), (0, 1)),
        ("exploding.orthogonal", "x86-64", ("chained", "independent", "mixed"), (1, 2)),
        ("exploding.direction", "x86-64", ("chained", "independent", "mixed"), (2, 3)),
        ("bytewise.add", "x86-64", ("chained", "independent"), (0, 1)),
        ("bytewise.right-attacks", "x86-64", ("chained", "independent"), (0, 1)),
        ("kogge-stone.attacks.nort.batch", "x86-64", ("independent",), ()),
    ],
)
def test_ways_to_call(name: str, isa: str, modes: tuple[Mode, ...], chained: tuple[int, ...]) -> None:
    """A board is chained, never a square or a direction; mixed arguments where time may depend on them."""
    one = of(name, isa)
    assert (one.modes, one.chainable) == (modes, chained)


def test_results_are_not_chained_into_a_number_that_has_a_bound() -> None:
    """Such a number may be a table's index: the result of the call before would be read outside all memory."""
    entry = described(lambda number: (table([1 << 60, 1 << 61, 1 << 62], number),), 1)
    chained = subject(lower(replace(entry, contract=Contract((Parameter("number", "word", 3),), "", ""))))
    assert chained.chainable == (0,)
    assert chained.varies
