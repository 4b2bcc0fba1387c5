"""Instruction sets in the terms of compilers."""

from setwise.codegen.targets import TARGETS

_MARCH = {
    "x86-64": "x86-64",
    "bmi2": "haswell",
    "sse2": "x86-64",
    "avx2": "haswell",
    "avx512": "skylake-avx512",
    "gfni": "icelake-client",
}
"""The name that gcc and clang have for the oldest processor with an instruction set."""
RUSTC = {**dict.fromkeys(TARGETS, "1.63"), "avx512": "1.89", "gfni": "1.89"}
"""The oldest version of rustc that compiles exports. GFNI's Rust intrinsics came with those of AVX-512."""


def flags(isa: str) -> tuple[str, ...]:
    """Return the options with which gcc and clang make code for one instruction set alone."""
    return (f"-march={_MARCH[isa]}", *(() if TARGETS[isa].vectors else ("-mgeneral-regs-only",)))
