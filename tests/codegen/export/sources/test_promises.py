"""Source that asserts its contract: a debug build ends where that is broken, and nowhere else."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from setwise.analysis.exports.facts import facts_of
from setwise.codegen.describe.routine import Written
from setwise.codegen.export.order import Order
from setwise.codegen.export.sources import c_header, rust_module, zig_module
from setwise.codegen.run.executable import runnable
from tests.codegen.export.exports import kernel
from tests.codegen.export.sources.exported import run
from tests.conftest import require_module, require_rust, require_tool

pytestmark = pytest.mark.skipif(not runnable(), reason="not run: this processor is not x86-64")

KERNELS = (
    ("sliders.union", "x86-64"),
    ("sliders.union-empty", "x86-64"),
    ("sliders.union.batch", "sse2"),
    ("subtraction.attacks.east", "sse2"),  # vectors by value
    ("side.pieces.white", "x86-64"),  # leapers may stand beside occupied squares
    ("exploding.bishop", "x86-64"),
)

# Each call by its number: an even one keeps to the contract, and the odd one behind it does not.
C = """\
#include "setwise_inline.h"
#include <stdlib.h>
int main(int count, char **given) {
    const int call = count > 1 ? atoi(given[1]) : 0;
    const uint64_t other = call % 2 ? 4 : 0;
    const uint64_t rooks[3] = {0, 0, 1 | other}, bishops[3] = {0, 2, 0}, occupied[3] = {0, 3, 3};
    uint64_t result[6];
    switch (call / 2) {
        case 0: return (int)setwise_sliders_union_x86_64(rooks[2], 2, 3) & 0;
        case 1: return (int)setwise_sliders_union_x86_64(1, 2 | other, 3) & 0;
        case 2: return (int)setwise_sliders_union_empty_x86_64(rooks[2], 2, ~3ULL) & 0;
        case 3: setwise_sliders_union_batch_sse2(rooks, bishops, occupied, result, 3); return (int)result[0] & 0;
        case 4: _mm_storeu_si128((__m128i *)(void *)result, setwise_subtraction_attacks_east_sse2(
            _mm_set_epi64x((long long)rooks[2], 1), _mm_set_epi64x(3, 3))); return (int)result[0] & 0;
        case 5: setwise_side_pieces_white_x86_64(1, 2, rooks[2] & 4, 8, 8, 8, 3, result); return (int)result[0] & 0;
        default: return (int)setwise_exploding_bishop_x86_64(other ? 64 : 63, 0) & 0;
    }
}
"""
RUST = """\
mod setwise;
fn main() {
    let call: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let other = call % 2 * 4;
    let (rooks, bishops, occupied) = ([0, 0, 1 | other], [0, 2, 0], [0, 3, 3]);
    let mut result = [0; 3];
    unsafe {
        match call / 2 {
            0 => { setwise::sliders_union_x86_64(rooks[2], 2, 3); }
            1 => { setwise::sliders_union_x86_64(1, 2 | other, 3); }
            2 => { setwise::sliders_union_empty_x86_64(rooks[2], 2, !3); }
            3 => setwise::sliders_union_batch_sse2(
                rooks.as_ptr(), bishops.as_ptr(), occupied.as_ptr(), result.as_mut_ptr(), 3),
            4 => {
                use core::arch::x86_64::_mm_set_epi64x;
                setwise::subtraction_attacks_east_sse2(_mm_set_epi64x(rooks[2] as i64, 1), _mm_set_epi64x(3, 3));
            }
            5 => { setwise::side_pieces_white_x86_64(1, 2, rooks[2] & 4, 8, 8, 8, 3); }
            _ => if other == 0 { setwise::exploding_bishop_x86_64(63, 0); }
                else { setwise::exploding_bishop_x86_64(64, 0); }
        }
    }
}
"""
ZIG = """\
const std = @import("std");
const setwise = @import("setwise.zig");
export fn call(number: u64) void {
    const other = number % 2 * 4;
    const rooks = [3]u64{ 0, 0, 1 | other };
    const bishops = [3]u64{ 0, 2, 0 };
    const occupied = [3]u64{ 0, 3, 3 };
    var result: [3]u64 = undefined;
    switch (number / 2) {
        0 => _ = setwise.sliders_union_x86_64(rooks[2], 2, 3),
        1 => _ = setwise.sliders_union_x86_64(1, 2 | other, 3),
        2 => _ = setwise.sliders_union_empty_x86_64(rooks[2], 2, ~@as(u64, 3)),
        3 => setwise.sliders_union_batch_sse2(&rooks, &bishops, &occupied, &result, 3),
        4 => _ = setwise.subtraction_attacks_east_sse2(.{ 1, rooks[2] }, .{ 3, 3 }),
        5 => _ = setwise.side_pieces_white_x86_64(1, 2, rooks[2] & 4, 8, 8, 8, 3),
        else => _ = setwise.exploding_bishop_x86_64(if (other == 0) 63 else 64, 0),
    }
}
"""
CALLS = range(14)


def order() -> Order:
    return Order(tuple(kernel(*each) for each in KERNELS), facts_of, "a test", checked=True)


def ends(command: list[str]) -> list[bool]:
    """Which of the calls end the program."""
    return [subprocess.run([*command, str(call)], capture_output=True).returncode != 0 for call in CALLS]


@pytest.mark.parametrize("compiler", ["gcc -std=c11", pytest.param("g++ -xc++ -std=c++17", marks=pytest.mark.slow)])
def test_debug_builds_of_c_hold_to_the_contract(tmp_path: Path, compiler: str) -> None:
    (tmp_path / "setwise_inline.h").write_bytes(c_header.files(order())["setwise_inline.h"])
    (tmp_path / "use.c").write_text(C)
    program, *flags = compiler.split()
    command = [require_tool(program), *flags, "-Wall", "-Wextra", "-Werror", "-O1", "use.c", "-o"]
    run([*command, "debug"], tmp_path)
    assert ends([str(tmp_path / "debug")]) == [False, True] * 7
    run([*command, "release", "-DNDEBUG"], tmp_path)
    assert ends([str(tmp_path / "release")])[:12] == [False] * 12  # the last reads beside a table


@pytest.mark.slow
def test_debug_builds_of_rust_hold_to_the_contract(tmp_path: Path) -> None:
    (tmp_path / "setwise.rs").write_bytes(rust_module.files(order())["setwise.rs"])
    (tmp_path / "use.rs").write_text(RUST)
    run([require_rust(), "-Dwarnings", "--edition=2021", "use.rs", "-o", "use"], tmp_path)
    assert ends([str(tmp_path / "use")]) == [False, True] * 7


@pytest.mark.slow
def test_safe_builds_of_zig_hold_to_the_contract(tmp_path: Path) -> None:
    require_module("ziglang")
    (tmp_path / "setwise.zig").write_bytes(zig_module.files(order())["setwise.zig"])
    (tmp_path / "use.zig").write_text(ZIG)
    command = [sys.executable, "-m", "ziglang", "build-lib", "-dynamic", "-OReleaseSafe", "use.zig"]
    run([*command, "-femit-bin=use.so"], tmp_path)
    calling = "import ctypes, sys; ctypes.CDLL('{}').call(ctypes.c_uint64(int(sys.argv[1])))"
    assert ends([sys.executable, "-c", calling.format(tmp_path / "use.so")]) == [False, True] * 7


@pytest.mark.parametrize("language", [c_header, rust_module, zig_module])
def test_what_python_requires_is_refused_in_a_line(language: object) -> None:
    one = kernel(*KERNELS[0])
    contract = replace(one.routine.contract, requires=(Written("mine", lambda *_: 1, 1),))
    own = replace(one, routine=replace(one.routine, contract=contract))
    with pytest.raises(
        ValueError, match=r"^sliders\.union requires .*--checked cannot say in .*: leave --checked out$"
    ):
        language.files(replace(order(), kernels=(own,)))  # type: ignore[attr-defined]
