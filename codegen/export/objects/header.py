"""Writer of the C header of exported machine code: C11 and C++17 for gcc, clang and, for Win64 code, MSVC."""

from collections.abc import Iterator

from setwise.codegen.export.banner import banner, head
from setwise.codegen.export.order import Order
from setwise.codegen.export.prototypes import boards_a_call, prototype, usage
from setwise.codegen.kernel import Kernel

_CALLS = {
    "sysv": ("sysv_abi", "#if defined(_WIN32) /* for gcc and clang; MSVC cannot call System V functions */"),
    "win64": ("ms_abi", "#if !defined(_WIN32)"),
}
"""By convention: the attribute of its functions, and the preprocessor test for the systems that need it."""


def header(order: Order) -> str:
    """Return the header of these kernels: each one's banner, above its declaration if C can call it."""
    kernels = order.kernels
    lines = [
        *_comment(head(order, f"{order.called}.h")),
        f"#ifndef {guard(order, order.called)}",
        f"#define {guard(order, order.called)}",
        "",
        "#include <stdint.h>",
    ]
    if any(boards_a_call(kernel) > 1 for kernel in kernels):
        lines.append("#include <immintrin.h>")
    for convention in sorted({kernel.convention.name for kernel in kernels} & _CALLS.keys()):
        attribute, where = _CALLS[convention]
        define = f"#define {_call(order.kernels[0], convention)}"
        lines += ["", where, f"{define} __attribute__(({attribute}))", "#else", define, "#endif"]
    lines += ["", "#ifdef __cplusplus", 'extern "C" {', "#endif"]
    for kernel in kernels:
        lines += ["", *_comment(_about(kernel, order)), *_declaration(kernel)]
    lines += ["", "#ifdef __cplusplus", "}", "#endif", "", "#endif"]
    return "\n".join(lines) + "\n"


def guard(order: Order, file: str) -> str:
    """Return the include guard of a header, in upper case: the prefix, unless `file` begins with it, `file`, and _H."""
    whole = file if f"{file}_".startswith(f"{order.prefix}_") else f"{order.prefix}_{file}"
    return f"{whole.upper()}_H"


def _about(kernel: Kernel, order: Order) -> tuple[str, ...]:
    more = (("usage", usage(kernel)),) if kernel.convention.name != "wiki" else ()
    return banner(kernel, order.facts(kernel), order.made_by, *more)


def _call(kernel: Kernel, convention: str) -> str:
    """Return the name of the macro for functions of a calling convention."""
    return f"{kernel.prefix}_{convention}".upper()


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
        # gcc passes vectors by address in Win64 code. MSVC and clang support __vectorcall.
        yield "#if defined(_WIN32) && (defined(_MSC_VER) || defined(__clang__))"
        yield f"{prototype(kernel, call='__vectorcall')};"
        yield "#endif"
        return
    yield f"{prototype(kernel, call=_call(kernel, convention))};"
