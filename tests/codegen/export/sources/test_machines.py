"""Exports as other machines run them: processors under qemu, Windows under wine, and a processor that is not x86-64.

One program stands for all: it tells which instruction sets the export finds, the squares that are attacked, and which
kernels found them.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from types import MappingProxyType

import pytest

from setwise.analysis.exports.facts import facts_of
from setwise.analysis.spec import raywalk
from setwise.codegen.catalogue import find
from setwise.codegen.export.order import Order
from setwise.codegen.export.sources import c, rust
from setwise.codegen.machine.processors import BASELINE
from setwise.codegen.run import cpu
from setwise.codegen.run.executable import runnable
from setwise.codegen.targets import TARGETS
from setwise.codegen.variants import variant_named
from tests.codegen.export.exports import kernel
from tests.codegen.export.machines import under_qemu, under_wine
from tests.codegen.export.sources.exported import run
from tests.conftest import few, require_module, require_rust, require_tool

runs = pytest.mark.skipif(not runnable(), reason="not run: this processor is not x86-64")

ONE = ("x86-64", "bmi2", "avx2", "avx512")
MANY = ("x86-64", "sse2", "avx2", "avx512")
STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic")

PLAIN = ("x86-64", "sse2")
GENERAL = (*PLAIN, "bmi2")
FULL = (*GENERAL, "avx2")
PROCESSORS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "Nehalem": PLAIN,
        "Haswell": FULL,
        "Haswell,-xsave": GENERAL,  # the system saves no ymm, and there is no xgetbv
        "max": FULL,
    }
)
"""What a program may use there. Qemu has no AVX-512, whatever processor it is."""
MORE: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "qemu64": PLAIN,
        "Penryn": PLAIN,
        "Denverton": PLAIN,  # XSAVE without AVX
        "SandyBridge": PLAIN,  # AVX without AVX2
        "Opteron_G5": PLAIN,
        "EPYC": FULL,
        "Icelake-Server": FULL,
        "Haswell,-bmi1": (*PLAIN, "avx2"),  # no kernel with vectors asks for BMI
        "Haswell,-bmi2": (*PLAIN, "avx2"),
        "Haswell,-avx2": GENERAL,
        "Haswell,-avx": GENERAL,  # CPUID still says AVX2
    }
)

ALL = (1 << 64) - 1


@cache
def cases() -> tuple[tuple[int, int], ...]:
    """Sliders and empty squares: a number of them that no vector divides."""
    random = Random(12)
    occupied = [random.getrandbits(64) & random.getrandbits(64) for _ in range(13)]
    return tuple((board & random.getrandbits(64), ALL ^ board) for board in occupied)


def expected(sets: Sequence[str]) -> list[int]:
    """Return what the program prints with these sets: squares, the kernel that ran, and the one that it names."""
    told = []
    for direction, isas in (("queen", ONE), ("east", MANY)):
        attacks = raywalk.specification("attacks", direction, board="empty")
        told += [int(attacks(*case)[0]) for case in cases()]
        at = max([*TARGETS].index(isa) for isa in isas if isa in sets)
        name = [*TARGETS][at]
        told += [1 << at, ord(name[0]) << 8 | ord(name[3])]
    return told


def order() -> Order:
    kernels = [kernel("kogge-stone.attacks.queen", isa) for isa in ONE]
    kernels += [kernel("kogge-stone.attacks.east.batch", isa) for isa in MANY]
    return Order(tuple(kernels), facts_of, "a test", dispatch=True)


def noting(text: str, heads: str, note: str) -> str:
    """The export with kernels that note that they were there. `heads` finds their beginnings, up to `{`."""
    bits = {isa.replace("-", "_"): 1 << at for at, isa in enumerate(TARGETS)}
    noted, count = re.subn(heads, lambda found: f"{found[0]} {note.format(bits[found[1]])}", text)
    assert count == len(ONE) + len(MANY)
    return noted


C_HEADS = r"SETWISE_\w+ \w+ setwise_kogge_stone_attacks_(?:queen|east_batch)_(x86_64|bmi2|sse2|avx2|avx512)\([^)]*\) \{"
C = """\
static unsigned ran;
#include "setwise_inline.h"
%(platform)s
#define N %(number)d
static const volatile uint64_t cases[N][2] = {%(cases)s};
static uint64_t sliders[N], empty[N], attacked[N];
static void number(uint64_t value) {
    static char text[17];
    for (int i = 0; i < 16; i++) text[i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
    text[16] = '\\n';
    put(text, 17);
}
static void name(const char *isa) { number((uint64_t)isa[0] << 8 | (uint64_t)isa[3]); }
static void answer(void) {
    for (int i = 0; i < N; i++) {
        sliders[i] = cases[i][0];
        empty[i] = cases[i][1];
        number(setwise_kogge_stone_attacks_queen(sliders[i], empty[i]));
    }
    number(ran);
    name(setwise_kogge_stone_attacks_queen_isa());
    ran = 0;
    setwise_kogge_stone_attacks_east_batch(sliders, empty, attacked, N);
    for (int i = 0; i < N; i++) number(attacked[i]);
    number(ran);
    name(setwise_kogge_stone_attacks_east_batch_isa());
}
%(entry)s
"""

HOSTED = """\
#include <stdio.h>
static void put(const char *text, unsigned length) { fwrite(text, 1, length, stdout); }"""
MAIN = "int main(void) { answer(); return 0; }"
# By zig, without a C library: it would make its own first, which takes minutes.
WINDOWS = """\
__declspec(dllimport) void *GetStdHandle(unsigned);
__declspec(dllimport) int WriteFile(void *, const void *, unsigned, unsigned *, void *);
__declspec(dllimport) void ExitProcess(unsigned);
static void put(const char *text, unsigned length) {
    unsigned written;
    WriteFile(GetStdHandle(-11u), text, length, &written, 0);
}"""
WINDOWS_START = "void start(void); void start(void) { answer(); ExitProcess(0); }"
AARCH64 = """\
static long call(long number, long a, const void *b, long c) {
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x2 __asm__("x2") = c;
    register const void *x1 __asm__("x1") = b;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
}
static void put(const char *text, unsigned length) { call(64, 1, text, length); /* write */ }"""
AARCH64_START = "void _start(void); void _start(void) { answer(); call(94, 0, 0, 0); /* exit_group */ }"


def c_program(folder: Path, command: Sequence[str], platform: str = HOSTED, entry: str = MAIN) -> Path:
    """The program of the C header, made by this compiler, its flags behind it."""
    # The kernels note that they ran, so they cannot be constexpr.
    text = c.header(order()).replace("_CONSTEXPR constexpr", "_CONSTEXPR inline")
    (folder / "setwise_inline.h").write_text(noting(text, C_HEADS, "ran |= {};"), encoding="ascii")
    numbers = ", ".join(f"{{{', '.join(f'{word:#x}u' for word in case)}}}" for case in cases())
    source = C % {"platform": platform, "entry": entry, "number": len(cases()), "cases": numbers}
    (folder / "use.c").write_text(source, encoding="ascii")
    run([*command, *STRICT, "-o", "use.exe", "use.c"], folder)
    return folder / "use.exe"


def zig(target: str, *flags: str) -> list[str]:
    """Zig's C compiler for a target, on its own."""
    require_module("ziglang")
    alone = ("-ffreestanding", "-nostdlib", "-fno-sanitize=undefined")
    return [sys.executable, "-m", "ziglang", "cc", "-target", target, *flags, *alone]


RUST_HEADS = (
    r"pub (?:unsafe )?fn kogge_stone_attacks_(?:queen|east_batch)_(x86_64|bmi2|sse2|avx2|avx512)\([^)]*\)[^{]*\{"
)
RUST = """\
mod setwise;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
static RAN: AtomicU32 = AtomicU32::new(0);
static CASES: [(u64, u64); %(number)d] = [%(cases)s];
fn name(isa: &str) {
    println!("{:x}", (isa.as_bytes()[0] as u64) << 8 | isa.as_bytes()[3] as u64);
}
fn main() {
    let cases = std::hint::black_box(CASES);
    let (sliders, empty) = (cases.map(|case| case.0), cases.map(|case| case.1));
    for at in 0..CASES.len() {
        println!("{:x}", setwise::kogge_stone_attacks_queen(sliders[at], empty[at]));
    }
    println!("{:x}", RAN.swap(0, Relaxed));
    name(setwise::kogge_stone_attacks_queen_isa());
    let mut attacked = [0; CASES.len()];
    setwise::kogge_stone_attacks_east_batch(&sliders, &empty, &mut attacked);
    attacked.iter().for_each(|squares| println!("{squares:x}"));
    println!("{:x}", RAN.load(Relaxed));
    name(setwise::kogge_stone_attacks_east_batch_isa());
}
"""


def rust_program(folder: Path, *flags: str) -> Path:
    """The program of the Rust module."""
    note = "crate::RAN.fetch_or({}, core::sync::atomic::Ordering::Relaxed);"
    text = noting(rust.module(order()).replace("pub const fn", "pub fn"), RUST_HEADS, note)
    (folder / "setwise.rs").write_text(text, encoding="ascii")
    numbers = ", ".join(f"({', '.join(f'{word:#x}' for word in case)})" for case in cases())
    (folder / "use.rs").write_text(RUST % {"number": len(cases()), "cases": numbers}, encoding="ascii")
    run([require_rust(), "-Dwarnings", "--edition=2021", *flags, "use.rs", "-o", "use"], folder)
    return folder / "use"


def told(printed: str) -> list[int]:
    return [int(line, 16) for line in printed.splitlines()]


def assert_right(program: Path, processors: Mapping[str, Sequence[str]]) -> None:
    """On each of these processors it chooses what may be used there, meets nothing that may not, and is right."""
    for processor, sets in processors.items():
        assert told(under_qemu(processor, program)) == expected(sets), processor


@runs
def test_programs_of_the_c_header_choose_on_other_processors(tmp_path: Path) -> None:
    assert_right(c_program(tmp_path, [require_tool("gcc"), "-std=c11", "-O2"]), PROCESSORS)


@runs
def test_programs_of_the_rust_module_choose_on_other_processors(tmp_path: Path) -> None:
    assert_right(rust_program(tmp_path, "-O"), PROCESSORS)


@runs
@pytest.mark.slow
@pytest.mark.parametrize(
    "compiler", ["gcc -std=c11 -O0", "gcc -std=c11 -O3", "clang-19 -std=c11 -O2", "g++ -xc++ -std=c++17 -O2", "rustc"]
)
def test_programs_choose_on_many_processors(tmp_path: Path, compiler: str) -> None:
    program, *flags = compiler.split()
    made = rust_program(tmp_path) if program == "rustc" else c_program(tmp_path, [require_tool(program), *flags])
    assert_right(made, {**PROCESSORS, **MORE})


PEXT = """\
#include "setwise_inline.h"
#include <stdio.h>
int main(void) {
    printf("%llx %s\\n", (unsigned long long)setwise_sliders_union(1, 4, 5), setwise_sliders_union_isa());
    return 0;
}
"""


@runs
def test_pext_is_not_chosen_where_it_is_microcode(tmp_path: Path) -> None:
    """On Zen 1 and 2, which qemu calls EPYC and EPYC-Rome; when compiled, only where the user says that it is fast."""
    made = (
        kernel("sliders.union"),
        variant_named("pext", find("sliders.union"), "bmi2"),
        kernel("sliders.union", "bmi2"),
    )
    answers = []
    for dispatch, flags in ((True, ()), (False, ("-mbmi", "-mbmi2")), (False, ("-mbmi", "-mbmi2", "-DSETWISE_PEXT"))):
        text = c.header(Order(made, facts_of, "a test", dispatch=dispatch))
        (tmp_path / "setwise_inline.h").write_text(text, encoding="ascii")
        (tmp_path / "use.c").write_text(PEXT, encoding="ascii")
        run([require_tool("gcc"), "-std=c11", "-O1", *STRICT, *flags, "use.c", "-o", "use"], tmp_path)
        processors = ("EPYC", "EPYC-Rome", "EPYC-Milan", "Haswell") if dispatch else ("Haswell",)
        answers += [under_qemu(processor, tmp_path / "use").split() for processor in processors]
    assert {squares for squares, _ in answers} == {"101814121110b06"}
    assert [isa for _, isa in answers] == ["bmi2", "bmi2", "bmi2-pext", "bmi2-pext", "bmi2", "bmi2-pext"]


def usable(*but: str) -> list[str]:
    """Of the sets that the program asks for those that this processor has, but those."""
    asked = {*ONE, *MANY}.difference(but)
    return [isa for isa in TARGETS if isa in asked and TARGETS[isa].features - BASELINE <= cpu.features()]


def test_programs_of_windows_by_mingw_choose_under_wine(tmp_path: Path) -> None:
    """Nothing with AVX, for GCC there does not align the stack (its bug 54412)."""
    program = c_program(tmp_path, [require_tool("x86_64-w64-mingw32-gcc"), "-std=c11", "-O2"])
    assert told(under_wine(program)) == expected(usable("avx2", "avx512"))


@pytest.mark.parametrize("optimised", few(["-O2", "-O1"], 1))
def test_programs_of_windows_by_zig_choose_under_wine(tmp_path: Path, optimised: str) -> None:
    command = zig("x86_64-windows-gnu", "-std=c11", optimised, "-Wl,--entry=start", "-lkernel32")
    program = c_program(tmp_path, command, WINDOWS, WINDOWS_START)
    assert told(under_wine(program)) == expected(usable())


@pytest.mark.parametrize("optimised", few(["-O2", "-O0"], 1))
def test_elsewhere_what_needs_nothing_runs(tmp_path: Path, optimised: str) -> None:
    """On a processor that is not x86-64: the plain kernels, and no others are there."""
    command = zig("aarch64-linux-none", "-std=gnu11", optimised, "-static")
    program = c_program(tmp_path, command, AARCH64, AARCH64_START)
    assert told(under_qemu("max", program, machine="aarch64")) == expected(["x86-64"])
