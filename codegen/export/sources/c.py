"""C11 and C++17 source: functions of intrinsics and plain expressions, each with its own target attribute."""

import re
from collections.abc import Iterator, Mapping, Sequence

from setwise.codegen.export.prototypes import VECTORS, prototype
from setwise.codegen.export.sources.intrinsics import LOAD, STORE, WithIntrinsics, feature_names, named
from setwise.codegen.export.sources.language import folded, indented
from setwise.codegen.export.sources.source import body, unused
from setwise.codegen.kernel import Kernel

HEAD = """\
#include <stdint.h>

#if defined(__x86_64__) || defined(_M_X64)
#define SETWISE_X86_64
#include <immintrin.h>
#endif

/* Each function has a target attribute, so no compiler flags are needed. MSVC accepts all intrinsics anywhere. */
#if defined(__GNUC__) || defined(__clang__)
#define SETWISE_TARGET(features) __attribute__((target(features)))
#else
#define SETWISE_TARGET(features)
#endif

#if defined(__cplusplus)
#define SETWISE_CAST(type, value) static_cast<type>(value)
#else
#define SETWISE_CAST(type, value) ((type)(value))
#endif

/* Variables of loops and branches are not always read afterwards: NOLINTBEGIN(clang-analyzer-deadcode.DeadStores) */

/* GCC 12 warns about its own AVX-512 header when it inlines these functions (GCC bug 105593). */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif"""

TAIL = """\
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
/* NOLINTEND(clang-analyzer-deadcode.DeadStores) */"""

_SPREAD = {2: "_mm_set1_epi64x", 4: "_mm256_set1_epi64x", 8: "_mm512_set1_epi64"}
_JOINED = {2: "_mm_set_epi64x", 4: "_mm256_set_epi64x", 8: "_mm512_set_epi64"}


class _C(WithIntrinsics):
    """The C syntax of a kernel."""

    NAME = "C"
    WORD = "uint64_t"
    NUMBER = "{}ULL"
    SIGNED, UNSIGNED = "SETWISE_CAST(long long, {})", "SETWISE_CAST(uint64_t, {})"
    CONSTANT, VARIABLE = "const {type} {name} = {text};", "{type} {name} = {text};"
    TABLE = ("static const uint{bits}_t {name}[{length}] = {{", "};")
    LOOP, LEAVE = "for (;;) {", ("if ({}) break;",)
    WHEN = "if ({}) {{"

    def call(self, name: str, arguments: Sequence[str], immediates: Sequence[str]) -> str:
        return f"{name}({', '.join([*arguments, *immediates])})"

    def vector(self, lanes: tuple[int, ...]) -> str:
        numbers = [self.SIGNED.format(self.number(lane)) if lane >> 31 else str(lane) for lane in lanes]
        if len(set(numbers)) == 1:
            return f"{_SPREAD[len(lanes)]}({numbers[0]})"
        return f"{_JOINED[len(lanes)]}({', '.join(reversed(numbers))})"

    def load(self, pointer: str, index: str, lanes: int) -> str:
        if lanes == 1:
            return f"{pointer}[{index}]"
        return (
            f"{named(LOAD, lanes)}({_cast(f'const {VECTORS[lanes]} *', _cast('const void *', f'{pointer} + {index}'))})"
        )

    def store(self, pointer: str, index: str, boards: str, lanes: int) -> str:
        if lanes == 1:
            return f"{pointer}[{index}] = {boards};"
        return (
            f"{named(STORE, lanes)}({_cast(f'{VECTORS[lanes]} *', _cast('void *', f'{pointer} + {index}'))}, {boards});"
        )

    def switch(self, index: str, bodies: Sequence[Sequence[str]], *, falls: bool) -> Iterator[str]:
        """Yield a C switch. The last body is the default, so that no index is undefined."""
        yield f"switch ({index}) {{"
        for number, lines in enumerate(bodies):
            last = number == len(bodies) - 1
            yield "default: {" if last else f"case {number}: {{"
            yield from indented(lines)
            yield "} break;" if last or not falls else "} /* fall through */"
        yield "}"


def _cast(type_name: str, value: str) -> str:
    return f"SETWISE_CAST({type_name}, {value})"


def function(kernel: Kernel, name: str, linkage: str = "static inline ") -> str:
    """Return the kernel as one function with this name."""
    lines = [*(f"(void){parameter};" for parameter in unused(kernel)), *body(kernel, _C())]
    head = f"{linkage}{prototype(kernel, name)} {{"
    text = "\n".join(folded(filter(None, (attribute(kernel), head, *indented(lines), "}"))))
    return prefixed(text, kernel.prefix)


def attribute(kernel: Kernel) -> str:
    """Return the target attribute of a kernel's function; empty for plain x86-64."""
    needed = feature_names(kernel.target, {"bmi1": "bmi"})
    return f'{kernel.prefix.upper()}_TARGET("{",".join(needed)}")' if needed else ""


def prefixed(text: str, prefix: str) -> str:
    """Replace the prefix in the names of functions and macros."""
    return re.sub(r"\bsetwise_", f"{prefix}_", re.sub(r"\bSETWISE_", f"{prefix.upper()}_", text))


def unit(functions: Mapping[str, Kernel]) -> str:
    """Return a translation unit of external functions with these names, in the platform's convention."""
    parts = [HEAD, '#if defined(__cplusplus)\nextern "C" {\n#endif']
    for name, kernel in functions.items():
        declared = (attribute(kernel), f"{prototype(kernel, name)};")
        parts += ["\n".join(filter(None, declared)), function(kernel, name, linkage="")]
    return "\n\n".join((*parts, "#if defined(__cplusplus)\n}\n#endif", TAIL)) + "\n"
