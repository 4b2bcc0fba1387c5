"""The intrinsics of C and Rust, which go by the same names: a table, a row an operation on vector registers.

Sources: Intel Intrinsics Guide; Rust's core::arch::x86_64.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from setwise.codegen.describe.values import Value
from setwise.codegen.export.sources.language import Language, Unsaid
from setwise.codegen.targets.table import Target, per_lane_counts, uniform_count


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """How one operation is called.

    In `name`, {p} is the prefix of the register's width (_mm, _mm256, _mm512) and {s} its suffix (si128, si256, si512).
    `operands` are a word each: a b c the arguments; a64 one that is a general register, wanted as a signed number; #i
    the shift count, #t the truth table or selection of lanes, =n the number n: these three are immediates.
    `lanes` are those of the result, or of the argument where the result is a general register; () stands for all.
    """

    op: str
    name: str
    operands: str
    lanes: tuple[int, ...] = ()
    when: Callable[[Value], bool] | None = None


INTRINSICS = (
    Intrinsic("and", "{p}_and_{s}", "a b"),
    Intrinsic("or", "{p}_or_{s}", "a b"),
    Intrinsic("xor", "{p}_xor_{s}", "a b"),
    Intrinsic("andn", "{p}_andnot_{s}", "a b"),
    Intrinsic("ternary", "{p}_ternarylogic_epi64", "a b c #t"),
    Intrinsic("add", "{p}_add_epi64", "a b"),
    Intrinsic("sub", "{p}_sub_epi64", "a b"),
    Intrinsic("add-bytes", "{p}_add_epi8", "a b"),
    Intrinsic("sub-bytes", "{p}_sub_epi8", "a b"),
    Intrinsic("shl", "{p}_slli_epi64", "a #i", when=uniform_count),
    Intrinsic("shr", "{p}_srli_epi64", "a #i", when=uniform_count),
    Intrinsic("rotl", "{p}_rol_epi64", "a #i", when=uniform_count),
    Intrinsic("shl", "{p}_sllv_epi64", "a b", when=per_lane_counts),
    Intrinsic("shr", "{p}_srlv_epi64", "a b", when=per_lane_counts),
    Intrinsic("rotl", "{p}_rolv_epi64", "a b", when=per_lane_counts),
    Intrinsic("blend", "{p}_blend_epi32", "b a #t"),
    Intrinsic("insert", "_mm_insert_epi64", "a b64 =1"),
    Intrinsic("permute", "_mm256_permute4x64_epi64", "a #t"),
    Intrinsic("from-general", "_mm_cvtsi64_si128", "a64"),
    Intrinsic("to-general", "_mm_cvtsi128_si64", "a"),
    Intrinsic("splat", "{p}_broadcastq_epi64", "a"),
    Intrinsic("broadcast", "{p}_set1_epi64x", "a64", (2, 4)),
    Intrinsic("broadcast", "_mm512_set1_epi64", "a64", (8,)),
    Intrinsic("high-half", "_mm_shuffle_epi32", "a =238", when=lambda value: value.args[0].lanes == 2),
    Intrinsic("high-half", "_mm256_extracti128_si256", "a =1", when=lambda value: value.args[0].lanes == 4),
    Intrinsic("high-half", "_mm512_extracti64x4_epi64", "a =1", when=lambda value: value.args[0].lanes == 8),
    Intrinsic("low-half", "_mm256_castsi256_si128", "a", when=lambda value: value.args[0].lanes == 4),
    Intrinsic("low-half", "_mm512_castsi512_si256", "a", when=lambda value: value.args[0].lanes == 8),
    Intrinsic("as-wide", "_mm256_castsi128_si256", "a", (4,)),
)

LOAD = "{p}_loadu_{s}"
STORE = "{p}_storeu_{s}"

BITS = {2: "128", 4: "256", 8: "512"}


def named(template: str, lanes: int) -> str:
    """The intrinsic's name for so many lanes.

    >>> named(LOAD, 4)
    '_mm256_loadu_si256'
    """
    bits = BITS[lanes]
    return template.format(p="_mm" if lanes == 2 else f"_mm{bits}", s=f"si{bits}")


@dataclass(frozen=True, slots=True)
class Call:
    """An intrinsic with its operands: arguments by number, in order, which of them are signed numbers, immediates."""

    name: str
    arguments: tuple[int, ...]
    signed: frozenset[int]
    immediates: tuple[int, ...]


def intrinsic(value: Value) -> Call:
    """The call that makes a value with several lanes, or a general register out of one; Unsaid if there is none."""
    lanes = value.lanes if value.lanes > 1 else value.args[0].lanes
    for row in INTRINSICS:
        if row.op == value.op and (not row.lanes or lanes in row.lanes) and (row.when is None or row.when(value)):
            words = row.operands.split()
            places = tuple("abc".index(word[0]) for word in words if word[0] in "abc")
            signed = frozenset("abc".index(word[0]) for word in words if word.endswith("64") and word[0] in "abc")
            immediates = tuple(_immediate(word, value) for word in words if word[0] in "#=")
            return Call(named(row.name, lanes), places, signed, immediates)
    raise Unsaid(f"there is no intrinsic for '{value.op}' on {lanes} lanes")


def _immediate(word: str, value: Value) -> int:
    if word[0] == "=":
        return int(word[1:])
    return int(value.attr[0] if word == "#i" else value.attr)


class WithIntrinsics(Language):
    """A language that has the intrinsics for vectors."""

    SIGNED: ClassVar[str]
    UNSIGNED: ClassVar[str]
    """A 64-bit number as a signed one, and back."""

    def on_vectors(self, value: Value, operands: Sequence[str]) -> str:
        """The call of an intrinsic."""
        call = intrinsic(value)
        arguments = [self.SIGNED.format(operands[i]) if i in call.signed else operands[i] for i in call.arguments]
        text = self.call(call.name, arguments, list(map(str, call.immediates)))
        return self.UNSIGNED.format(text) if value.lanes == 1 else text

    def call(self, name: str, arguments: Sequence[str], immediates: Sequence[str]) -> str:
        """The expression of a call."""
        raise NotImplementedError


def feature_names(target: Target, names: Mapping[str, str]) -> Sequence[str]:
    """The target's features beyond plain x86-64, by a language's names for those that it calls otherwise."""
    return [names.get(feature, feature) for feature in sorted(target.features - {"x86-64"})]
