"""Routines over arrays with several results: proved, checked, refuted, exported, and run on NumPy's arrays."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import setwise
from setwise.analysis.commands.main import main
from setwise.codegen.own.user_files import routines_named
from setwise.codegen.targets import ALL_SETS
from tests.analysis.commands.running import Capture, printed
from tests.conftest import require_module, require_rust, require_tool

FILE = """\
from typing import NamedTuple
import setwise
from setwise import Board, EAST, NORT, WEST

class Sides(NamedTuple):
    left: Board
    right: Board

@setwise.routine
def captures(left: Board, n: Board) -> Sides:
    "Squares that White's pawns attack, to either side."
    return Sides(left.step(NORT, WEST) & n, left.step(NORT, EAST) & n)

@captures.specification
def _(pawns, targets):
    return (pawns & ~setwise.FILE_A) << 7 & targets, (pawns & ~setwise.FILE_H) << 9 & targets
"""
WRONG = FILE.replace("EAST) & n", "EAST) | n")
NAME = "mine.py:captures.batch"


@pytest.mark.parametrize("isa", ALL_SETS)
def test_all_sets_prove_and_refute(isa: str, mine: Path, capsys: Capture) -> None:
    require_module("bitwuzla")
    for text, status, wanted in ((FILE, 0, " 0 refuted, 0 not proved"), (WRONG, 1, "refuted: right is wrong")):
        mine.write_text(text)
        assert wanted in printed(capsys, "prove", NAME, "--isa", isa, status=status)


def test_it_is_checked(mine: Path, capsys: Capture) -> None:
    mine.write_text(FILE)
    assert " 0 failed" in printed(capsys, "check", NAME, "--abi", "sysv", "--quick")
    mine.write_text(WRONG)
    assert "cases differ" in printed(capsys, "check", NAME, "--isa", "x86-64", "--quick", status=1)


def test_arrays_of_numpy(mine: Path) -> None:
    mine.write_text(FILE)
    run = setwise.kernel(NAME)
    pawns = np.array([1 << 9 + at for at in range(19)], np.uint64)
    both = run(pawns, setwise.ALL)
    assert both.left.tolist() == [int(board) << 7 & setwise.ALL if board & setwise.NOT_A else 0 for board in pawns]
    assert both.right.tolist() == [int(board) << 9 & setwise.ALL if board & setwise.NOT_H else 0 for board in pawns]


def test_signatures(mine: Path, capsys: Capture) -> None:
    mine.write_text(FILE)
    (routine,) = routines_named(NAME)
    assert [p.name for p in routine.contract.parameters] == ["left", "n", "left_", "right", "n_"]
    listed = " ".join(re.sub("^;", "", printed(capsys, "listing", NAME), flags=re.MULTILINE).split())
    assert "const uint64_t *n, uint64_t *left_, uint64_t *right, uint64_t n_);" in listed
    assert "each result overlaps no other array" in listed


def test_compilers_read_the_exports(mine: Path) -> None:
    mine.write_text(FILE)
    for form, isas in (("c", "x86-64,avx2"), ("rust", "x86-64,avx2"), ("go", "x86-64,avx2"), ("zig", "x86-64,avx2")):
        assert main(["export", NAME, "--format", form, "--isa", isas, "-o", form]) == 0
    (mine.parent / "go" / "go.mod").write_text("module setwise\n\ngo 1.19\n")
    (mine.parent / "zig" / "all.zig").write_text(
        'test { @import("std").testing.refAllDecls(@import("setwise.zig")); }\n'
    )
    (mine.parent / "c" / "use.c").write_text('#include "setwise_inline.h"\n')
    require_module("ziglang")
    commands = {
        "c": [require_tool("gcc"), "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "use.c"],
        "rust": [require_rust(), "-Dwarnings", "--edition=2021", "--crate-type=lib", "--emit=metadata", "setwise.rs"],
        "go": [require_tool("go"), "vet", "./..."],
        "zig": [sys.executable, "-m", "ziglang", "test", "-fno-emit-bin", "all.zig"],
    }
    for form, command in commands.items():
        done = subprocess.run(command, cwd=mine.parent / form, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
