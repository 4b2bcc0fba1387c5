"""The C header that declares a library's functions: C11 and C++17, gcc, clang and, for Win64 code, MSVC."""

from __future__ import annotations

from collections.abc import Iterator

from setwise.codegen.export.banner import banner
from setwise.codegen.export.order import Order
from setwise.codegen.export.prototypes import boards_a_call, prototype
from setwise.codegen.kernel import Kernel

NAME = "setwise.h"

_CALLS = {
    "sysv": (
        "SETWISE_SYSV",
        "#if defined(_WIN32) /* gcc and clang; MSVC has no way to call it */",
        "__attribute__((sysv_abi))",
        "",
    ),
    "win64": ("SETWISE_WIN64", "#if !defined(_WIN32)", "__attribute__((ms_abi))", ""),
}
_VECTOR_CALL = "__vectorcall"


def header(order: Order) -> str:
    """The header of these kernels, each declared under its banner."""
    kernels = order.kernels
    lines = [
        f"/* {NAME}, made by {order.made_by} */",
        "#ifndef SETWISE_H",
        "#define SETWISE_H",
        "",
        "#include <stdint.h>",
    ]
    if any(boards_a_call(kernel) > 1 for kernel in kernels):
        lines.append("#include <immintrin.h>")
    for convention in sorted({kernel.convention.name for kernel in kernels} & _CALLS.keys()):
        name, where, there, elsewhere = _CALLS[convention]
        lines += ["", where, f"#define {name} {there}", "#else", f"#define {name} {elsewhere}".rstrip(), "#endif"]
    lines += ["", "#ifdef __cplusplus", 'extern "C" {', "#endif"]
    for kernel in kernels:
        lines += ["", *_comment(banner(kernel, order.facts(kernel), order.made_by)), *_declaration(kernel)]
    lines += ["", "#ifdef __cplusplus", "}", "#endif", "", "#endif"]
    return "\n".join(lines) + "\n"


def _comment(lines: tuple[str, ...]) -> Iterator[str]:
    first, *others = lines
    yield f"/* {first}"
    yield from (f"   {line}".rstrip() for line in others)
    yield "*/"


def _declaration(kernel: Kernel) -> Iterator[str]:
    convention = kernel.convention.name
    if convention not in _CALLS:
        return
    if convention == "win64" and boards_a_call(kernel) > 1:
        # gcc passes vectors by address in Win64 code; MSVC and clang know the convention with vectors in registers.
        yield "#if defined(_WIN32) && (defined(_MSC_VER) || defined(__clang__))"
        yield f"{prototype(kernel, call=_VECTOR_CALL)};"
        yield "#endif"
        return
    yield f"{prototype(kernel, call=_CALLS[convention][0])};"
