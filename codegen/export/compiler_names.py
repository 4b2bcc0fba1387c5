"""Instruction sets in the terms of compilers."""

from typing import NamedTuple

from setwise.codegen.targets import TARGETS


class CompilerNames(NamedTuple):
    """The terms of compilers for an instruction set.

    `march` is gcc's and clang's name of the oldest processor that has it. `preprocessor_test` is a C condition that
    holds if the compiler may use the set, empty if it always may. `rustc` is the oldest version that compiles exports.
    """

    march: str
    preprocessor_test: str = ""
    rustc: str = "1.63"


_AVX512 = "defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__) && defined(__AVX512BW__)"
OF_SETS = {
    "x86-64": CompilerNames("x86-64"),
    # MSVC has no macro for BMI2, which every processor with AVX2 has.
    "bmi2": CompilerNames(
        "haswell", "(defined(__BMI__) && defined(__BMI2__)) || (defined(_MSC_VER) && defined(__AVX2__))"
    ),
    "sse2": CompilerNames("x86-64", "defined(__SSE2__) || defined(_M_X64)"),
    "avx2": CompilerNames(
        "haswell",
        "(defined(__AVX2__) && defined(__BMI__) && defined(__BMI2__)) || (defined(_MSC_VER) && defined(__AVX2__))",
    ),
    "avx512": CompilerNames("skylake-avx512", _AVX512, "1.89"),
    "gfni": CompilerNames("icelake-client", f"{_AVX512} && defined(__GFNI__) && defined(__AVX512VBMI__)", "1.89"),
}
"""The terms for each instruction set. GFNI's Rust intrinsics came with those of AVX-512."""


def flags(isa: str) -> tuple[str, ...]:
    """Return the options with which gcc and clang make code for one instruction set alone."""
    return (f"-march={OF_SETS[isa].march}", *(() if TARGETS[isa].vectors else ("-mgeneral-regs-only",)))
