"""The namespaces of a C header's functions in C++: one that compiler flags name, and one without prefixes."""

from collections.abc import Iterable
from string import ascii_lowercase
from textwrap import wrap

_FLAGS = (
    *("SSE3", "SSSE3", "SSE4_1", "SSE4_2", "POPCNT", "AVX", "AVX2", "BMI", "BMI2", "LZCNT", "MOVBE", "TBM", "XOP"),
    *("GFNI", "APX_F", "AVX512F", "AVX512VL", "AVX512BW", "AVX512DQ", "AVX512CD", "AVX512IFMA", "AVX512VBMI"),
    *("AVX512VBMI2", "AVX512BITALG", "AVX512VPOPCNTDQ"),
)
"""The flags by which compilers choose instructions for kernels. Their macros are 1 or undefined."""

_OPENING = """\
#if defined(__cplusplus)
/* Of functions with the same name linkers keep one. So a file with other compiler flags has other names: each digit of
   the namespace stands for a flag. The macro of a flag is 1, or undefined and thus its own name. */
#define SETWISE_DIGIT_1 1
{undefined}
#define SETWISE_DIGIT_OF(value) SETWISE_DIGIT_##value
#define SETWISE_DIGIT(flag) SETWISE_DIGIT_OF(flag)
#define SETWISE_JOIN({letters}) \\
    setwise_{digest}_##{joined}
#define SETWISE_JOIN_VALUES({letters}) \\
    SETWISE_JOIN({letters})
#define SETWISE_NAMESPACE SETWISE_JOIN_VALUES( \\
    {digits})
extern "C++" {{
inline namespace SETWISE_NAMESPACE {{
#endif"""


def opening(digest: str, *, pext: bool) -> str:
    """Return the beginning of the namespace of an export with this digest, for functions with global names.

    The flags are part of its name, with the macro SETWISE_PEXT if `pext`.
    """
    flags = [*(f"__{flag}__" for flag in _FLAGS), *(["SETWISE_PEXT"] if pext else ())]
    letters = ascii_lowercase[: len(flags)]
    return _OPENING.format(
        digest=digest,
        undefined="\n".join(f"#define SETWISE_DIGIT_{flag} 0" for flag in flags),
        letters=", ".join(letters),
        joined="##".join(letters),
        digits=" \\\n    ".join(wrap(", ".join(f"SETWISE_DIGIT({flag})" for flag in flags), 114)),
    )


def ending(prefix: str, everywhere: Iterable[tuple[str, str]], on_x86: Iterable[tuple[str, str]]) -> str:
    """Return the end of the namespace, and another one, of the prefix, with functions by their names without it.

    The functions, of all processors and of x86-64 alone, are pairs of such a name and the global one.
    """
    lines = ["#if defined(__cplusplus)", "}", f"namespace {prefix} {{", "inline namespace SETWISE_NAMESPACE {"]
    known, more = ([f"inline constexpr auto &{bare} = {name};" for bare, name in one] for one in (everywhere, on_x86))
    lines += [*known, *(["#if defined(SETWISE_X86_64)", *more, "#endif"] if more else [])]
    return "\n".join((*lines, "}", f"}} // namespace {prefix}", '} // extern "C++"', "#endif"))
