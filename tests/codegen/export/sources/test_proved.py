"""What compilers make of exported C and Rust is proved, as `setwise prove --object` does, and counted."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.count import Counts, count
from setwise.analysis.code.decode import Binary
from setwise.analysis.code.objects import load_all
from setwise.analysis.proof.prover import Prover
from setwise.analysis.spec.contracts import task_of
from setwise.codegen.export.names import symbol, symbol_of
from setwise.codegen.export.prototypes import boards_a_call
from tests.codegen.export.exports import kernel
from tests.codegen.export.sources.exported import RUST, C, Compiler, Functions, every_form, made, run, sample
from tests.conftest import require_module

require_module("bitwuzla")

PAGE = Path(__file__).parents[4] / "docs" / "engine-authors.md"

FLAGS = {
    "gcc": ("-O3", "-c", "-fcf-protection=none", "-fno-reorder-blocks-and-partition"),
    "clang-19": ("-O3", "-c"),
    "rustc": ("-Copt-level=3", "--crate-type=lib", "--emit=obj"),
}
COMPILERS = (C[0], C[1], RUST)
_VERY_SLOW = (pytest.mark.slow, pytest.mark.long)
LLVM = COMPILERS[1:]
_LONG = 600.0  # seconds: the hardest take more than a minute of a processor that has nothing else to do
_COUNTS = (".counts", ".mobility")
_BRIEF = 10.0
"""Seconds for these as LLVM makes them: it adds up counts of half bytes, which takes the solver minutes."""


def objects(folder: Path, compiler: Compiler, functions: Functions) -> dict[str, Binary]:
    """The functions as the compiler made them."""
    found = load_all(made(folder, compiler, functions, *FLAGS[compiler.name]), set(functions))
    refused = {name: str(one) for name, one in found.items() if not isinstance(one, Binary)}
    assert not refused
    return {name: one for name, one in found.items() if isinstance(one, Binary)}


def followed(functions: Functions) -> Functions:
    """Those that a contract of words says all about: where vectors by value come depends on more than the function."""
    return {name: each for name, each in functions.items() if boards_a_call(each) == 1}


@pytest.mark.parametrize(
    ("compiler", "which"),
    [
        pytest.param(C[0], sample, id="gcc-sample", marks=pytest.mark.slow),
        *(pytest.param(each, every_form, id=f"{each.name}-all", marks=_VERY_SLOW) for each in C[:2]),
        # Its back end is clang's.
        pytest.param(RUST, sample, id="rustc-sample", marks=pytest.mark.slow),
    ],
)
def test_compiled_functions_are_proved(tmp_path: Path, compiler: Compiler, which: Callable[[], Functions]) -> None:
    """For all inputs; those on arrays, whose loops compilers make anew, for every n.

    Only what LLVM's compilers make of squares counted may take longer than a brief limit.
    """
    functions = followed(which())
    if which is sample:
        # Each square is a proof of its own: all 64 take their time.
        functions = {name: each for name, each in functions.items() if each.routine.family != "exploding"}
    assert any(each.routine.contract.elements for each in functions.values())
    prover = Prover()
    for name, one in objects(tmp_path, compiler, functions).items():
        is_hard = compiler in LLVM and functions[name].routine.name.endswith(_COUNTS)
        proof = prover.prove(one, task_of(functions[name]), _BRIEF if is_hard else _LONG)
        reached_limit = is_hard and (proof.reason or "").startswith("the time limit was reached")
        assert proof.status == "proved" or reached_limit, (name, proof.status, proof.reason)


def test_a_spoilt_source_is_refuted(tmp_path: Path) -> None:
    """One mask of the source is another: the proof of what comes out must fail."""
    each = kernel("sliders.union", "avx2")
    text = C[0].unit({"attacked": each})
    assert "0x7e7e7e7e7e7e7e7e" in text
    spoilt = Compiler("gcc", ".c", lambda _: text.replace("0x7e7e7e7e7e7e7e7e", "0x7e7e7e7e7e7e7efe"), C[0].options)
    (one,) = objects(tmp_path, spoilt, {"attacked": each}).values()
    assert Prover().prove(one, task_of(each)).status == "refuted"


UNION = (("x86-64", None), ("bmi2", None), ("avx2", 4), ("avx512", 8), ("avx512", 4))


def compiled_union(folder: Path) -> dict[tuple[str, str], tuple[Counts, Counts]]:
    """By kernel and compiler the counts of our own sliders.union and of the compiler's."""
    kernels = [kernel("sliders.union", isa, "sysv", lanes) for isa, lanes in UNION]
    functions = {symbol(each): each for each in kernels}
    ours = {name: count(binary_of(each)) for name, each in functions.items()}
    return {
        (name, compiler.name): (ours[name], count(one))
        for compiler in COMPILERS
        for name, one in objects(folder, compiler, functions).items()
    }


def test_the_instruction_choice_stays_ours(tmp_path: Path) -> None:
    """Compilers add loads of constants that they use twice, moves, saved registers; the operations stay what they were.

    Clang and Rust, whose back ends are one, write two vector operations of AVX2 as three others.
    """
    counted = compiled_union(tmp_path)
    for (name, compiler), (ours, theirs) in counted.items():
        work = theirs.operations + theirs.transfers - ours.operations - ours.transfers
        most = 0 if "avx512" in name or "x86_64" in name else 1 if compiler == "gcc" else 3
        assert 0 <= work <= most, (name, compiler)
        overhead = theirs.instructions - ours.instructions - work
        allowed = 29 if "x86_64" in name or "bmi2" in name else 5
        assert overhead <= allowed, (name, compiler, theirs)
    assert_page_says({key: (ours.instructions, theirs.instructions) for key, (ours, theirs) in counted.items()})


def assert_page_says(lengths: Mapping[tuple[str, str], tuple[int, int]]) -> None:
    """The engine authors' table has these lengths, where the compilers are those that it names."""
    (table,) = re.findall(r"^\| `sliders\.union` \| ours \|.*\n(?:\|.*\n)+", PAGE.read_text("utf-8"), re.MULTILINE)
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines())
    assert head[2:4] == ["gcc 12", "clang 19, rustc 1.95"]
    titles = {"setwise_sliders_union_" + symbol_of(isa): isa for isa in ("x86-64", "bmi2", "avx2")}
    titles |= {
        f"setwise_sliders_union_avx512{end}": f"avx512, {n} lanes" for end, n in (("_x4", "four"), ("", "eight"))
    }
    told = {row[0]: row[1:4] for row in rows}
    assert told.keys() == set(titles.values())
    named = {"gcc": (1, "gcc", " 12."), "clang-19": (2, "clang-19", " 19."), "rustc": (2, "rustc", " 1.95.")}
    for (name, compiler), (ours, theirs) in lengths.items():
        column, program, version = named[compiler]
        assert told[titles[name]][0] == str(ours)
        if version in run([program, "--version"], PAGE.parent).splitlines()[0]:
            assert told[titles[name]][column] == str(theirs), (name, compiler)
