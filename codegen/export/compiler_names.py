"""Instruction sets in the terms of compilers."""

from typing import NamedTuple

from setwise.codegen.targets import TARGETS


class CompilerNames(NamedTuple):
    """The terms of compilers for an instruction set.

    `march` is gcc's and clang's name of the oldest processor that has it. `rustc` is the oldest version that compiles
    exports.
    """

    march: str
    rustc: str = "1.63"


OF_SETS = {
    "x86-64": CompilerNames("x86-64"),
    "bmi2": CompilerNames("haswell"),
    "sse2": CompilerNames("x86-64"),
    "avx2": CompilerNames("haswell"),
    "avx512": CompilerNames("skylake-avx512", "1.89"),
    "gfni": CompilerNames("icelake-client", "1.89"),
}
"""The terms for each instruction set. GFNI's Rust intrinsics came with those of AVX-512."""


def flags(isa: str) -> tuple[str, ...]:
    """Return the options with which gcc and clang make code for one instruction set alone."""
    return (f"-march={OF_SETS[isa].march}", *(() if TARGETS[isa].vectors else ("-mgeneral-regs-only",)))
