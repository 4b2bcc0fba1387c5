"""Names that parameters and routines of users must not have, because an export could not use them."""

import re

_LANGUAGES = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t compl const const_cast
constexpr continue decltype default delete do double dynamic_cast else enum explicit export extern false float for
friend goto if inline int int64_t linux long mutable namespace new noexcept not_eq nullptr operator or or_eq private
protected public register reinterpret_cast restrict return short signed sizeof static static_assert static_cast
struct switch template this thread_local throw true try typedef typeid typename uint32_t uint64_t uint8_t union unix
unsigned using virtual void volatile wchar_t while xor xor_eq
abstract as async await become box core crate dyn final fn impl in let loop macro match mod move mut override priv
pub ref self std str super trait type typeof unsafe unsized use usize where yield
addrspace align allowzero anyerror anyframe anyopaque anytype builtin callconv comptime comptime_float comptime_int
defer errdefer error linksection noalias noinline noreturn nosuspend null opaque orelse packed resume suspend test
undefined unreachable usingnamespace var
any append byte cap chan clear close complex copy fallthrough func go import interface iota len make map max min nil
package panic print println range real recover rune select string uint uint64 uintptr
arguments bigint debugger eval function instanceof
cdecl far hyper near pascal small
cpu dir8 has result results
"""
"""Reserved words of C and C++ (with macros of gcc and Windows), Rust, Zig, Go and JavaScript, and names in exports."""
RESERVED = "words of C, Go, JavaScript, Rust and Zig, and names such as t0, f2 and _x"
"""The names that are reserved, in words."""
_WORDS = frozenset(_LANGUAGES.split())
_OURS = re.compile(r"t\d+|[iuf]\d+|setwise.*|_.*")
"""Names of tables and integer types in exports, and names that languages reserve."""


def reserved(name: str) -> bool:
    """Return whether an export language, or an export itself, reserves the name, in any case of letters.

    >>> reserved("type"), reserved("t0"), reserved("knights")
    (True, True, False)
    """
    return name.lower() in _WORDS or bool(_OURS.fullmatch(name.lower()))
