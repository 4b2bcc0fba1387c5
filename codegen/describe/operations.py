"""One table: what each operation computes, lane by lane, and how languages write it.

What is known of the bits of a result, and asked of the bits of an argument, follows from what is computed; so does the
truth table of bitwise operations. An operation that is not in the table may stand in a graph; nothing is known of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from types import MappingProxyType

from setwise.codegen.board import squares

ALL = (1 << 64) - 1
_LOW = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class Operation:
    """What one operation is.

    compute    the result, modulo 2**64, of a lane of the arguments, and of the count where it has one
    bitwise    each bit of the result depends on the bits of the arguments in its place alone
    left       the bits are moved by the count: 1 to the left, -1 to the right
    commutes   the two arguments may change places
    neutral    as the second argument (where it commutes, as either) it changes nothing
    absorbing  as either argument it is the result
    writes     it writes memory and makes no value
    mask       the result lies in a mask register
    free       no instruction makes it
    cycles     about how many it takes where none waits
    said       by language its expression: of {a} and {b}, by {n}, a count, and {m}, what it lacks to 64; as
               call the intrinsic of C and Rust behind _mm_, _mm256_ or _mm512_ ({s}: si128 and so on) and its operands,
               a word each: a b c, arguments; a64, a general register, wanted as a signed number; zero, zeros in all
               lanes; n, the count, truth table or selection of lanes; 1, this number; call4 is that for 4 lanes,
               call_each for a count a lane
    """

    name: str
    compute: Callable[..., int] | None = None
    bitwise: bool = False
    left: int = 0
    commutes: bool = False
    neutral: int | None = None
    absorbing: int | None = None
    writes: bool = False
    mask: bool = False
    free: bool = False
    cycles: int = 1
    said: Mapping[str, str] = field(default_factory=dict)

    @property
    def idempotent(self) -> bool:
        """Whether a value and itself make the value."""
        return self.bitwise and self.commutes and (self.of(0, 0), self.of(ALL, ALL)) == (0, ALL)

    def of(self, *lane: int) -> int:
        """The result for a lane of the arguments."""
        assert self.compute is not None
        return self.compute(*lane) & ALL

    def zeros(self, known: tuple[int, ...], count: int, *, loose: bool) -> int:
        """The bits that are surely zero where those of the arguments are; `loose` takes a shift for a rotate."""
        if self.left and loose:
            return turned(known[0], self.left * count)
        if self.left:
            return ALL & ~self.of(~known[0] & ALL, count)
        if not self.bitwise:
            return 0
        ones = 0
        for corner in _corners(known):
            ones |= self.of(*corner)
        return ALL & ~ones

    def asked(self, wanted: int, at: int, known: tuple[int, ...], count: int) -> int:
        """The bits of argument number `at` on which these bits of the result may depend, the others' known zeros."""
        if self.left:
            return turned(wanted & self.of(ALL, count), -self.left * count)
        if not self.bitwise:
            return ALL
        depends = 0
        for others in _corners((*known[:at], *known[at + 1 :])):
            depends |= self.of(*others[:at], 0, *others[at:]) ^ self.of(*others[:at], ALL, *others[at:])
        return wanted & depends


def _corners(zeros: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Arguments with none, or with all, of the bits that may be one."""
    return product(*((0, ~zero & ALL) for zero in zeros))


def turned(bits: int, count: int) -> int:
    """The bits rotated to the left."""
    return (bits << count % 64 | bits >> -count % 64) & ALL


def _bytes(sign: int) -> Callable[[int, int], int]:
    """Sums, or differences, of the bytes of two numbers, each modulo 256."""

    def compute(a: int, b: int) -> int:
        return sum(((a >> at & 0xFF) + sign * (b >> at & 0xFF) & 0xFF) << at for at in range(0, 64, 8))

    return compute


def _affine(squares: int, matrix: int, n: int) -> int:
    """Each byte times a matrix of bits, whose lowest byte makes the highest bit, plus a number."""
    rows = matrix.to_bytes(8, "big")
    products = (sum((row & byte).bit_count() % 2 << at for at, row in enumerate(rows)) for byte in squares.to_bytes(8))
    return int.from_bytes(byte ^ n for byte in products)


def _gather(bits: int, mask: int) -> int:
    """The bits at the mask's squares, side by side from the lowest."""
    return sum((bits >> square & 1) << at for at, square in enumerate(squares(mask)))


def _scatter(bits: int, mask: int) -> int:
    """The lowest bits, one after the other at the mask's squares."""
    return sum((bits >> at & 1) << square for at, square in enumerate(squares(mask)))


def _same(text: str, **others: str) -> dict[str, str]:
    """The text of C, and of the other languages where they do not say otherwise."""
    return {"C": text, "Rust": text, "Zig": text, **others}


def _by_register(sign: str) -> dict[str, str]:
    """A shift by a count that is known only when the code runs: of it the low six bits count."""
    return _same(f"{{a}} {sign} ({{b}} & 63)", Zig=f"@as(u64, {{a}}) {sign} @as(u6, @truncate({{b}}))")


def _of_bmi2(name: str) -> dict[str, str]:
    """A call, or in Zig, which has none, the instruction."""
    operands = '[result] "=r" (-> u64), : [bits] "r" ({a}), [mask] "r" ({b})'
    return {
        "C": f"_{name}_u64({{a}}, {{b}})",
        "Rust": f"core::arch::x86_64::_{name}_u64({{a}}, {{b}})",
        "Zig": f'asm ("{name}q %[mask], %[bits], %[result]" : {operands})',
    }


_BYTES_OF = "@as(@Vector({{bytes}}, u8), @bitCast({{{}}}))".format
# Of loose shifts nobody looks at what wraps round: a rotate is one instruction that leaves its argument alone.
_ROTATED = _same("{a} << {n} | {a} >> {m}", Rust="u64::rotate_left({a}, {n})", Zig="({a} << {n}) | ({a} >> {m})")
_BACK = _same("{a} >> {n} | {a} << {m}", Rust="u64::rotate_right({a}, {n})", Zig="({a} << {m}) | ({a} >> {n})")
# For this every compiler of C has a name of its own, but most know it when they see it.
_FLIPPED = " | ".join(
    f"({{a}} {'<<' if to > 3 else '>>'} {abs(16 * to - 56)} & {0xFF << 8 * to:#x})" for to in reversed(range(8))
)

_TABLE = (
    *(Operation(name, free=True) for name in ("const", "param", "phi", "result", "place")),
    Operation("copy", lambda a: a, bitwise=True, free=True),
    Operation("done", writes=True, free=True),  # ends a routine whose regions did all its writing
    Operation(
        "and",
        lambda a, b: a & b,
        True,
        commutes=True,
        neutral=ALL,
        absorbing=0,
        said=_same("{a} & {b}", call="and_{s} a b"),
    ),
    Operation(
        "or",
        lambda a, b: a | b,
        True,
        commutes=True,
        neutral=0,
        absorbing=ALL,
        said=_same("{a} | {b}", call="or_{s} a b"),
    ),
    Operation("xor", lambda a, b: a ^ b, True, commutes=True, neutral=0, said=_same("{a} ^ {b}", call="xor_{s} a b")),
    Operation("not", lambda a: ~a, True, said=_same("~{a}", Rust="!{a}")),
    Operation("andn", lambda a, b: ~a & b, True, said=_same("~{a} & {b}", Rust="!{a} & {b}", call="andnot_{s} a b")),
    Operation("select", lambda a, b, c: a & b | ~a & c, True),
    Operation(
        "add",
        lambda a, b: a + b,
        commutes=True,
        neutral=0,
        said=_same("{a} + {b}", Rust="u64::wrapping_add({a}, {b})", Zig="{a} +% {b}", call="add_epi64 a b"),
    ),
    Operation(
        "sub",
        lambda a, b: a - b,
        neutral=0,
        said=_same("{a} - {b}", Rust="u64::wrapping_sub({a}, {b})", Zig="{a} -% {b}", call="sub_epi64 a b"),
    ),
    Operation(
        "mul",
        lambda a, b: a * b,
        commutes=True,
        neutral=1,
        said=_same("{a} * {b}", Rust="u64::wrapping_mul({a}, {b})", Zig="{a} *% {b}"),
    ),
    Operation(
        "add-bytes", _bytes(1), said={"Zig": f"@bitCast({_BYTES_OF('a')} +% {_BYTES_OF('b')})", "call": "add_epi8 a b"}
    ),
    Operation(
        "sub-bytes", _bytes(-1), said={"Zig": f"@bitCast({_BYTES_OF('a')} -% {_BYTES_OF('b')})", "call": "sub_epi8 a b"}
    ),
    Operation(
        "scaled-sum",
        lambda a, b, n: a + (b << n),
        said=_same("{a} + ({b} << {n})", Rust="u64::wrapping_add({a}, {b} << {n})", Zig="{a} +% ({b} << {n})"),
    ),
    Operation(
        "shl",
        lambda a, n: a << n if n < 64 else 0,
        left=1,
        said=_same("{a} << {n}", call="slli_epi64 a n", call_each="sllv_epi64 a b"),
    ),
    Operation(
        "shr", lambda a, n: a >> n, left=-1, said=_same("{a} >> {n}", call="srli_epi64 a n", call_each="srlv_epi64 a b")
    ),
    Operation("rotl", turned, left=1, said=_ROTATED | {"call": "rol_epi64 a n", "call_each": "rolv_epi64 a b"}),
    Operation("low-shl", lambda a, n: a << n & _LOW, said=_same("{a} << {n} & 0xFFFFFFFF")),
    Operation("loose-shl", said=_ROTATED),
    Operation("loose-shr", said=_BACK),
    Operation("shlv", lambda a, n: a << n % 64, said=_by_register("<<")),
    Operation("shrv", lambda a, n: a >> n % 64, said=_by_register(">>")),
    Operation(
        "rotlv",
        turned,
        said=_same(
            "{a} << ({b} & 63) | {a} >> ((64 - {b}) & 63)",
            Rust="u64::rotate_left({a}, {b} as u32 & 63)",
            Zig="std.math.rotl(u64, {a}, {b})",
        ),
    ),
    Operation(
        "flip",
        lambda a: int.from_bytes(a.to_bytes(8), "little"),
        said=_same(_FLIPPED, Rust="u64::swap_bytes({a})", Zig="@byteSwap({a})"),
    ),
    Operation(
        "popcount",
        lambda a: a.bit_count(),
        said={
            "C": "SETWISE_CAST(uint64_t, _mm_popcnt_u64({a}))",
            "Rust": "u64::count_ones({a}) as u64",
            "Zig": "@popCount({a})",
        },
    ),
    Operation("gather", _gather, cycles=3, said=_of_bmi2("pext")),
    Operation("scatter", _scatter, cycles=3, said=_of_bmi2("pdep")),
    Operation("as-wide", free=True, said={"call4": "castsi128_si256 a", "call8": "castsi128_si512 a"}),
    Operation(
        "extended",
        free=True,
        said={
            "Zig": "@shuffle(u64, {a}, @as(@Vector(1, u64), .{{0}}), [8]i32{{ 0, 1, 2, 3, -1, -1, -1, -1 }})",
            "call8": "inserti64x4 zero a 0",  # rustc knows it where it does not know the extension
        },
    ),
    Operation("low-half", free=True, said={"call4": "castsi256_si128 a", "call8": "castsi512_si256 a"}),
    Operation(
        "high-half",
        said={"call2": "shuffle_epi32 a 238", "call4": "extracti128_si256 a 1", "call8": "extracti64x4_epi64 a 1"},
    ),
    Operation("broadcast", said={"Zig": "@splat({a})", "call": "set1_epi64x a64", "call8": "set1_epi64 a64"}),
    Operation("splat", said={"Zig": "@splat({a}[0])", "call": "broadcastq_epi64 a"}),
    Operation("from-general", said={"Zig": ".{{ {a}, 0 }}", "call": "cvtsi64_si128 a64"}),
    Operation("join", said={"call": "unpacklo_epi64 a b"}),
    Operation("join-odd", said={"call": "unpackhi_epi64 a b"}),
    Operation("interleave", said={"call": "unpacklo_epi8 a b"}),
    Operation("interleave-high", said={"call": "unpackhi_epi8 a b"}),
    Operation("exchange", said={"call": "shuffle_i64x2 a a 177"}),
    Operation("repeat", said={"call": "shuffle_i64x2 a b 0"}),
    Operation("to-general", said={"Zig": "{a}[0]", "call": "cvtsi128_si64 a"}),
    Operation("odd-to-general", said={"Zig": "{a}[1]", "call": "extract_epi64 a 1"}),
    Operation("insert", said={"Zig": ".{{ {a}[0], {b} }}", "call": "insert_epi64 a b64 1"}),
    Operation("ternary", said={"call": "ternarylogic_epi64 a b c n"}),
    Operation("blend", said={"call": "blend_epi32 b a n"}),
    Operation("permute", said={"call": "permute4x64_epi64 a n"}),
    Operation("permute-bytes", said={"call": "permutexvar_epi8 b a"}),
    Operation("affine", _affine, cycles=3, said={"call": "gf2p8affine_epi64_epi8 a b n"}),
    Operation("test-bytes", mask=True, said={"call": "test_epi8_mask a b"}),
    Operation("from-mask", said={"C": "{a}", "Rust": "{a}"}),
    *(Operation(name) for name in ("unite", "total", "beside")),  # of lanes: gone when code is made
    *(Operation(name, writes=True) for name in ("store", "put", "put-low", "put-entry")),
    *(Operation(name) for name in ("load", "reload", "splat-reload", "argument", "load-constant")),
    *(Operation(name) for name in ("table", "entry", "address", "distance")),
    *(Operation(name) for name in ("step", "run", "path")),  # of rays: gone when code is made
)

OPERATIONS: Mapping[str, Operation] = MappingProxyType({operation.name: operation for operation in _TABLE})
"""By name."""
COMMUTATIVE = frozenset(operation.name for operation in _TABLE if operation.commutes)
WRITES = frozenset(operation.name for operation in _TABLE if operation.writes)


@cache
def operation_named(name: str) -> Operation:
    """The operation of that name; one of which nothing is known where the table has none.

    >>> operation_named("andn").of(0b1100, 0b1010)
    2
    """
    return OPERATIONS.get(name) or Operation(name)
