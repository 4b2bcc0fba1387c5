"""Exported source under the linters that its readers run, at their defaults: clang-tidy and clippy."""

import subprocess
from pathlib import Path

import pytest

from setwise.analysis.exports.facts import facts_of
from setwise.codegen.export.order import Order
from setwise.codegen.export.sources import c, rust
from setwise.codegen.export.sources.rust import ALLOWED
from setwise.codegen.targets import TARGETS
from tests.codegen.export.exports import kernel
from tests.conftest import require_tool

# Loops, tables of jumps, arrays, several results, parameters of every kind: each for every set that it comes for.
ROUTINES = (
    *("dumb7.occluded-until-dry.sout", "shift.one.any", "exploding.direction", "bytewise.carry-loop-64"),
    *("kogge-stone.attacks.noWe.batch", "push.attacks.queen", "side.pieces.white", "sliders.union-empty"),
)


@pytest.fixture(scope="module")
def order() -> Order:
    kernels = tuple(kernel(name, isa) for name in ROUTINES for isa in TARGETS if isa in kernel(name).routine.isas)
    return Order(kernels, facts_of, "a test", dispatch=True)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["-xc -std=c11", "-xc++ -std=c++17"])
def test_clang_tidy_finds_nothing(tmp_path: Path, order: Order, language: str) -> None:
    (tmp_path / "setwise_inline.h").write_text(c.header(order), encoding="ascii")
    assert said(tmp_path, require_tool("clang-tidy-19"), "--quiet", "setwise_inline.h", "--", *language.split()) == []


@pytest.mark.slow
def test_clippy_finds_nothing(tmp_path: Path, order: Order) -> None:
    """It is told to pass over many parameters, which a board has, and over nothing else."""
    assert "clippy::all" not in ALLOWED
    (tmp_path / "setwise.rs").write_text(rust.module(order), encoding="ascii")
    flags = ("--edition=2021", "--crate-type=lib", "--emit=metadata", "-Wclippy::all")
    assert said(tmp_path, require_tool("clippy-driver"), *flags, "setwise.rs") == []


@pytest.mark.slow
@pytest.mark.parametrize("style", ["LLVM", "Google", "Microsoft", "WebKit"])
def test_clang_format_changes_nothing(tmp_path: Path, order: Order, style: str) -> None:
    text = c.header(order)
    (tmp_path / "setwise_inline.h").write_text(text, encoding="ascii")
    made = subprocess.run(
        [require_tool("clang-format-19"), f"--style={style}", "setwise_inline.h"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert made.stdout == text


@pytest.mark.slow
def test_rustfmt_changes_nothing(tmp_path: Path, order: Order) -> None:
    (tmp_path / "setwise.rs").write_text(rust.module(order), encoding="ascii")
    made = subprocess.run(
        [require_tool("rustfmt"), "--check", "setwise.rs"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (made.returncode, made.stdout) == (0, "")


def said(folder: Path, *command: str) -> list[str]:
    """The lines with errors and warnings."""
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    lines = (ended.stdout + ended.stderr).splitlines()
    found = [line for line in lines if "warning:" in line or "error:" in line]
    assert found or ended.returncode == 0, ended.stderr
    return found
