"""The best straight kernels have nothing that level a finds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from setwise.analysis.code.kernel import binary_of
from setwise.analysis.search.forms import SearchError
from setwise.analysis.search.search import Finding, places, search
from setwise.analysis.search.subject import Subject
from setwise.analysis.spec import raywalk
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from tests.conftest import require_module

require_module("bitwuzla")

ROWS = json.loads((Path(__file__).parents[3] / "reports" / "data" / "kernels.json").read_text())["rows"]
Kernel = tuple[str, str, int]


OPEN: dict[str, set[Kernel]] = {
    "a": set(),
    # Why each is not taken stands in reports/optimality.md.
    "bc": {
        *((f"sliders.pieces{of}", isa, 1) for of in ("", "-empty") for isa in ("x86-64", "bmi2")),
        *((f"sliders.{form}{of}", "sse2", 2) for form in ("rays", "pieces", "sides") for of in ("", "-empty")),
        ("sliders.mobility", "bmi2", 1),
    },
}
"""What is found and not yet mended, by levels."""


def best(straight: bool) -> Iterator[Kernel]:
    """The shortest of each contract for each set and number of lanes, but for those that stay as a page has them."""
    shortest: dict[tuple[str, str, int], dict[str, object]] = {}
    for row in ROWS:
        routine = find(row["name"])
        if routine.literal or (row["shape"] == "straight") != straight:
            continue
        key = (repr(routine.contract), row["isa"], row["lanes"])
        if key not in shortest or row["instructions"] < shortest[key]["instructions"]:
            shortest[key] = row
    yield from ((str(row["name"]), isa, lanes) for (_, isa, lanes), row in shortest.items())


def one_direction() -> list[Kernel]:
    """Kernels of one direction, and those of whole sides."""
    eight = (*raywalk.SETS["rook"], *raywalk.SETS["bishop"])
    kernels = best(straight=True)
    return [kernel for kernel in kernels if kernel[0].startswith("sliders.") or find(kernel[0]).direction in eight]


def found(name: str, isa: str, lanes: int, level: str, budget: float = 3600.0) -> Finding | None:
    """What a level finds in a kernel within so many seconds; nothing in one that it does not follow."""
    kernel = lower(find(name), isa, "sysv", lanes)
    binary, boards = binary_of(kernel), lanes if kernel.layout.boards else 1
    subject = Subject(name, isa, "sysv", boards)
    try:
        number = places(subject, binary, level)
    except SearchError:
        return None
    return search(subject, binary, level, range(number), budget).finding


@pytest.mark.slow
@pytest.mark.parametrize(("name", "isa", "lanes"), list(best(straight=True)))
def test_level_a_finds_nothing(name: str, isa: str, lanes: int) -> None:
    assert (found(name, isa, lanes, "a") is not None) == ((name, isa, lanes) in OPEN["a"])


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(("name", "isa", "lanes"), list(one_direction()))
def test_new_instructions_find_nothing(name: str, isa: str, lanes: int) -> None:
    finding = found(name, isa, lanes, "b", 600) or found(name, isa, lanes, "c", 600)
    assert (finding is not None) == ((name, isa, lanes) in OPEN["bc"])
