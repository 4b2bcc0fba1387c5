"""Writer of a C11 and C++17 header: a function per kernel, and a function per routine that calls the best kernel."""

import re
from collections.abc import Iterator, Sequence
from textwrap import wrap

from setwise.codegen.export.banner import about, head
from setwise.codegen.export.compiler_names import OF_SETS
from setwise.codegen.export.names import bare_symbol, symbol
from setwise.codegen.export.objects.header import guard
from setwise.codegen.export.order import Order
from setwise.codegen.export.prototypes import VECTORS, prototype, returns, usage
from setwise.codegen.export.sources.dispatch import (
    BITS,
    NOTE,
    Choice,
    boards,
    choice_basis,
    choices,
    comment_lines,
    constant_name,
    requirement,
    sets_of_choices,
)
from setwise.codegen.export.sources.intrinsics import LOAD, STORE, WithIntrinsics, feature_names, named
from setwise.codegen.export.sources.language import folded, function_text, indented
from setwise.codegen.export.sources.source import body, results_in_order
from setwise.codegen.kernel import Kernel
from setwise.codegen.targets.table import Target

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

_ALIGNMENT = """\
/* GCC on Windows does not align the stack for AVX (GCC bug 54412), so code with AVX is never chosen there. */
#if defined(_WIN32) && defined(__GNUC__) && !defined(__clang__)
#define SETWISE_STACK_ALIGNED 0
#if !defined(SETWISE_QUIET)
#pragma message("GCC on Windows does not align the stack for AVX (its bug 54412): code with AVX is not chosen here; " \\
    "use Clang, or link objects of `setwise export --format coff` (no message with -DSETWISE_QUIET)")
#endif
#else
#define SETWISE_STACK_ALIGNED 1
#endif"""

_ENABLED = """\
#if defined(SETWISE_X86_64) && \\
    ({test})
#define SETWISE_ENABLED_{name} SETWISE_HAS_{name}
#else
#define SETWISE_ENABLED_{name} 0u
#endif"""

_DETECT = """\
#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#elif defined(SETWISE_X86_64)
#include <cpuid.h>
#endif

#if defined(SETWISE_X86_64)
/* Read eax, ebx, ecx and edx of a CPUID leaf, or zeros if the processor lacks it. */
static inline void setwise_cpuid(uint32_t leaf, uint32_t registers[4]) {
#if defined(_MSC_VER) && !defined(__clang__)
    int words[4] = {0, 0, 0, 0};
    __cpuid(words, 0);
    if (SETWISE_CAST(uint32_t, words[0]) >= leaf) __cpuidex(words, SETWISE_CAST(int, leaf), 0);
    else words[0] = words[1] = words[2] = words[3] = 0;
    for (int i = 0; i < 4; i++) registers[i] = SETWISE_CAST(uint32_t, words[i]);
#else
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(leaf, 0, &a, &b, &c, &d)) a = b = c = d = 0;
    registers[0] = a, registers[1] = b, registers[2] = c, registers[3] = d;
#endif
}

/* Return XCR0: the register states that the operating system saves. */
SETWISE_TARGET("xsave") static inline uint64_t setwise_saved_state(void) {
    return SETWISE_CAST(uint64_t, _xgetbv(0));
}
#endif"""

_SETS = """\
static inline unsigned setwise_detect(void) {
#if defined(SETWISE_X86_64)
    uint32_t leaf1[4], leaf7[4];
    setwise_cpuid(1, leaf1);
    setwise_cpuid(7, leaf7);
    /* Without OSXSAVE the system saves only the SSE registers, and XGETBV is an invalid instruction. */
    return setwise_sets_of(leaf1, leaf7, leaf1[2] >> 27 & 1 ? setwise_saved_state() : 0);
#else
    return SETWISE_HAS_X86_64;
#endif
}

/* Return the usable instruction sets. The first call detects them; concurrent first calls get the same result. */
static inline unsigned setwise_sets(void) {
    static volatile unsigned known;
    unsigned sets;
    if (SETWISE_ENABLED == SETWISE_ALL) return SETWISE_ALL;
#if defined(_MSC_VER) && !defined(__clang__)
    sets = known;
#else
    sets = __atomic_load_n(&known, __ATOMIC_RELAXED);
#endif
    if (sets == 0) {
        sets = setwise_detect();
#if defined(_MSC_VER) && !defined(__clang__)
        known = sets;
#else
        __atomic_store_n(&known, sets, __ATOMIC_RELAXED);
#endif
    }
    return sets;
}"""

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
    WHEN, UNUSED = "if ({}) {{", "(void){};"

    def call(self, name: str, arguments: Sequence[str], immediates: Sequence[str]) -> str:
        return f"{name}({', '.join([*arguments, *immediates])})"

    def vector(self, lanes: tuple[int, ...]) -> str:
        numbers = [self.SIGNED.format(self.number(lane)) if lane >> 31 else str(lane) for lane in lanes]
        if len(set(numbers)) == 1:
            return f"{_SPREAD[len(lanes)]}({numbers[0]})"
        return f"{_JOINED[len(lanes)]}({', '.join(reversed(numbers))})"

    def load(self, pointer: str, index: str, lanes: int) -> str:
        if lanes == 1:
            return super().load(pointer, index, lanes)
        return f"{named(LOAD, lanes)}({_pointer(f'const {VECTORS[lanes]}', f'{pointer} + {index}')})"

    def store(self, pointer: str, index: str, boards: str, lanes: int) -> str:
        if lanes == 1:
            return super().store(pointer, index, boards, lanes)
        return f"{named(STORE, lanes)}({_pointer(VECTORS[lanes], f'{pointer} + {index}')}, {boards});"

    def switch(self, index: str, bodies: Sequence[Sequence[str]], *, falls: bool) -> Iterator[str]:
        """Yield a C switch. The last body is the default, so that no index is undefined."""
        yield f"switch ({index}) {{"
        for number, lines in enumerate(bodies):
            last = number == len(bodies) - 1
            yield "default: {" if last else f"case {number}: {{"
            yield from indented(lines)
            yield "} break;" if last or not falls else "} /* fall through */"
        yield "}"


def _pointer(target: str, value: str) -> str:
    """Return the cast of the pointer `value` to a pointer to `target`, by way of a pointer to void."""
    void = "const void" if target.startswith("const ") else "void"
    return f"SETWISE_CAST({target} *, SETWISE_CAST({void} *, {value}))"


def function(kernel: Kernel, name: str) -> str:
    """Return the kernel as one static inline function with this name."""
    needed = feature_names(kernel.target, {"bmi1": "bmi"})
    attribute = [f'SETWISE_TARGET("{",".join(needed)}")'] if needed else []
    text = function_text((*attribute, f"static inline {prototype(kernel, name)} {{"), body(kernel, _C()))
    return prefixed(text, kernel.prefix)


def prefixed(text: str, prefix: str) -> str:
    """Return the text with `prefix` for setwise, and in upper case for SETWISE, at the start of names."""
    return re.sub(r"\bsetwise_", f"{prefix}_", re.sub(r"\bSETWISE_", f"{prefix.upper()}_", text))


def files(order: Order) -> dict[str, bytes]:
    """Return the header's bytes by its file name."""
    return {f"{_stem(order)}.h": header(order).encode("ascii")}


def _stem(order: Order) -> str:
    """Return the header's file name without extension. The default is not that of the header for object files."""
    return order.name or f"{order.prefix}_inline"


def header(order: Order) -> str:
    """Return the header for GCC, Clang and MSVC. On processors other than x86-64 the functions in plain C remain."""
    offered, prefix = choices(order.kernels), order.prefix
    defined = guard(order, _stem(order))
    parts = [
        _introduction(order, offered),
        f"#ifndef {defined}\n#define {defined}",
        prefixed(HEAD, prefix),
        *(_guarded(kernel, _documented(kernel, order)) for kernel in order.kernels),
    ]
    if offered:
        parts += [prefixed(part, prefix) for part in _sets(sets_of_choices(offered), order.dispatch)]
        parts += map(_choice, offered)
    return "\n\n".join((*parts, _namespace(order, offered), TAIL, "#endif")) + "\n"


def _introduction(order: Order, offered: Sequence[Choice]) -> str:
    lines = [
        *head(order, f"{_stem(order)}.h"),
        "",
        *wrap(f"C11 and C++17, header only. {boards(order.kernels)}", 116),
        NOTE,
    ]
    if any(len(choice.kernels) > 1 for choice in offered):
        how = choice_basis(order.dispatch, "-march=native, -mavx2 -mbmi -mbmi2")
        lines += ["Functions without an instruction set in their name use the best one, chosen", f"{how}."]
    return _comment(lines)


def _documented(kernel: Kernel, order: Order) -> str:
    more = (*results_in_order(kernel), ("usage", usage(kernel)))
    remark = _comment(about(kernel, order.facts(kernel), *more, word="uint64_t"), documents=True)
    return f"{remark}\n{function(kernel, symbol(kernel))}"


def _guarded(kernel: Kernel, text: str) -> str:
    if kernel.target.name == "x86-64":
        return text
    return f"#if defined({kernel.prefix.upper()}_X86_64)\n{text}\n#endif"


def _comment(lines: Sequence[str], *, documents: bool = False) -> str:
    return "\n".join(("/**" if documents else "/*", *(f" * {line}".rstrip() for line in lines), " */"))


def _sets(targets: Sequence[Target], dispatch: bool) -> Iterator[str]:
    """Yield the C text of `setwise_sets()`, which returns the usable instruction sets, and of all that it uses."""
    names = list(map(constant_name, targets))
    if any("avx" in target.features for target in targets):
        yield _ALIGNMENT
    lines = ["#define SETWISE_HAS_X86_64 1u"]
    for name, target in zip(names, targets, strict=True):
        bit = f"{BITS[target.name]}u"
        if "avx" in target.features:
            bit = f"(SETWISE_STACK_ALIGNED ? {bit} : 0u)"
        lines.append(f"#define SETWISE_HAS_{name} {bit}")
    lines.append(f"#define SETWISE_ALL ({' | '.join(['SETWISE_HAS_X86_64', *(f'SETWISE_HAS_{n}' for n in names)])})")
    yield "\n".join(lines)
    lines = ["/* The instruction sets that the compiler flags enable. */"]
    for name, target in zip(names, targets, strict=True):
        lines.append(_ENABLED.format(name=name, test=OF_SETS[target.name].preprocessor_test))
    lines.append(
        f"#define SETWISE_ENABLED ({' | '.join(['SETWISE_HAS_X86_64', *(f'SETWISE_ENABLED_{n}' for n in names)])})"
    )
    yield "\n".join(lines)
    if dispatch and targets:
        yield _DETECT
        yield _sets_of(targets)
        yield _SETS
    else:
        yield "static inline unsigned setwise_sets(void) {\n    return SETWISE_ENABLED;\n}"


def _sets_of(targets: Sequence[Target]) -> str:
    """Return the text of a C function from the results of CPUID and XGETBV to bits of instruction sets."""
    lines = [
        "/* Return the instruction sets that CPUID leaves 1 and 7 report and whose registers the system saves. */",
        "static inline unsigned setwise_sets_of(const uint32_t leaf1[4], const uint32_t leaf7[4], uint64_t state) {",
        "    unsigned sets = SETWISE_HAS_X86_64;",
    ]
    for target in targets:
        tests = " &&\n        ".join(f"({word} & {mask}u) == {mask}u" for word, mask in requirement(target).items())
        flag = f"    sets |= SETWISE_HAS_{constant_name(target)};"
        lines += [f"    if ({tests})", f"    {flag}"] if tests else [flag]
    return "\n".join((*lines, "    return sets;", "}"))


def _choice(choice: Choice) -> str:
    """Return the text of the function that calls the best usable kernel, with its comment."""
    plain = choice.kernels[-1]
    remark = _comment([*comment_lines(choice), f"Usage: {usage(plain, choice.name)}"], documents=True)
    return f"{remark}\n{prefixed(_branching(choice), plain.prefix)}"


def _branching(choice: Choice) -> str:
    """Return the text of the function, which tests at each call which instruction sets are usable."""
    *better, plain = choice.kernels
    arguments = ", ".join(parameter.name for parameter in plain.routine.contract.parameters)
    call = "return {}({});" if returns(plain) else "{{ {}({}); return; }}"
    lines = []
    if better:
        lines = ["const unsigned sets = setwise_sets();", "#if defined(SETWISE_X86_64)"]
        for kernel in better:
            flag = f"SETWISE_HAS_{constant_name(kernel.target)}"
            lines.append(f"if (sets & {flag}) {call.format(symbol(kernel), arguments)}")
        lines += ["#else", "(void)sets;", "#endif"]
    last = f"{'return ' if returns(plain) else ''}{symbol(plain)}({arguments});"
    body = [line if line.startswith("#") else indented([line])[0] for line in (*lines, last)]
    return "\n".join(folded((f"static inline {prototype(plain, choice.name)} {{", *body, "}")))


def _namespace(order: Order, offered: Sequence[Choice]) -> str:
    """Return the text of a C++ namespace with all functions by their names without a prefix."""
    lines = [_guarded(each, f"static constexpr auto &{bare_symbol(each)} = {symbol(each)};") for each in order.kernels]
    lines += [f"static constexpr auto &{choice.bare} = {choice.name};" for choice in offered]
    begin = "#if defined(__cplusplus)", f"namespace {order.prefix} {{"
    return "\n".join((*begin, *lines, f"}} // namespace {order.prefix}", "#endif"))
