"""Templates for the text of each operation in C, Go, Rust and Zig."""

from collections.abc import Mapping


def _same(text: str, **others: str) -> dict[str, str]:
    """Return templates by language: `text` for C, Go, Rust and Zig, replaced and supplemented by `others`."""
    return {"C": text, "Go": text, "Rust": text, "Zig": text, **others}


def _by_register(sign: str) -> dict[str, str]:
    """Return the templates of a shift, << or >>, by a count that is known at run time, modulo 64."""
    return _same(f"{{a}} {sign} ({{b}} & 63)", Zig=f"@as(u64, {{a}}) {sign} @as(u6, @truncate({{b}}))")


def _lowest(sign: str, with_it: str) -> dict[str, str]:
    """Return the templates of a board joined by `sign` with itself less 1, or with its negation."""
    rust, zig = ("wrapping_sub({a}, 1)", "{a} -% 1") if with_it == "{a} - 1" else ("wrapping_neg({a})", "0 -% {a}")
    return _same(f"{{a}} {sign} ({with_it})", Rust=f"{{a}} {sign} u64::{rust}", Zig=f"{{a}} {sign} ({zig})")


def _where(truth: str) -> str:
    """Return the template of lanes that are all ones where a truth holds in Zig, else 0."""
    return f"@select(u64, {truth}, @as({{type}}, @splat(0xFFFFFFFFFFFFFFFF)), @as({{type}}, @splat(0)))"


def _truths(sign: str, kind: str = "{}") -> str:
    """Return the template of the bits of a comparison in Zig, with both operands converted as `kind` says."""
    compared = f"{kind.format('{a}')} {sign} {kind.format('{b}')}"
    return f"@as(u64, @as(u{{lanes}}, @bitCast({compared})))"


def _of_bmi2(name: str) -> dict[str, str]:
    """Return the templates of a BMI2 instruction: an intrinsic; in Zig, which has none, inline assembly."""
    operands = '[result] "=r" (-> u64), : [bits] "r" ({a}), [mask] "r" ({b})'
    return {
        "C": f"_{name}_u64({{a}}, {{b}})",
        "Rust": f"core::arch::x86_64::_{name}_u64({{a}}, {{b}})",
        "Zig": f'asm ("{name}q %[mask], %[bits], %[result]" : {operands})',
    }


def _signed_shift(count: str, zig_count: str) -> dict[str, str]:
    """Return the templates of a right shift with copies of the highest bit."""
    return {
        "C": f"SETWISE_CAST(uint64_t, SETWISE_CAST(int64_t, {{a}}) >> {count})",
        "Go": f"uint64(int64({{a}}) >> {count})",
        "Rust": f"({{a}} as i64 >> {count}) as u64",
        "Zig": f"@as({{type}}, @bitCast({_AS_SIGNED('{a}')} >> {zig_count}))",
    }


def _sum(text: str, first: str) -> dict[str, str]:
    """Return the templates of a sum of three."""
    nested = f"u64::wrapping_add(u64::wrapping_add({first}), {{c}})"
    return _same(text, Rust=nested, Zig=text.replace("+", "+%"))


_BYTES_OF = "@as(@Vector({{bytes}}, u8), @bitCast({{{}}}))".format
_EVEN_BYTES = "@as({type}, @splat(0x00FF00FF00FF00FF))"
_PAIRS = f"({{a}} & {_EVEN_BYTES}) + ({{a}} >> @splat(8) & {_EVEN_BYTES})"
_BYTES_SUMMED = f"(({_PAIRS}) *% @as({{type}}, @splat(0x0001000100010001))) >> @splat(48)"
_PLACES = "std.simd.iota(u6, {lanes}) * @as(@Vector({lanes}, u6), @splat(8))"
_NARROWED = f".{{{{ @reduce(.Or, ({{a}} & @as({{type}}, @splat(0xFF))) << ({_PLACES})), 0 }}}}"

_LOADED = f".{{{{ {', '.join(f'if ({{c}} & {1 << at} != 0) {{a}}[{{b}} + {at}] else 0' for at in range(8))} }}}}"
_STORED = "inline for (0..{lanes}) |at| if ({d} >> at & 1 != 0) {{ {a}[{b} + at] = {c}[at]; }}"

# For shl-or-rotl the wrapped bits are not demanded, and a rotate is one non-destructive instruction.
_ROTATED = _same("{a} << {n} | {a} >> {m}", Rust="u64::rotate_left({a}, {n})", Zig="({a} << {n}) | ({a} >> {m})")
_BACK = _same("{a} >> {n} | {a} << {m}", Rust="u64::rotate_right({a}, {n})", Zig="({a} << {m}) | ({a} >> {n})")
# Each C compiler has its own byte swap, but most recognize this expression.
_FLIPPED = " | ".join(
    f"({{a}} {'<<' if to > 3 else '>>'} {abs(16 * to - 56)} & {0xFF << 8 * to:#x})" for to in reversed(range(8))
)

_AS_SIGNED = "@as({{signed}}, @bitCast({}))".format
_BY_B = "@as({small}, @truncate({b}))"

_WORDS = "@bitCast(@shuffle(u16, @as(@Vector(8, u16), @bitCast({{a}})), undefined, [8]i32{{{{ {} }}}}))".format

EXPRESSIONS: Mapping[str, Mapping[str, str]] = {
    "and": _same("{a} & {b}", call="and_{s} a b"),
    "or": _same("{a} | {b}", call="or_{s} a b"),
    "xor": _same("{a} ^ {b}", call="xor_{s} a b"),
    "not": _same("~{a}", Go="^{a}", Rust="!{a}"),
    "andn": _same("~{a} & {b}", Go="{b} &^ {a}", Rust="!{a} & {b}", call="andnot_{s} a b"),
    "add": _same("{a} + {b}", Rust="u64::wrapping_add({a}, {b})", Zig="{a} +% {b}", call="add_epi64 a b"),
    "sub": _same("{a} - {b}", Rust="u64::wrapping_sub({a}, {b})", Zig="{a} -% {b}", call="sub_epi64 a b"),
    "mul": _same("{a} * {b}", Rust="u64::wrapping_mul({a}, {b})", Zig="{a} *% {b}", call="mullo_epi64 a b"),
    "low-product": {
        "Zig": "({a} & @as({type}, @splat(0xFFFFFFFF))) *% ({b} & @as({type}, @splat(0xFFFFFFFF)))",
        "call": "mul_epu32 a b",
    },
    "neg": _same("0 - {a}", Rust="u64::wrapping_neg({a})", Zig="0 -% {a}"),
    "add-bytes": {"Zig": f"@bitCast({_BYTES_OF('a')} +% {_BYTES_OF('b')})", "call": "add_epi8 a b"},
    "sub-bytes": {"Zig": f"@bitCast({_BYTES_OF('a')} -% {_BYTES_OF('b')})", "call": "sub_epi8 a b"},
    "scaled-sum": _same("{a} + ({b} << {n})", Rust="u64::wrapping_add({a}, {b} << {n})", Zig="{a} +% ({b} << {n})"),
    "shl": _same("{a} << {n}", call="slli_epi64 a n", call_each="sllv_epi64 a b"),
    "shr": _same("{a} >> {n}", call="srli_epi64 a n", call_each="srlv_epi64 a b"),
    "rotl": _ROTATED | {"Go": "{a}<<{n} | {a}>>{m}", "call": "rol_epi64 a n", "call_each": "rolv_epi64 a b"},
    "rotl-half": {"Zig": _ROTATED["Zig"], "call": "shuffle_epi32 a 177"},
    "rotl-bytes": {"Zig": _ROTATED["Zig"], "call": "shuffle_epi8 a b"},
    "signs-of-halves": {
        "Zig": "@bitCast(@as(@Vector(4, i32), @bitCast({a})) >> @as(@Vector(4, u5), @splat(31)))",
        "call": "srai_epi32 a 31",
    },
    "high-halves": {
        "Zig": "({a} >> @splat(32)) | ({a} & @as({type}, @splat(0xFFFFFFFF00000000)))",
        "call": "shuffle_epi32 a 245",
    },
    "reverse-low-words": {"Zig": _WORDS("3, 2, 1, 0, 4, 5, 6, 7"), "call": "shufflelo_epi16 a 27"},
    "reverse-high-words": {"Zig": _WORDS("0, 1, 2, 3, 7, 6, 5, 4"), "call": "shufflehi_epi16 a 27"},
    "nibble-counts": {
        "Zig": "@bitCast(@as(@Vector({bytes}, u8), @popCount(@as(@Vector({bytes}, u8), @bitCast({b})))))",
        "call": "shuffle_epi8 a b",
    },
    "sum-bytes": {"Zig": _BYTES_SUMMED, "call": "sad_epu8 a b"},
    "displaced-sum": _sum("{a} + {b} + {c}", "{a}, {b}"),
    "displaced-scaled-sum": _sum("{a} + ({b} << {n}) + {c}", "{a}, {b} << {n}"),
    "displaced-shift": _same(
        "({a} << {n}) + {b}", Rust="u64::wrapping_add({a} << {n}, {b})", Zig="({a} << {n}) +% {b}"
    ),
    "low-shl": _same("{a} << {n} & 0xFFFFFFFF"),
    "shl-or-rotl": _ROTATED | {"Go": "{a}<<{n} | {a}>>{m}"},
    "shr-or-rotr": _BACK | {"Go": "{a}>>{n} | {a}<<{m}"},
    "shlv": _by_register("<<"),
    "shrv": _by_register(">>"),
    "rotlv": _same(
        "{a} << ({b} & 63) | {a} >> ((64 - {b}) & 63)",
        Go="{a}<<({b}&63) | {a}>>((64-{b})&63)",
        Rust="u64::rotate_left({a}, {b} as u32 & 63)",
        Zig="std.math.rotl(u64, {a}, {b})",
        call="rolv_epi64 a b",
    )
    | {"Zig lanes": f"({{a}} << {_BY_B}) | ({{a}} >> @as({{small}}, @truncate(@as({{type}}, @splat(0)) -% {{b}})))"},
    "sar": _signed_shift("{n}", "{n}") | {"JavaScript": "BigInt.asIntN(64, {a}) >> {n}", "call": "srai_epi64 a n"},
    "sarv": _signed_shift("({b} & 63)", _BY_B) | {"JavaScript": "BigInt.asIntN(64, {a}) >> ({b} & 63n)"},
    "shl-each": {"Zig": f"{{a}} << {_BY_B}", "call": "sllv_epi64 a b"},
    "shr-each": {"Zig": f"{{a}} >> {_BY_B}", "call": "srlv_epi64 a b"},
    "sar-each": {"Zig": _signed_shift("", _BY_B)["Zig"], "call": "srav_epi64 a b"},
    "shl-all": {"Zig": "{a} << @as({small}, @splat(@truncate({b}[0])))", "call": "sll_epi64 a b"},
    "shr-all": {"Zig": "{a} >> @as({small}, @splat(@truncate({b}[0])))", "call": "srl_epi64 a b"},
    "isolate-lsb": _lowest("&", "0 - {a}"),
    "clear-lsb": _lowest("&", "{a} - 1"),
    "mask-to-lsb": _lowest("^", "{a} - 1"),
    "tzcnt": {
        "C": "SETWISE_CAST(uint64_t, _tzcnt_u64({a}))",
        "Rust": "u64::trailing_zeros({a}) as u64",
        "Zig": "@as(u64, @ctz({a}))",
    },
    "equal": {"Zig": _where("{a} == {b}"), "call": "cmpeq_epi64 a b"},
    "less-signed": {"Zig": _where(f"{_AS_SIGNED('{a}')} < {_AS_SIGNED('{b}')}"), "call": "cmpgt_epi64 b a"},
    "equal-mask": {"Zig": _truths("=="), "call": "cmpeq_epu64_mask a b"},
    "less-mask": {"Zig": _truths("<"), "call": "cmplt_epu64_mask a b"},
    "less-signed-mask": {"Zig": _truths("<", "@as({{signed}}, @bitCast({}))"), "call": "cmplt_epi64_mask a b"},
    "lanes-of-mask": {
        "Zig": _where("@as(@Vector({lanes}, bool), @bitCast(@as(u{lanes}, @truncate({a}))))"),
        "call": "movm_epi64 a8",
    },
    "load-some": {"Zig": _LOADED, "call": "maskz_loadu_epi64 c8 place"},
    "put-some": {"Zig": _STORED, "call": "mask_storeu_epi64 place d8 c"},
    "flip": _same(_FLIPPED, Rust="u64::swap_bytes({a})", Zig="@byteSwap({a})"),
    "popcount": {
        "C": "SETWISE_CAST(uint64_t, _mm_popcnt_u64({a}))",
        "Rust": "u64::count_ones({a}) as u64",
        "Zig": "@as({type}, @popCount({a}))",
        "call": "popcnt_epi64 a",
    },
    "popcount-bytes": {"call": "popcnt_epi8 a"},
    "lanes-to-bytes": {"Zig": _NARROWED, "call": "cvtepi64_epi8 a"},
    "lanes-to-words": {"Zig": "@bitCast(@as(@Vector(8, u16), @truncate({a})))", "call": "cvtepi64_epi16 a"},
    "gather": _of_bmi2("pext"),
    "scatter": _of_bmi2("pdep"),
    "as-wide": {"call4": "castsi128_si256 a", "call8": "castsi128_si512 a"},
    "extended": {
        "Zig": "std.simd.join({a}, @as(@Vector({lanes} / 2, u64), @splat(0)))",
        "call4": "inserti128_si256 zero a 0",
        "call8": "inserti64x4 zero a 0",  # an intrinsic that older rustc versions know, unlike a cast
    },
    "low-half": {"call4": "castsi256_si128 a", "call8": "castsi512_si256 a"},
    "high-half": {"call2": "shuffle_epi32 a 238", "call4": "extracti128_si256 a 1", "call8": "extracti64x4_epi64 a 1"},
    "broadcast": {"Zig": "@splat({a})", "call": "set1_epi64x a64", "call8": "set1_epi64 a64"},
    "splat": {"Zig": "@splat({a}[0])", "call": "broadcastq_epi64 a"},
    "from-general": {"Zig": ".{{ {a}, 0 }}", "call": "cvtsi64_si128 a64"},
    "join": {"call": "unpacklo_epi64 a b"},
    "join-odd": {"call": "unpackhi_epi64 a b"},
    "interleave": {"call": "unpacklo_epi8 a b"},
    "interleave-high": {"call": "unpackhi_epi8 a b"},
    "exchange": {"call": "shuffle_i64x2 a a 177"},
    "repeat": {"call": "shuffle_i64x2 a b 0"},
    "concatenate": {"call4": "inserti128_si256 a b 1", "call8": "inserti64x4 a b 1"},
    "to-general": {"Zig": "{a}[0]", "call": "cvtsi128_si64 a"},
    "odd-to-general": {"Zig": "{a}[1]", "call": "extract_epi64 a 1"},
    "insert": {"Zig": ".{{ {a}[0], {b} }}", "call": "insert_epi64 a b64 1"},
    "ternary": {"call": "ternarylogic_epi64 a b c n"},
    "blend": {"call": "blend_epi32 b a n"},
    "permute": {"call": "permute4x64_epi64 a n"},
    "shuffle-bytes": {"Zig": "@byteSwap({a})", "call": "shuffle_epi8 a b"},  # only byte swaps have this order
    "permute-bytes": {"call": "permutexvar_epi8 b a"},
    "multishift": {"call": "multishift_epi64_epi8 a b"},
    "affine": {"call": "gf2p8affine_epi64_epi8 a b n"},
    "nonzero-bytes-mask": {"call": "test_epi8_mask a b"},
    "not-less-bytes-mask": {"call": "cmpge_epu8_mask a b"},
    "nonzero-lanes": {"Zig": "@reduce(.Or, {a})", "call": "test_epi64_mask a a"},
    "from-mask": {"C": "{a}", "Rust": "{a}"},
    "or-masks": {"C": "{a} | {b}", "Rust": "{a} | {b}"},
}
"""The expression of each operation by language, as a template.

{a} and {b} are the arguments, {n} the count, {m} is 64 - n. {bytes}, {lanes} and {type} are of the result, or of its
arguments if they have more lanes; {signed} and {small} are like {type} with signed and 6-bit numbers. A key with
" lanes" is for vectors, if they differ. JavaScript has the template of C if it has none.

`call` is an intrinsic of C and Rust: its name without _mm_, _mm256_ or _mm512_ ({s} is si128 and so on), then a word
per operand. The words are a to d for arguments; a64 for an argument in a general register as a signed number; a8
for one in a mask register; place for the address of board b of the array a; zero for a zero vector; n for the count,
truth table or lane selection; a literal number.
call4 is for 4 lanes, call_each for per-lane counts.
"""
