"""The best kernels have nothing that level a finds: a few of every set in `make check`, all in `make long`."""

import re
from pathlib import Path

import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.report.figures import Figures, Key, figures_of, keys
from setwise.analysis.search.forms import SearchError
from setwise.analysis.search.search import Improvement, SearchSubject, search
from setwise.analysis.spec import raywalk
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from setwise.codegen.targets import TARGETS
from tests.conftest import require_module

require_module("bitwuzla")

PAGE = Path(__file__).parents[3] / "reports" / "optimality.md"
ROW = re.compile(r"^\| `(.*)` \| (\S+)(?: x(\d))? \| (\d+) \| (\d+) \|", re.MULTILINE)
OPEN = {
    (name, isa, int(lanes or 1)): int(length) for name, isa, lanes, length, _ in ROW.findall(PAGE.read_text("utf-8"))
}
"""Kernels for which new instructions are found, with their instructions; the page says why they are not used."""


@pytest.mark.slow
def test_the_page_has_the_instructions_of_its_kernels() -> None:
    assert OPEN
    assert {key: figures_of(*key).counts.instructions for key in OPEN} == OPEN


def best(isa: str) -> list[Key]:
    """The shortest of each contract and number of lanes for a set, but for those that stay as a page has them."""
    wanted = {isa, getattr(TARGETS[isa].extends, "name", isa)}
    figures = Figures((key, figures_of(*key)) for key in keys() if key[1] in wanted and not find(key[0]).verbatim)
    shortest: dict[tuple[str, int], Key] = {}
    for key, kernel in figures.differing.items():
        if kernel.isa == isa and not kernel.arrays and not kernel.counts.branches:
            alike = repr(find(kernel.name).contract), kernel.lanes
            held = figures[shortest[alike]] if alike in shortest else None
            if held is None or kernel.counts.instructions < held.counts.instructions:
                shortest[alike] = key
    return list(shortest.values())


def found(name: str, isa: str, lanes: int, level: str, budget: float = 3600.0) -> Improvement | None:
    """What a level finds in a kernel within so many seconds; nothing in one that it does not follow."""
    kernel = lower(find(name), isa, "sysv", lanes)
    binary, boards = binary_of(kernel), lanes if kernel.layout.batched else 1
    subject = SearchSubject(name, isa, "sysv", boards)
    try:
        return search(subject, binary, level, budget)[1]
    except SearchError:
        return None


FEW = (
    *("push.attacks.nort", "leapers.knights", "shift.one.noEa", "subtraction.attacks.east"),
    *("sliders.union", "sliders.pair", "side.union-knights"),
)


@pytest.mark.slow
@pytest.mark.parametrize("isa", TARGETS)
def test_level_a_finds_nothing_in_a_few(isa: str) -> None:
    kernels = [(name, isa, TARGETS[isa].widths[0]) for name in FEW]
    assert [kernel for kernel in kernels if found(*kernel, "a")] == []


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("isa", TARGETS)
def test_new_instructions_find_nothing(isa: str) -> None:
    """In kernels of one direction, and of whole sides."""
    eight = (*raywalk.SETS["rook"], *raywalk.SETS["bishop"])
    for name, _, lanes in best(isa):
        if name.startswith("sliders.") or find(name).contract.direction in eight:
            finding = found(name, isa, lanes, "b", 600) or found(name, isa, lanes, "c", 600)
            assert (finding is not None) == ((name, isa, lanes) in OPEN), name
