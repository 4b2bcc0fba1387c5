"""Small expressions and idioms are never longer than the better of gcc and clang makes them from plain C.

The texts are Python and C at once: both have the same operators and the same precedence. In C, a board is an unsigned
number, or a vector of them on sets with vectors.
"""

import random
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from subprocess import run
from tempfile import TemporaryDirectory

import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.count import count
from setwise.analysis.code.decode import Binary
from setwise.analysis.code.objects import load_all
from setwise.codegen.export.compiler_names import flags
from setwise.codegen.ir.values import Value
from setwise.codegen.lower import lower
from setwise.codegen.targets import TARGETS
from tests.codegen.programs import routine
from tests.conftest import require_tool

SETS = ("x86-64", "bmi2", "sse2", "avx2", "avx512", "gfni")
NOT_A, NOT_H = "0xfefefefefefefefe", "0x7f7f7f7f7f7f7f7f"


def swapped(x: str, width: int) -> str:
    """The exchange of neighbouring fields."""
    low = f"{((1 << 64) - 1) // ((1 << width) + 1):#x}"
    return f"(({x} >> {width}) & {low} | ({x} & {low}) << {width})"


def steps(x: str, *counts: int) -> str:
    return " | ".join(f"({x} << {n})" if n > 0 else f"({x} >> {-n})" for n in counts)


COUNTED = "(x - ((x >> 1) & 0x5555555555555555))"
PAIRED = f"(({COUNTED} & 0x3333333333333333) + (({COUNTED} >> 2) & 0x3333333333333333))"
POPCOUNT = f"((({PAIRED} + ({PAIRED} >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101) >> 56"

IDIOMS: Mapping[str, str] = {
    "rotate": "x << 13 | x >> 51",
    "rotate by a byte": "x << 8 | x >> 56",
    "exchange halves": "x << 32 | x >> 32",
    "rotate a union": "(x << 7 | x >> 57) | (y << 7 | y >> 57)",
    "byte swap": f"({swapped(swapped('x', 8), 16)} << 32 | {swapped(swapped('x', 8), 16)} >> 32)",
    "mirror": swapped(swapped(swapped("x", 1), 2), 4),
    "lowest bit": "x & -x",
    "without the lowest bit": "x & (x - 1)",
    "up to the lowest bit": "x ^ (x - 1)",
    "below the lowest bit": "~x & (x - 1)",
    "above the lowest bit": "~(x ^ (x - 1))",
    "population": POPCOUNT,
    "sign mask": "-(x >> 63)",
    "absolute value": "(x ^ -(x >> 63)) - -(x >> 63)",
    "average": "(x & y) + ((x ^ y) >> 1)",
    "choice": "x & y | ~x & z",
    "choice by xor": "z ^ ((y ^ z) & x)",
    "majority": "x & y | x & z | y & z",
    "parity of three": "x ^ y ^ z",
    "neither": "x & ~y & ~z",
    "none of two": "~(x | y)",
    "exactly one of two": "(x | y) & ~(x & y)",
    "at least two": "(x & y) | ((x | y) & z)",
    "scaled sum": "x + y * 8 + 5",
    "times nine": "x * 9",
    "times seven": "x * 7",
    "times a square": "x * 64 * 4",
    "negative": "~x + 1",
    "difference": "x + ~y + 1",
    "from a mask": "-(x & 1) & y",
    "low half": "x & 0xffffffff",
    "low byte": "x & 0xff",
    "high nibble": "x >> 60 & 0xf",
    "a byte": "x >> 24 & 0xff",
    "clear low bits": "x >> 3 << 3",
    "clear high bits": "x << 8 >> 8",
    "east": f"x << 1 & {NOT_A}",
    "pawn captures": f"((x << 7) & {NOT_H}) | ((x << 9) & {NOT_A})",
    "ranks filled": "x | x << 8 | x << 16",
    "neighbours": f"(x << 1 & {NOT_A}) | (x >> 1 & {NOT_H}) | x",
    "subtraction": "(y - x * 2) ^ y",
    "nested shifts": "x << 3 << 5 | y >> 2 >> 7",
    "shifted alike": "(x << 9) & (y << 9)",
    "file of a square": "x & 7 | x >> 3 << 3",
}
LONGER: Mapping[str, str] = {
    "absolute value": "compilers have cmov, blends and vpabsq for it; setwise has none of them",
    "from a mask": "AVX-512 masks an operation; SSE2 extends bit 0 by shifts of 32 bits",
    "a byte": "a shuffle of bytes may shift and mask at once, with a constant that is loaded",
    "population": "GFNI is compared with compilers that may use VPOPCNTDQ",
}
"""The idioms that are longer on some set, and why."""


@cache
def compiled(texts: tuple[str, ...], isa: str) -> list[int]:
    """The fewest instructions that a compiler makes of each expression, returns left out."""
    lanes = TARGETS[isa].widths[0]
    vector = f"__attribute__((vector_size({8 * lanes})))" if lanes > 1 else ""
    lines = [f"typedef unsigned long long V {vector};"]
    for at, text in enumerate(texts):
        text = re.sub(r"0x[0-9a-f]+", r"\g<0>ull", text)
        lines.append(f"V f{at}(V x, V y, V z) {{ return {text}; }}")
    names = [f"f{at}" for at in range(len(texts))]
    options = ("-O3", "-w", "-c", "-fPIC", "-ffunction-sections", "-fcf-protection=none", *flags(isa))
    wide = ("-mprefer-vector-width=512",) if lanes == 8 else ()
    fewest = [1 << 30] * len(texts)
    with TemporaryDirectory() as directory:
        source, made = Path(directory) / "expressions.c", Path(directory) / "expressions.o"
        source.write_text("\n".join(lines))
        for compiler in ("gcc", "clang-19"):
            run([require_tool(compiler), *options, *wide, str(source), "-o", str(made)], check=True)
            for at, binary in enumerate(map(load_all(made, names).get, names)):
                if isinstance(binary, Binary):
                    fewest[at] = min(fewest[at], count(binary).instructions)
    return fewest


def ours(text: str, isa: str) -> int:
    code = compile(text, text, "eval")

    def describe(x: Value, y: Value, z: Value) -> tuple[Value, ...]:
        made: Value = eval(code, {"x": x, "y": y, "z": z})
        return (made,)

    described = routine(describe, 3, batched=TARGETS[isa].vectors > 0)
    return count(binary_of(lower(described, isa, lanes=TARGETS[isa].widths[0]))).instructions


def measured(texts: Iterable[str], isa: str) -> dict[str, tuple[int, int]]:
    """Our instructions and those of the better compiler for each text."""
    asked = tuple(texts)
    return {text: (ours(text, isa), fewest) for text, fewest in zip(asked, compiled(asked, isa), strict=True)}


@pytest.mark.parametrize("isa", SETS)
def test_idioms_are_never_longer(isa: str) -> None:
    names = {text: name for name, text in IDIOMS.items()}
    longer = {names[text]: pair for text, pair in measured(IDIOMS.values(), isa).items() if pair[0] > pair[1]}
    assert {*longer} <= {*LONGER}, "; ".join(f"{k} {v}" for k, v in longer.items())


def expression(draw: random.Random, operations: int) -> str:
    """An expression of this many operations of x, y and z. A rotate counts as one."""
    if operations == 0:
        return draw.choice("xxyyz")
    operator = draw.choice(OPERATORS)
    if operator in "~-" and draw.random() < 0.5:
        return f"({operator}{expression(draw, operations - 1)})"
    if operator == "rotate":
        count, letter = draw.choice((1, 7, 8, 9, 16, 32, 57)), draw.choice("xyz")
        return f"({letter} << {count} | {letter} >> {64 - count})"
    others = {
        "<<": (operator, COUNTS),
        ">>": (operator, COUNTS),
        "*": ("*", (2, 3, 4, 5, 8, 9, 16)),
        "plus": (draw.choice("+-"), (1, 1, 2, 8, 64)),
        "mask": (draw.choice("&&|^"), MASKS),
    }
    if operator in others:
        sign, numbers = others[operator]
        return f"({expression(draw, operations - 1)} {sign} {draw.choice(numbers)})"
    if operator == "~":
        return f"(~{expression(draw, operations - 1)})"
    first = draw.randrange(operations)
    return f"({expression(draw, first)} {operator} {expression(draw, operations - 1 - first)})"


OPERATORS = (*"&&||^^+-~-*", *("<<", ">>") * 2, "rotate", "plus", "mask")
COUNTS = (1, 1, 2, 3, 7, 8, 8, 9, 16, 32, 63)
MASKS = (NOT_A, NOT_H, "0xff", "0xffffffff", "0x0f0f0f0f0f0f0f0f", "0x5555555555555555", "0x1", "0xff00", hex(1 << 63))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("isa", SETS[:-1])
def test_random_expressions_are_hardly_longer(isa: str, seed: int) -> None:
    draw = random.Random(seed)
    texts = {expression(draw, draw.randrange(2, 7)) for _ in range(200)}
    mine, theirs = (sum(column) for column in zip(*measured(sorted(texts), isa).values(), strict=True))
    assert mine <= 1.06 * theirs, (mine, theirs)
