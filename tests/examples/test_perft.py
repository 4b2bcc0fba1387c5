"""The perft programs count legal moves as published, whatever gives them their attacks."""

import subprocess
from pathlib import Path

import pytest

from tests.conftest import require_rust, require_set, require_tool, runs
from tests.examples.perft import CHESS960, CXX, STANDARD, C, Position, compile_c, compile_rust, export, wrong

DEEPEST = 9
KERNELS, TABLES = "x86-64,bmi2,avx2,avx512", "-DTABLES"

SHIELD = Position("4k3/8/8/8/8/8/8/rRK5 w B - 0 1", (5, 57, 821))
"""The rook that could castle hides the king's square from another rook; counted by python-chess."""

REFUSED = ("", "8/8/8/8/8/8/8/8 w - -", "9/8/8/8/8/8/8/Kk6 w - -", "k7/8/8/8/8/8/8/R6K w - -")
"""The last: the mover could take the king."""


def test_the_positions_are_those_published() -> None:
    assert (len(STANDARD), len(CHESS960)) == (7, 50)
    assert STANDARD[3].counts == STANDARD[4].counts  # the same position mirrored
    assert {len(position.counts) for position in CHESS960} == {6}


@runs
@pytest.mark.parametrize(
    ("isa", "flags"),
    [
        pytest.param("avx2,avx512", (), id="chosen by CPUID"),
        pytest.param("x86-64", (), id="x86-64", marks=pytest.mark.slow),
        pytest.param("bmi2", ("-mbmi", "-mbmi2"), id="bmi2", marks=pytest.mark.slow),
        pytest.param("avx2", ("-mavx2", "-mbmi", "-mbmi2"), id="avx2", marks=pytest.mark.slow),
        pytest.param("avx512", ("-march=x86-64-v4",), id="avx512", marks=pytest.mark.slow),
    ],
)
def test_published_counts_on_each_set(tmp_path: Path, isa: str, flags: tuple[str, ...]) -> None:
    """By CPUID, or compiled for one instruction set: with its flags the compiler is told to use it."""
    if flags:
        require_set(isa)
    export(tmp_path, "c", "--isa", f"x86-64,{isa}", *(["--dispatch"] if "," in isa else []))
    program = compile_c(require_tool("gcc"), tmp_path, *C, "-O2", *flags)
    assert wrong(program, STANDARD, 4) == []
    assert wrong(program, (*CHESS960[::10], SHIELD), 3) == []


@runs
@pytest.mark.slow
@pytest.mark.parametrize("flags", [(*C, "-O0"), (*C, "-O3"), (*CXX, "-O2")], ids=" ".join)
def test_published_counts_by_another_compiler_and_as_cxx(tmp_path: Path, flags: tuple[str, ...]) -> None:
    export(tmp_path, "c", "--isa", "avx2,avx512", "--dispatch")
    program = compile_c(require_tool("clang++-19" if "-xc++" in flags else "clang-19"), tmp_path, *flags)
    assert wrong(program, STANDARD, 4) == []


@runs
@pytest.mark.slow
@pytest.mark.parametrize("depth", [5, pytest.param(DEEPEST, marks=pytest.mark.long)])
@pytest.mark.parametrize("tables", [False, True], ids=["kernels", "tables"])
@pytest.mark.parametrize("language", ["c", "rust"])
def test_published_counts_of_every_position(tmp_path: Path, language: str, tables: bool, depth: int) -> None:
    """In both languages, with the kernels or with tables; on the best set that this processor has."""
    if not tables:
        export(tmp_path, language, "--isa", KERNELS)
    if language == "c":
        program = compile_c(require_tool("gcc"), tmp_path, *C, "-O3", "-march=native", *[TABLES] * tables)
    else:
        program = compile_rust(require_rust(), tmp_path, "-Ctarget-cpu=native", *["--cfg=tables"] * tables)
    assert wrong(program, (*STANDARD, *CHESS960, SHIELD), depth) == []
    assert [subprocess.run([program, fen, "1"], capture_output=True).returncode for fen in REFUSED] == [2] * len(
        REFUSED
    )
