"""Exported C, C++, Rust and Zig: compiled without a warning, linked, and run against the ray-walk."""

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from setwise.codegen.catalogue import find
from setwise.codegen.export.names import symbol
from setwise.codegen.export.prototypes import boards_a_call
from setwise.codegen.run.executable import runnable
from setwise.codegen.targets import TARGETS
from setwise.codegen.variants import variant_named
from tests.codegen.export.sources.exported import RUST, ZIG, C, Compiler, Functions, every_form, judged, made, sample

runs = pytest.mark.skipif(not runnable(), reason="not run: this processor is not x86-64")

SHARED = {"rustc": ("--crate-type=cdylib",), "zig": ("build-lib", "-dynamic")}
# Zig's own back end, which it takes where nothing is optimised, does not pass eight boards by value yet.
PLAIN = {"rustc": (), "zig": ("-ODebug", "-fllvm")}
FAST = {"rustc": ("-Copt-level=3",), "zig": ("-OReleaseFast", "-fno-compiler-rt")}


def matrix() -> Iterator[Any]:
    """A sample by the compilers that differ most; every form by all of them, in turns optimised and not, or both."""
    for compiler in (C[0], RUST):
        yield pytest.param(compiler, True, sample, id=f"{compiler.name}-optimised-sample", marks=(pytest.mark.slow,))
    for at, (compiler, fast) in enumerate(product((*C, RUST), (False, True))):
        marks = (pytest.mark.slow,) if at % 4 in (1, 2) else (pytest.mark.slow, pytest.mark.long)
        how = "optimised" if fast else "plain"
        yield pytest.param(compiler, fast, every_form, id=f"{compiler.name}-{how}", marks=marks)


def shared(compiler: Compiler, *, fast: bool) -> tuple[str, ...]:
    how = FAST if fast else PLAIN
    return (*SHARED.get(compiler.name, ("-shared", "-fPIC")), *how.get(compiler.name, ("-O3" if fast else "-O0",)))


def grouped(compiler: Compiler, functions: Functions) -> Iterator[tuple[Functions, tuple[str, ...]]]:
    """The functions, and the flags that they need: none, but for vectors by value.

    Where those come Clang decides by what the whole file may use, whatever the function itself says.
    """
    flags = {"sse2": (), "avx2": ("-mavx2",), "avx512": ("-mavx512f",), "gfni": ("-mavx512f",)} if compiler in C else {}
    for isa in (None, *flags):
        group = {
            name: kernel
            for name, kernel in functions.items()
            if (kernel.target.name if boards_a_call(kernel) > 1 and flags else None) == isa
        }
        if group:
            yield group, flags.get(isa or "", ())


def wrong(library: Path, functions: Functions) -> dict[str, str]:
    """The functions that failed, and how."""
    return {name: end for name, end in judged(library, functions).items() if end not in ("passed", "not run")}


@runs
@pytest.mark.parametrize(("compiler", "fast", "which"), list(matrix()))
def test_compiled_functions_give_what_the_ray_walk_gives(
    tmp_path: Path, compiler: Compiler, fast: bool, which: Callable[[], Functions]
) -> None:
    for functions, flags in grouped(compiler, which()):
        library = made(tmp_path, compiler, functions, *shared(compiler, fast=fast), *flags)
        assert wrong(library, functions) == {}


@runs
@pytest.mark.parametrize(
    ("fast", "which"),
    [
        pytest.param(True, sample, id="optimised-sample"),
        pytest.param(True, every_form, id="optimised", marks=pytest.mark.slow),
        pytest.param(False, every_form, id="plain", marks=(pytest.mark.slow, pytest.mark.long)),
    ],
)
def test_zig_builds_each_instruction_set_for_a_cpu_that_has_it(
    tmp_path: Path, fast: bool, which: Callable[[], Functions]
) -> None:
    cpus = {"x86-64": "x86_64", "bmi2": "x86_64+bmi+bmi2", "sse2": "x86_64", "avx2": "x86_64_v3", "avx512": "x86_64_v4"}
    for isa in TARGETS.keys() - {"gfni"}:  # of which Zig can say only what is avx512's as well
        functions = {name: kernel for name, kernel in which().items() if kernel.target.name == isa}
        library = made(tmp_path, ZIG, functions, *shared(ZIG, fast=fast), f"-mcpu={cpus[isa]}")
        assert wrong(library, functions) == {}


@runs
@pytest.mark.slow
@pytest.mark.parametrize(("compiler", "flags"), [(C[0], ()), (RUST, ()), (ZIG, ("-mcpu=x86_64_v3",))])
def test_every_language_gathers_walls(tmp_path: Path, compiler: Compiler, flags: tuple[str, ...]) -> None:
    kernel = variant_named("pext", find("sliders.union"), "bmi2")
    functions = {symbol(kernel): kernel}
    library = made(tmp_path, compiler, functions, *shared(compiler, fast=True), *flags)
    assert wrong(library, functions) == {}
