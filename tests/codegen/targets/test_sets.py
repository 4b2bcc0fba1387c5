"""What is said of instruction sets and processors: in one place, and true of the bytes."""

import ast
import re

import pytest

from setwise.analysis.code.decode import decode, features
from setwise.analysis.cost.processors import PROCESSORS
from setwise.codegen.machine.processors import BASELINE, FEATURES, lacking
from setwise.codegen.run import bochs, cpu
from setwise.codegen.targets import TARGETS, VECTORS, operands
from setwise.codegen.targets.general import SHIFT_COPY
from setwise.codegen.targets.table import Row
from setwise.codegen.targets.vector import SPLAT_RELOAD
from tests.codegen.assemble.test_assemble import encoder
from tests.codegen.targets.rows import instructions
from tests.test_layers import modules

OF_FEATURES = frozenset(
    {
        "codegen.machine.processors",
        "codegen.run.cpu",
        "codegen.export.compiler_names",
        "codegen.export.formats",
        "codegen.export.sources.c",
        "codegen.export.sources.dispatch",
        "codegen.export.sources.requirements",
        "analysis.code.decode",
        "analysis.exports.facts",
    }
)
"""Modules that name a CPU feature with the name of a set, or list what compilers and languages know of sets."""
TIMED = frozenset({"analysis.report.pages"})
"""Timings and rows of reports are of kernels of one set each."""


def test_vector_sets_are_named_in_their_records_alone() -> None:
    naming = {
        module
        for module, path in modules().items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in VECTORS
    }
    assert {module for module in naming if not module.startswith("codegen.targets.")} == OF_FEATURES | TIMED


@pytest.mark.parametrize("name", TARGETS)
def test_the_bytes_of_all_rows_need_the_features_of_their_set_and_no_others(name: str) -> None:
    target = TARGETS[name]
    encoded = encoder("iced")
    needed = {}
    for row in target.rows:
        made = list(instructions(target, row))
        assert made, row
        needed[row] = features(one for instruction in made for one in decode(encoded(instruction, 0)))
    assert {row: found for row, found in needed.items() if not found <= target.features | BASELINE} == {}
    assert target.features - BASELINE == frozenset[str]().union(*needed.values()) - BASELINE


def test_features_of_sets_and_processors_are_those_that_cpuid_is_asked_for() -> None:
    for features_of in (*FEATURES.values(), *(target.features - BASELINE for target in TARGETS.values())):
        assert features_of <= cpu.FEATURES.keys()
    assert FEATURES.keys() == {on.name for on in PROCESSORS} | bochs.PROCESSORS.keys()


def test_what_a_processor_lacks_follows_from_its_features() -> None:
    lacks = {on.name: lacking(on.name, TARGETS["avx512"].features) for on in PROCESSORS}
    assert lacks.pop("zen3") == ("avx512bw", "avx512dq", "avx512f", "avx512vl")
    assert set(lacks.values()) == {()}
    newer = frozenset({"gfni", "avx512vbmi", "avx512f"})
    assert lacking("skylake-server", newer) == ("avx512vbmi", "gfni")
    assert lacking("zen4", newer) == lacking("zen5", newer) == lacking("ice-lake", newer) == ()


@pytest.mark.parametrize("word", ["e", "A2", "=1", "[b+a]", "[a+b*3]", "d,a", "-1", "[a", "D"])
def test_a_row_with_a_wrong_word_is_none(word: str) -> None:
    with pytest.raises(ValueError, match=f"row 'd {re.escape(word)}' of lea: unknown operand word '{re.escape(word)}'"):
        Row("add", "lea", f"d {word}")


def test_every_word_is_in_some_row() -> None:
    rows = [row for target in TARGETS.values() for row in target.rows]
    used = {word for row in (*rows, SPLAT_RELOAD, SHIFT_COPY) for word in row.operands.split()}
    assert set(operands._WORDS) <= used
