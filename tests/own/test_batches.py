"""Routines over arrays with several results: proved, checked, refuted, exported, and run on NumPy's arrays."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import setwise
from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.decode import decode
from setwise.analysis.commands.main import main
from setwise.analysis.proof.prover import Prover
from setwise.analysis.spec.contracts import task_of
from setwise.codegen.fills.batch import UNROLLED
from setwise.codegen.lower import lower
from setwise.codegen.machine.code import Instruction, Memory
from setwise.codegen.own.user_files import routines_named
from setwise.codegen.targets import ALL_SETS, VECTORS
from tests.analysis.commands.running import Capture, printed
from tests.conftest import few, require_module, require_rust, require_set, require_tool

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
RING = """\
import setwise
from setwise import ALL, EAST, WEST, Board

@setwise.routine
def ring(own: Board, n: Board) -> Board:
    "Squares beside the first ones, and those of both, summed."
    return (own.step(EAST) | own.step(WEST)) + (own ^ n)

@ring.specification
def _(own, n):
    return ((own & ~setwise.FILE_H) << 1 | (own & ~setwise.FILE_A) >> 1) + (own ^ n)
"""


@pytest.mark.parametrize("isa", few(ALL_SETS, 4))
def test_all_sets_prove_and_refute(isa: str, mine: Path, capsys: Capture) -> None:
    require_module("bitwuzla")
    for text, status, wanted in ((FILE, 0, " 0 refuted, 0 not proved"), (WRONG, 1, "refuted: right is wrong")):
        mine.write_text(text)
        assert wanted in printed(capsys, "prove", NAME, "--isa", isa, status=status)


@pytest.mark.parametrize("isa", VECTORS)
def test_a_short_loop_is_unrolled_and_right_for_every_length(isa: str, mine: Path) -> None:
    require_set(isa)
    mine.write_text(RING)
    run = setwise.kernel("mine.py:ring.batch", isa)
    lanes = run.kernel.layout.lanes
    draw = np.random.default_rng(1)
    for n in (*range(9 * lanes + 2), 131):
        own, other = draw.integers(0, 2**64, (2, n), np.uint64)
        beside = (own & np.uint64(setwise.NOT_H)) << np.uint64(1) | (own & np.uint64(setwise.NOT_A)) >> np.uint64(1)
        expected = beside + (own ^ other)
        np.testing.assert_array_equal(run(own, other), expected)
        arrays = np.concatenate([own, other])  # results in place, and over parts of both
        np.testing.assert_array_equal(run(arrays[:n], arrays[n:], out=arrays[n // 2 : n // 2 + n]), expected)
        assert run(own, other, out=other) is other
        np.testing.assert_array_equal(other, expected)


def test_an_unrolled_loop_reads_masks_and_boards_once(mine: Path) -> None:
    """Masks are in registers, and a board with several uses is loaded: neither is an operand of each use."""
    mine.write_text(RING)
    (routine,) = routines_named("mine.py:ring.batch")
    for isa, lanes, loop in (("avx2", 4, "L0_0"), ("avx512", 8, "L3_0")):  # a masked pass and a loop come first
        code = lower(routine, isa).code
        (start, *_, end) = [at for at, item in enumerate(code.items) if str(item).count(loop)]
        body = [item for item in code.items[start:end] if isinstance(item, Instruction)]
        read = [each for item in body for each in item.operands[1:] if isinstance(each, Memory)]
        assert len(read) == len({*read}) == 2 * UNROLLED
        assert {each.displacement for each in read} == {8 * lanes * at for at in range(UNROLLED)}


@pytest.mark.parametrize("isa", ["avx2", "avx512"])
def test_errors_of_an_unrolled_loop_are_refuted(isa: str, mine: Path) -> None:
    """In its last register, and, since it jumps back behind the loads, in its second iteration alone."""
    require_module("bitwuzla")
    mine.write_text(RING)
    kernel = lower(routines_named("mine.py:ring.batch")[0], isa)
    binary, boards = binary_of(kernel), UNROLLED * kernel.layout.lanes
    code = decode(binary.text)
    last = [one for one in code if one.mnemonic == "vpsrlq"][UNROLLED - 1].end - 1
    back = next(one for one in code if one.mnemonic == "jns")
    late = next(one for one in code if one.mnemonic.startswith("vpsllq"))
    distance = (late.offset - back.end).to_bytes(4, "little", signed=True)
    assert back.length == 6
    for at, changed, number in ((last, bytes([binary.text[last] ^ 1]), 1), (back.end - 4, distance, 2)):
        text = binary.text[:at] + changed + binary.text[at + len(changed) :]
        made = Prover().prove(replace(binary, text=text), task_of(kernel))
        assert made.status == "refuted", made.reason
        assert made.counterexample is not None
        assert len(made.counterexample.inputs[0][1]) == number * boards


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


@pytest.mark.slow
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
