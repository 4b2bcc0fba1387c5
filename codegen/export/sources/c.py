"""C11 and C++17: a header with every kernel as a function, and a function per routine that chooses the best."""

import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from textwrap import wrap

from setwise.codegen.export.banner import about, described, head
from setwise.codegen.export.names import bare_symbol, isa_name, symbol
from setwise.codegen.export.order import Order
from setwise.codegen.export.prototypes import VECTORS, prototype, returns, usage
from setwise.codegen.export.sources.cpp_namespace import ending, opening
from setwise.codegen.export.sources.dispatch import Choice, boards, choice_basis, choices, features_of, pext_note
from setwise.codegen.export.sources.intrinsics import LOAD, NOTE, STORE, WithIntrinsics, named
from setwise.codegen.export.sources.language import folded, function_text, indented
from setwise.codegen.export.sources.requirements import BITS, FAST_PEXT, cpuid_test, lines_for, source_facts
from setwise.codegen.export.sources.source import body, runs_when_compiled
from setwise.codegen.export.sources.structures import structures
from setwise.codegen.kernel import Kernel

_GUARD = """\
#if defined(SETWISE_INLINE_H) && SETWISE_INLINE_H != 0x{digest}u
#error "another export with the prefix {prefix} is included: export one of them with another --prefix"
#endif

#ifndef SETWISE_INLINE_H
#define SETWISE_INLINE_H 0x{digest}u"""

HEAD = """\
#if defined(__cplusplus) && __cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#error "this header needs C11 or C++17"
#endif
#include <stdint.h>

#if defined(__x86_64__) || defined(_M_X64)
#define SETWISE_X86_64
#include <immintrin.h>
#if defined(_MSC_VER)
#include <intrin.h>
#endif
#endif

/* Functions with an instruction set in their name need no compiler flags: they have target attributes, and MSVC accepts
   all intrinsics anywhere. */
#if defined(__GNUC__) || defined(__clang__)
#define SETWISE_TARGET(features) __attribute__((target(features)))
#define SETWISE_EXTENSION __extension__
#else
#define SETWISE_TARGET(features)
#define SETWISE_EXTENSION
#endif

#if defined(__cplusplus)
#define SETWISE_CAST(type, value) static_cast<type>(value)
#define SETWISE_LINKAGE inline
#define SETWISE_INLINE inline
#else
#define SETWISE_CAST(type, value) ((type)(value))
#define SETWISE_LINKAGE static
#define SETWISE_INLINE static inline
#endif

/* Plain code is constexpr in C++ if compilers say when they evaluate a constant. */
#if defined(__cplusplus) && ((defined(__GNUC__) && __GNUC__ >= 9) || (defined(_MSC_VER) && _MSC_VER >= 1925) || \\
    (defined(__clang__) && __clang_major__ >= 9))
#define SETWISE_CONSTEXPR constexpr
#define SETWISE_IS_CONSTANT() __builtin_is_constant_evaluated()
#else
#define SETWISE_CONSTEXPR SETWISE_INLINE
#define SETWISE_IS_CONSTANT() 0
#endif

/* A vector of numbers, lane 0 first. */
#define SETWISE_LANES2(a, b) _mm_set_epi64x(SETWISE_CAST(long long, b), SETWISE_CAST(long long, a))
#define SETWISE_LANES4(a, b, c, d) \\
    _mm256_set_epi64x(SETWISE_CAST(long long, d), SETWISE_CAST(long long, c), SETWISE_CAST(long long, b), \\
        SETWISE_CAST(long long, a))
#define SETWISE_LANES8(a, b, c, d, e, f, g, h) \\
    _mm512_set_epi64(SETWISE_CAST(long long, h), SETWISE_CAST(long long, g), SETWISE_CAST(long long, f), \\
        SETWISE_CAST(long long, e), SETWISE_CAST(long long, d), SETWISE_CAST(long long, c), \\
        SETWISE_CAST(long long, b), SETWISE_CAST(long long, a))

/* Variables of loops and branches are not always read afterwards: NOLINTBEGIN(clang-analyzer-deadcode.DeadStores) */

/* GCC 12 warns about its own AVX-512 header when it inlines these functions (GCC bug 105593), and about loops that a
   constant number of boards never enters. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Waggressive-loop-optimizations"
#endif"""

TAIL = """\
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
/* NOLINTEND(clang-analyzer-deadcode.DeadStores) */"""

_ALIGNMENT = """\
/* GCC on Windows does not align the stack for AVX (GCC bug 54412), so code with AVX is not chosen there, unless you
   define SETWISE_STACK_ALIGNED as 1 because your GCC is mended. */
#if defined(SETWISE_STACK_ALIGNED)
#elif (defined(_WIN32) || defined(__CYGWIN__)) && defined(__GNUC__) && !defined(__clang__)
#define SETWISE_STACK_ALIGNED 0
#if defined(__AVX__) && !defined(SETWISE_QUIET)
#pragma message("GCC on Windows does not align the stack for AVX (its bug 54412): code with AVX is not chosen here; " \\
    "use Clang, or link objects of `setwise export --format coff` (no message with -DSETWISE_QUIET)")
#endif
#else
#define SETWISE_STACK_ALIGNED 1
#endif"""

_ENABLED = """\
#if defined(SETWISE_X86_64) && {given}
#define SETWISE_ENABLED_{name} SETWISE_CPU_{name}
#else
#define SETWISE_ENABLED_{name} 0u
#endif"""
_OR_MSVC_AVX2 = "|| (defined(_MSC_VER) && !defined(__clang__) && defined(__AVX2__)))"
_TESTS = {
    "sse2": "(defined(__SSE2__) || defined(_M_X64))",
    # MSVC has no macros for features that every processor with AVX2 has.
    "popcnt": f"(defined(__POPCNT__) {_OR_MSVC_AVX2}",
    "bmi1": f"(defined(__BMI__) {_OR_MSVC_AVX2}",
    "bmi2": f"(defined(__BMI2__) {_OR_MSVC_AVX2}",
    # Every processor with AVX512BW has AVX512VL, and engines name only the first.
    "avx512vl": "(defined(__AVX512VL__) || defined(__AVX512BW__))",
    FAST_PEXT: "defined(SETWISE_PEXT)",
}
"""The conditions under which the compiler may use a feature, where they are not its name as a macro."""

_DETECT = """\
#if defined(SETWISE_X86_64)
/* Read eax, ebx, ecx and edx of a CPUID leaf. */
SETWISE_INLINE void setwise_cpuid(uint32_t leaf, uint32_t registers[4]) {
#if defined(_MSC_VER)
    int words[4];
    __cpuidex(words, SETWISE_CAST(int, leaf), 0);
    for (int i = 0; i < 4; i++) registers[i] = SETWISE_CAST(uint32_t, words[i]);
#else
    __asm__ __volatile__("cpuid"
        : "=a"(registers[0]), "=b"(registers[1]), "=c"(registers[2]), "=d"(registers[3])
        : "0"(leaf), "2"(0));
#endif
}

/* Return XCR0: the register states that the operating system saves. */
SETWISE_TARGET("xsave") SETWISE_INLINE uint64_t setwise_saved_state(void) {
    return SETWISE_CAST(uint64_t, _xgetbv(0));
}
#endif"""

_FEATURES_OF = """\
/* Return the usable features: those that CPUID leaves 0, 1 and 7 report and whose registers the system saves. */
SETWISE_INLINE uint32_t setwise_features_of(const uint32_t leaf0[4], const uint32_t leaf1[4], const uint32_t leaf7[4],
    uint64_t state) {
    uint32_t found = 0;
    (void)leaf0, (void)leaf1, (void)leaf7, (void)state;"""

_SLOW_PEXT = """\
/* Return whether pext and pdep are microcode: before Zen 3, family 25, of AuthenticAMD and HygonGenuine. */
SETWISE_INLINE int setwise_slow_pext(const uint32_t leaf0[4], const uint32_t leaf1[4]) {
    const uint32_t family = (leaf1[0] >> 8 & 15) + (leaf1[0] >> 20 & 255);
    return (leaf0[1] == 0x68747541u || leaf0[1] == 0x6F677948u) && family < 25;
}"""

_DETECTED = """\
/* It runs once, so it is kept out of its callers. */
#if defined(__GNUC__) || defined(__clang__)
__attribute__((noinline, cold, unused))
#endif
SETWISE_LINKAGE uint32_t setwise_detect(void) {
#if defined(SETWISE_X86_64)
    uint32_t leaf0[4], leaf1[4], leaf7[4] = {0, 0, 0, 0};
    setwise_cpuid(0, leaf0);
    setwise_cpuid(1, leaf1);
    if (leaf0[0] >= 7) setwise_cpuid(7, leaf7);
    /* Without OSXSAVE the system saves only the SSE registers, and XGETBV is an invalid instruction. */
    return setwise_features_of(leaf0, leaf1, leaf7, leaf1[2] >> 27 & 1 ? setwise_saved_state() : 0);
#else
    return 0;
#endif
}

/* Return the usable features. The first call detects them; concurrent first calls get the same result. */
SETWISE_INLINE uint32_t setwise_detected(void) {
    static volatile uint32_t known;
    uint32_t features;
#if defined(_MSC_VER) && !defined(__clang__)
    features = known;
#else
    features = __atomic_load_n(&known, __ATOMIC_RELAXED);
#endif
    if (features == 0) {
        features = setwise_detect() | 1u;
#if defined(_MSC_VER) && !defined(__clang__)
        known = features;
#else
        __atomic_store_n(&known, features, __ATOMIC_RELAXED);
#endif
    }
    return features;
}

/* Return the usable features. CPUID is consulted only if the compiler's flags do not enable all that are wanted. */
#define SETWISE_FEATURES(wanted) \\
    (SETWISE_ENABLED | (((wanted) & ~SETWISE_ENABLED) == 0 ? 0 : setwise_detected()))"""

_PUBLIC = ("_ISA", "_INLINE_H", "_STACK_ALIGNED", "_TARGET")
"""Endings of the macros that stay defined."""
_ISA = "A function with _isa at the end of its name tells which."
_SPREAD = {2: "_mm_set1_epi64x", 4: "_mm256_set1_epi64x", 8: "_mm512_set1_epi64"}


class _C(WithIntrinsics):
    """The C syntax of a kernel."""

    NAME = "C"
    WORD = "uint64_t"
    NUMBER = "{}ULL"
    SIGNED, UNSIGNED = "SETWISE_CAST(long long, {})", "SETWISE_CAST(uint64_t, {})"
    MASK = "SETWISE_CAST(__mmask8, {})"
    CONSTANT, VARIABLE = "const {type} {name} = {text};", "{type} {name} = {text};"
    TABLE = ("static const uint{bits}_t {name}[{length}] = {{", "};")
    LOOP, LEAVE = "for (;;) {", ("if ({}) break;",)
    WHEN, UNUSED = "if ({}) {{", "(void){};"
    SWITCH, ARM, DEFAULT = "switch ({}) {{", "case {}: {{", "default: {"
    ARM_ENDS, INDENTED_ARMS = ("} break;", "} /* fall through */", "} break;"), False

    def call(self, name: str, arguments: Sequence[str], immediates: Sequence[str]) -> str:
        return f"{name}({', '.join([*arguments, *immediates])})"

    def vector(self, lanes: tuple[int, ...]) -> str:
        numbers = [self.number(lane) if lane >> 31 else str(lane) for lane in lanes]
        if len(set(numbers)) == 1:
            return f"{_SPREAD[len(lanes)]}({self.SIGNED.format(numbers[0])})"
        return f"SETWISE_LANES{len(lanes)}({', '.join(numbers)})"

    def load(self, pointer: str, index: str, lanes: int) -> str:
        if lanes == 1:
            return super().load(pointer, index, lanes)
        return f"{named(LOAD, lanes)}({_pointer(f'const {VECTORS[lanes]}', f'{pointer} + {index}')})"

    def store(self, pointer: str, index: str, boards: str, lanes: int) -> str:
        if lanes == 1:
            return super().store(pointer, index, boards, lanes)
        place = pointer if index == "0" else f"{pointer} + {index}"
        return f"{named(STORE, lanes)}({_pointer(VECTORS[lanes], place)}, {boards});"


def _pointer(target: str, value: str) -> str:
    """Return the cast of a pointer to a pointer to another type, by way of a pointer to void."""
    void = "const void" if target.startswith("const ") else "void"
    return f"SETWISE_CAST({target} *, SETWISE_CAST({void} *, {value}))"


def function(kernel: Kernel, name: str, needs: Sequence[str]) -> str:
    """Return the kernel as one inline function with this name, for compilers that may use these features."""
    named = ",".join("bmi" if feature == "bmi1" else feature for feature in needs if feature != FAST_PEXT)
    attribute = [f'SETWISE_TARGET("{named}")'] if named else []
    text = function_text((*attribute, f"{_linkage(kernel)} {prototype(kernel, name)} {{"), body(kernel, _C()))
    return prefixed(text, kernel.prefix)


def _linkage(kernel: Kernel) -> str:
    """Return the macro of the specifiers of a function that calls the kernel, or is the kernel itself."""
    return "SETWISE_CONSTEXPR" if runs_when_compiled(kernel) else "SETWISE_INLINE"


def prefixed(text: str, prefix: str) -> str:
    """Replace the prefix in the names of functions and macros."""
    return re.sub(r"\bsetwise_", f"{prefix}_", re.sub(r"(?:\b|(?<=-D))SETWISE_", f"{prefix.upper()}_", text))


def files(order: Order) -> dict[str, bytes]:
    """Return the header's file name and content."""
    return {f"{_stem(order)}.h": header(order).encode("ascii")}


def _stem(order: Order) -> str:
    """Return the header's file name without extension. It differs from the header of object files."""
    return order.name or f"{order.prefix}_inline"


def header(order: Order) -> str:
    """Return the header for C11 and C++17, GCC, Clang and MSVC.

    On other processors than x86-64 the functions in plain C remain.
    """
    offered = choices(order)
    functions = [
        *structures(order, "C"),
        *(_guarded(kernel, _documented(kernel, order)) for kernel in order.kernels),
        *_features(offered, order.dispatch),
        *(_choice(choice, order.dispatch) for choice in offered),
        _ending(order, offered),
    ]
    digest = sha256("\n".join(functions).encode("ascii")).hexdigest()[:8]
    pext = FAST_PEXT in features_of(offered)
    parts = _GUARD.format(digest=digest, prefix=order.prefix), HEAD, opening(digest, pext=pext)
    defined = dict.fromkeys(re.findall(r"# *define (SETWISE_\w+)", "\n".join((*parts, *functions))))
    private = [f"#undef {name}" for name in defined if not name.endswith(_PUBLIC)]
    text = "\n\n".join((*parts, *functions, "\n".join(private), TAIL, "#endif", "/* clang-format on */")) + "\n"
    return f"/* clang-format off */\n{_introduction(order, offered)}\n\n{prefixed(text, order.prefix)}"


def _introduction(order: Order, offered: Sequence[Choice]) -> str:
    lines = [
        *head(order, f"{_stem(order)}.h"),
        "",
        *wrap(f"C11 and C++17, header only. {boards(order.kernels)}", 116),
        NOTE,
    ]
    if order.kernels[1:] and offered:
        how = choice_basis(order.dispatch, "-mavx2, -march=native")
        text = f"Functions without an instruction set in their name use the newest one, chosen {how}. {_ISA}"
        lines += wrap(text, 116, break_on_hyphens=False)
    lines += pext_note(offered, prefixed("-DSETWISE_PEXT", order.prefix))
    return _comment(lines)


def _documented(kernel: Kernel, order: Order) -> str:
    facts = source_facts(kernel, order)
    remark = _comment(about(kernel, facts, f"Usage: {usage(kernel)}"), documents=True)
    return f"{remark}\n{function(kernel, symbol(kernel), facts.features)}"


def _guarded(kernel: Kernel, text: str) -> str:
    if kernel.target.name == "x86-64":
        return text
    return f"#if defined({kernel.prefix.upper()}_X86_64)\n{text}\n#endif"


def _comment(lines: Sequence[str], *, documents: bool = False) -> str:
    return "\n".join(("/**" if documents else "/*", *(f" * {line}".rstrip() for line in lines), " */"))


def _features(offered: Sequence[Choice], dispatch: bool) -> Iterator[str]:
    """Yield the definitions from which `SETWISE_FEATURES()` finds the usable features, if a choice needs them."""
    wanted = features_of(offered)
    if not wanted:
        return
    masked = sum(BITS[feature] for feature in wanted if "state" not in cpuid_test(feature))
    avx = any("state" in cpuid_test(feature) for feature in wanted)
    if avx:
        yield _ALIGNMENT
    lines = ["/* A bit for each CPU feature that a choice depends on, and those that this compiler supports. */"]
    lines += lines_for(wanted, "#define SETWISE_CPU_{name} {bit}u")
    usable = f"(SETWISE_STACK_ALIGNED ? 0xFFFFFFFFu : {masked}u)" if avx else "0xFFFFFFFFu"
    yield "\n".join((*lines, f"#define SETWISE_USABLE {usable}"))
    lines = ["/* The features that the compiler flags enable. */"]
    for feature in wanted:
        given = _TESTS.get(feature, "defined(__{name}__)")
        lines += lines_for([feature], _ENABLED.replace("{given}", given))
    enabled = " | \\\n    ".join(lines_for(wanted, "SETWISE_ENABLED_{name}"))
    yield "\n".join((*lines, f"#define SETWISE_ENABLED (({enabled}) & SETWISE_USABLE)"))
    if dispatch:
        yield _DETECT
        if FAST_PEXT in wanted:
            yield _SLOW_PEXT
        yield _features_of(wanted)
        yield _DETECTED
    else:
        yield "#define SETWISE_FEATURES(wanted) SETWISE_ENABLED"


def _features_of(wanted: Sequence[str]) -> str:
    """Return a function from the results of CPUID and XGETBV to features."""
    syntax = "({word} & {mask}u) == {mask}u", "!setwise_slow_pext(leaf0, leaf1)", " && "
    lines = lines_for(wanted, "    if ({test})\n        found |= SETWISE_CPU_{name};", *syntax)
    return "\n".join((_FEATURES_OF, *folded(lines), "    return found & SETWISE_USABLE;", "}"))


def _mask(needs: Sequence[str]) -> str:
    return " | ".join(lines_for(needs, "SETWISE_CPU_{name}"))


def _choice(choice: Choice, dispatch: bool) -> str:
    """Return the function that calls the best kernel, with its comment, and the one that names that kernel."""
    plain = choice.plain
    arguments = ", ".join(parameter.name for parameter in plain.routine.contract.parameters)
    call, leave = ("return {}({});", ()) if returns(plain) else ("{}({});", ("return;",))
    remark = _comment(described(plain.routine, f"Usage: {usage(plain, choice.name)}"), documents=True)
    head = f"{_linkage(plain)} {prototype(plain, choice.name)}"
    calls = _branching(choice, head, lambda kernel: call.format(symbol(kernel), arguments), leave)
    named = f'/** Return the instruction set that {choice.name}() uses, such as "{plain.target.name}". */'
    head = f"SETWISE_{'INLINE' if dispatch else 'CONSTEXPR'} const char *{choice.name}_isa(void)"
    if dispatch:
        names = _branching(choice, head, lambda kernel: f'return "{isa_name(kernel)}";')
        return f"{remark}\n{calls}\n\n{named}\n{names}"
    macro = f"{choice.name.upper()}_ISA"
    chosen = "\n".join(_chosen(choice, macro))
    return f"{remark}\n{calls}\n\n{chosen}\n\n{named}\n{head} {{\n    return {macro};\n}}"


def _chosen(choice: Choice, macro: str) -> Iterator[str]:
    """Yield the macro of the instruction set chosen at compile time, and a message if AVX2 is enabled but not used."""
    yield f"/* The instruction set that {choice.name}() uses. */"
    for kernel, needs in choice.better:
        yield f"#{'if' if kernel is choice.better[0][0] else 'elif'} (~SETWISE_ENABLED & ({_mask(needs)})) == 0"
        yield f'#define {macro} "{isa_name(kernel)}"'
    plain = f'#define {macro} "{isa_name(choice.plain)}"'
    yield from ("#else", plain, "#endif") if choice.better else (plain,)
    newer = [(kernel, needs) for kernel, needs in choice.better if kernel.target.direction_widths]
    if newer and (missing := [feature for feature in newer[-1][1] if feature != "avx2"]):
        yield "#if defined(__AVX2__) && !defined(SETWISE_QUIET) && SETWISE_STACK_ALIGNED && \\"
        yield " && \\\n".join(f"    (~SETWISE_ENABLED & ({_mask(needs)})) != 0" for _, needs in newer)
        yield f'#pragma message("{choice.name}() uses " {macro} ", although AVX2 is enabled: " \\'
        yield f'    "{isa_name(newer[-1][0])} needs {", ".join(missing)} (no message with -DSETWISE_QUIET)")'
        yield "#endif"


def _branching(choice: Choice, head: str, ending: Callable[[Kernel], str], leave: Sequence[str] = ()) -> str:
    """Return a function with a statement for the best kernel of a choice, followed by the statements that leave it."""
    lines = []
    for kernel, needs in choice.better:
        mask = f"({_mask(needs)})" if needs[1:] else _mask(needs)
        test = f"if ((~features & {mask}) == 0)"
        lines += [f"{test} {{" if leave else test, *indented([ending(kernel), *leave]), *("}" for _ in leave)]
    if lines:
        features = f"uint32_t features = SETWISE_FEATURES({_mask(choice.features)});"
        if head.startswith("SETWISE_CONSTEXPR"):  # not const: the initializer of a constant would be a constant
            features = features.replace("= ", "= SETWISE_IS_CONSTANT() ? 0 : ")
        lines = ["#if defined(SETWISE_X86_64)", features, *lines, "#endif"]
    body = [line if line.startswith("#") else indented([line])[0] for line in (*lines, ending(choice.plain))]
    return "\n".join(folded((f"{head} {{", *body, "}")))


def _ending(order: Order, offered: Sequence[Choice]) -> str:
    """Return the end of all functions: in C++ they are also in a namespace, by their names without a prefix."""
    names: dict[bool, list[tuple[str, str]]] = {False: [], True: []}
    for each in order.kernels:
        names[each.target.name == "x86-64"].append((bare_symbol(each), symbol(each)))
    names[True] += [(choice.bare + end, choice.name + end) for end in ("", "_isa") for choice in offered]
    return ending(order.prefix, names[True], names[False])
