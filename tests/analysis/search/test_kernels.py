"""The best straight kernels have nothing that level a finds, and at length nothing that new instructions find."""

from __future__ import annotations

import pytest

from setwise.analysis.code.kernel import binary_of
from setwise.analysis.search.forms import SearchError
from setwise.analysis.search.search import Finding, places, search
from setwise.analysis.search.subject import Subject
from setwise.codegen.board import DIR8
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from tests.conftest import require_module

require_module("bitwuzla")

Kernel = tuple[str, str]
WHOLE = ("union", "pair", "rays", "pieces", "sides", "counts", "mobility")
NAMES = (
    *(f"push.attacks.{direction.name}" for direction in DIR8),
    *(f"push.attacks.{directions}" for directions in ("vertical", "rook", "bishop", "queen")),
    *("kogge-stone.occluded.sout", "shift.one.noEa", "bytewise.add", "leapers.knights", "leapers.pawns.white"),
    *(f"sliders.{form}" for form in WHOLE),
    *("side.union.white", "side.nested.white"),
)
KERNELS = [(name, isa) for name in NAMES for isa in find(name).isas]
OPEN: set[Kernel] = {
    *(("sliders.pieces", isa) for isa in ("x86-64", "bmi2")),
    *((f"sliders.{form}", "sse2") for form in ("rays", "pieces", "sides")),
    ("sliders.mobility", "bmi2"),
}
"""What new instructions shorten, and no pass does yet."""


def found(name: str, isa: str, level: str, budget: float = 3600.0) -> Finding | None:
    """What a level finds in a kernel within so many seconds; nothing in one that it does not follow."""
    kernel = lower(find(name), isa)
    binary, boards = binary_of(kernel), kernel.layout.lanes if kernel.layout.boards else 1
    subject = Subject(name, isa, "sysv", boards)
    try:
        number = places(subject, binary, level)
    except SearchError:
        return None
    return search(subject, binary, level, range(number), budget).finding


@pytest.mark.slow
@pytest.mark.parametrize(("name", "isa"), KERNELS)
def test_level_a_finds_nothing(name: str, isa: str) -> None:
    assert found(name, isa, "a") is None


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("isa", ["x86-64", "bmi2", "sse2", "avx2"])
@pytest.mark.parametrize("form", WHOLE)
def test_new_instructions_find_nothing(form: str, isa: str) -> None:
    name = f"sliders.{form}"
    assert ((found(name, isa, "b", 600) or found(name, isa, "c", 600)) is not None) == ((name, isa) in OPEN)
