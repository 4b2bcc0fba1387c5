"""Words that the languages of exports reserve, or that an export in a language uses."""

import re

_ALL = """
break case const continue default else enum export extern false for if import return static switch this true void
while
"""
_FEATURES = (
    "sse2 popcnt bmi1 bmi2 fast_pext avx avx2 avx512f avx512vl avx512bw avx512vbmi gfni avx512dq avx512vpopcntdq"
    " avx512bitalg"
)
_OWN = {
    "C": """
alignas alignof and and_eq asm auto bitand bitor bool catch cdecl char char16_t char32_t compl const_cast constexpr
cpuid decltype delete detect detected do double dynamic_cast eof explicit far features features_of float friend goto
hyper in inline int int64_t interface linux long mutable namespace near new noexcept not not_eq null nullptr operator
or or_eq out pascal private protected public register reinterpret_cast restrict saved_state short signed sizeof
slow_pext small static_assert static_cast struct template thread_local throw try typedef typeid typename uint32_t
uint64_t uint8_t union unix unsigned using virtual volatile wchar_t xor xor_eq
""",
    "Rust": _FEATURES
    + """
abstract as async await become bool box char core crate detect detected do dyn enabled features features_of final fn
gen impl in known let loop macro match mod move mut override priv pub ref results saved_state self slow_pext str
struct super trait try type typeof u8 union unsafe unsized use usize virtual where yield
""",
    "Zig": _FEATURES
    + """
addrspace align allowzero and anyerror anyframe anyopaque anytype asm assembles async await bool builtin callconv
catch comptime comptime_float comptime_int cpuid defer detected errdefer error features features_of fn has inline
known linksection noalias noinline noreturn nosuspend null opaque or orelse packed pub results resume std struct
suspend test threadlocal try type undefined union unreachable usingnamespace usize var volatile
""",
    "Go": """
any append bool byte cap chan clear close complex copy cpu defer delete error fallthrough float32 float64 func go goto
int int64 interface iota len make map max min new nil package panic print println range real recover rune select
string struct type uint uint32 uint64 uint8 uintptr var
""",
    "JavaScript": """
arguments async await bigint biguint64array catch class debugger delete do eval extends finally function implements in
instanceof interface let new null package private protected public results super throw try typeof undefined var with
yield
""",
}
WORDS = {language: frozenset((_ALL + words).split()) for language, words in _OWN.items()}
"""Words of each language, of its libraries and of its exports, in lower case. C is also C++, with common macros."""
_ZIG_LOCALS = "a b c d family feature found high leaf leaf0 leaf1 leaf7 slow_pext state wanted"
LOCALS = {"Zig": frozenset(_ZIG_LOCALS.split())}
"""Names of local values in the exports of a language, which no function may have there."""
RESERVED = "words of C, Go, JavaScript, Rust and Zig, and names such as t0, f2 and _x"
"""The names that are reserved in some language, in words."""
_OURS = re.compile(r"t\d+|setwise.*|_.*")
"""Names of tables in exports, and names that languages reserve."""
_TYPES = re.compile(r"[iuf]\d+")
"""Names of types in Rust and Zig."""
_REGISTERS = re.compile(r"[xyzrk]\d+|[abcd]x|[sd]i|[bsf]p|sb|pc|g")
"""Names of registers in Go's assembly, which is part of its packages."""
_LONGEST = 64


def reserved(name: str, *languages: str) -> bool:
    """Return whether one of these languages, or an export in it, reserves the name in any case; by default of all.

    >>> reserved("type", "Rust"), reserved("type", "C"), reserved("t0", "C"), reserved("knights")
    (True, False, True, False)
    """
    name, every = name.lower(), languages or tuple(WORDS)
    special = (_OURS, *([_TYPES] if {"Rust", "Zig"} & {*every} else []), *([_REGISTERS] if "Go" in languages else []))
    return any(each.fullmatch(name) for each in special) or any(name in WORDS[language] for language in every)


def checked_name(name: str) -> str:
    """Return the name if it can be a prefix of files, macros, namespaces and symbols, else raise ValueError.

    >>> checked_name("my_engine")
    'my_engine'
    """
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*", name) or len(name) > _LONGEST:
        rule = f"use up to {_LONGEST} ASCII letters and digits, a letter first, single _ only between"
        raise ValueError(f"{name!r} cannot begin names: {rule}")
    if name != "setwise" and reserved(name):
        raise ValueError(f"{name!r} is reserved in exports ({RESERVED}): choose another")
    return name
