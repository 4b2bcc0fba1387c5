"""Names that a language reserves are renamed in its exports alone, which compile, and the exports tell it."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from setwise.analysis.commands.main import main
from tests.analysis.commands.running import Capture, printed
from tests.conftest import require_module, require_rust, require_tool

FILE = """\
from typing import NamedTuple
import setwise
from setwise import Board, Empty, Ray

class Two(NamedTuple):
    match: Board
    len: Board

@setwise.routine
def delete(type: Board, type_: Board, g: Board, fn: Board, results: Board, cpu: Board, std: Board) -> Board:
    "Mixes words of all languages."
    return type & type_ | g & fn ^ results & cpu ^ std

@setwise.routine
def delete_(double: Board, u64: Board, features: Board, avx2: Board, function: Board, t0: Board) -> Board:
    "Has the name that the other one would get."
    return double & u64 ^ features & avx2 ^ function & t0

@setwise.routine
def enum(results: Board, delete: Board) -> Two:
    "Gives two boards, and takes one with the name of a routine."
    both = results & delete
    return Two(both, results | delete)

@setwise.routine
def rax(section: Board, byte: Board, n: Board, result: Board) -> Board:
    "Has words of assemblers, and those of routines over arrays."
    return section & byte | n ^ result

@setwise.routine
def switch(ray: Ray, dir8: Board, fallthrough: Empty) -> Board:
    "Steps, with the name that a direction known at run time has."
    return ray.step(dir8) & fallthrough
"""
ROUTINES = ("delete", "delete_", "enum", "rax", "rax.batch", "switch.west", "switch.any")


HEADER = '#include "setwise'


def exported(mine: Path, format: str, isas: str) -> Path:
    mine.write_text(FILE)
    named = [f"mine.py:{name}" for name in ROUTINES]
    assert main(["export", *named, "--format", format, "--isa", isas, "-o", "out", "--unproved"]) == 0
    return mine.parent / "out"


def run(*command: str | Path, cwd: Path, text: str = "") -> None:
    done = subprocess.run(command, cwd=cwd, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("options", [("-xc", "-std=c11"), ("-xc++", "-std=c++17")])
def test_c(options: Sequence[str], mine: Path) -> None:
    out, gcc = exported(mine, "c", "x86-64,bmi2,avx2"), require_tool("gcc")
    run(
        gcc,
        *options,
        "-Wall",
        "-Wextra",
        "-Werror",
        "-fsyntax-only",
        "-",
        cwd=out,
        text='#include "setwise_inline.h"\n',
    )
    assert main(["export", "mine.py:delete_", "--format", "elf", "-o", "objects", "--unproved"]) == 0
    run(gcc, *options, "-Werror", "-fsyntax-only", "-", cwd=mine.parent, text='#include "objects/setwise.h"\n')


def test_rust(mine: Path) -> None:
    out = exported(mine, "rust", "x86-64,bmi2,avx2")
    options = ("-Dwarnings", "-Anon_snake_case", "--crate-type=lib", "--emit=metadata", "setwise.rs")
    for edition in (2018, 2024):
        run(require_rust(), f"--edition={edition}", *options, cwd=out)


def test_go(mine: Path) -> None:
    go = require_tool("go")
    out = exported(mine, "go", "x86-64,bmi2")
    (out / "go.mod").write_text("module setwise\n\ngo 1.19\n")
    run(go, "vet", "./...", cwd=out)
    run("env", "GOARCH=arm64", go, "vet", "./...", cwd=out)


def test_zig(mine: Path) -> None:
    require_module("ziglang")
    out = exported(mine, "zig", "x86-64,bmi2,avx2")
    (out / "all.zig").write_text('test { @import("std").testing.refAllDecls(@import("setwise.zig")); }\n')
    run(sys.executable, "-m", "ziglang", "test", "-fno-emit-bin", "all.zig", cwd=out)


def test_javascript(mine: Path) -> None:
    out = exported(mine, "javascript", "x86-64")
    text = (
        "import('./setwise.mjs').then(m => process.exit(m.enum_(3n, 5n)[1] == 7n && m.delete__ && m.delete_ ? 0 : 1))"
    )
    run(require_tool("node"), "-e", text, cwd=out)


def test_assemblers_need_no_other_names(mine: Path) -> None:
    out = exported(mine, "nasm", "x86-64,avx2")
    for file in out.glob("*.asm"):
        run(require_tool("nasm"), "-f", "elf64", "-o", "made.o", file.name, cwd=out)


def test_what_is_told(mine: Path, capsys: Capture) -> None:
    out = exported(mine, "rust", "x86-64")
    told = {
        kernel["name"]: kernel.get("renamed") for kernel in json.loads((out / "metadata.json").read_text())["kernels"]
    }
    assert told["mine.py:delete"] == {"type": "type__", "fn": "fn_", "results": "results_"}
    assert told["mine.py:rax"] is None
    assert told["mine.py:enum"] == {"enum": "enum_", "results": "results__"}
    remark = "(here enum is named enum_, results is named results__, match is named match_)"
    assert remark in " ".join((out / "setwise.rs").read_text().replace("///", "").split())
    assert main(["verify", "out", "--run-descriptions"]) == 1
    assert "does not match" not in capsys.readouterr().out
    listed = printed(capsys, "listing", "mine.py:delete_")
    assert "here double is named double_" in listed
    assert "delete__x86_64(uint64_t double_, uint64_t u64," in listed
    assert "double_+0(FP)" not in printed(capsys, "listing", "mine.py:delete_", "--syntax", "go")
