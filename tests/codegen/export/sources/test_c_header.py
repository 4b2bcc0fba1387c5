"""The C header: what it chooses and when, where it compiles, and that it inlines."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from setwise.analysis.code.count import count
from setwise.analysis.code.decode import decode, features
from setwise.analysis.code.objects import load
from setwise.analysis.exports.facts import facts_of
from setwise.codegen.export.order import Order
from setwise.codegen.export.sources import c
from setwise.codegen.export.sources.dispatch import BITS, requirement
from setwise.codegen.machine.processors import BASELINE
from setwise.codegen.run import cpu
from setwise.codegen.run.cpu import FEATURES
from setwise.codegen.run.executable import runnable
from setwise.codegen.targets import TARGETS
from tests.codegen.export import images
from tests.codegen.export.exports import kernel
from tests.codegen.export.machines import with_features
from tests.codegen.export.sources.exported import run, unit_of_c
from tests.conftest import require_module, require_tool

runs = pytest.mark.skipif(not runnable(), reason="not run: this processor is not x86-64")

SETS = ("x86-64", "bmi2", "avx2", "avx512")
STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion")
USE = """\
#include "setwise_inline.h"
#include "setwise_inline.h"
#include <stdio.h>
int main(void) {
    printf("%llu %u\\n", (unsigned long long)setwise_kogge_stone_attacks_queen(1, ~1ULL), setwise_sets());
    return 0;
}
"""
ATTACKED = 0x8141_2111_0905_03FE  # by a queen on a1 of an empty board


def header(*, dispatch: bool = False, name: str = "kogge-stone.attacks.queen", isas: tuple[str, ...] = SETS) -> str:
    kernels = tuple(kernel(name, isa) for isa in isas)
    return c.header(Order(kernels, facts_of, "a test", dispatch=dispatch))


def printed(
    folder: Path, text: str, source: str, command: list[str], features: frozenset[str] = frozenset()
) -> list[str]:
    """What the program prints that is compiled beside the header, with flags that let it use these features."""
    (folder / "setwise_inline.h").write_text(text, encoding="ascii")
    (folder / "use.c").write_text(source, encoding="ascii")
    run([*command, "use.c", "-o", "use"], folder)
    return with_features(features, folder / "use").split()


@runs
@pytest.mark.parametrize(
    "compiler",
    [
        "gcc -std=c11",
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in ("clang-19 -std=c11", "g++ -xc++ -std=c++17", "clang++-19 -xc++ -std=c++17")
        ),
    ],
)
def test_choice_when_compiled(tmp_path: Path, compiler: str) -> None:
    program, *language = compiler.split()
    told = {"": (), "-mbmi -mbmi2": ("bmi2",), "-mavx2 -mbmi -mbmi2": ("bmi2", "avx2")}
    for flags, isas in told.items():
        command = [require_tool(program), *language, *STRICT, "-O2", *flags.split()]
        features = frozenset[str]().union(*(TARGETS[isa].features for isa in isas))
        sets = 1 + sum(BITS[isa] for isa in isas)
        assert printed(tmp_path, header(), USE, command, features) == [str(ATTACKED), str(sets)]


@runs
@pytest.mark.parametrize("flags", ["-std=c11 -O0", "-std=c11 -O2", "-xc++ -std=c++17 -O2"])
def test_choice_when_run(tmp_path: Path, flags: str) -> None:
    usable = sum(BITS[isa] for isa in SETS if TARGETS[isa].features - BASELINE <= cpu.features())
    command = [require_tool("gcc"), *STRICT, *flags.split()]
    assert printed(tmp_path, header(dispatch=True), USE, command) == [str(ATTACKED), str(usable)]


FAKE = """\
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cpuid.h>
#include <immintrin.h>
static uint32_t said[8][4];
static int may_ask_state;
static uint64_t state;
static int fake_cpuid(unsigned leaf, unsigned subleaf, unsigned *a, unsigned *b, unsigned *c, unsigned *d) {
    if (leaf > 7 || subleaf != 0) abort();
    *a = said[leaf][0], *b = said[leaf][1], *c = said[leaf][2], *d = said[leaf][3];
    return 1;
}
static uint64_t fake_state(void) {
    if (!may_ask_state) abort(); /* without OSXSAVE it is no instruction */
    return state;
}
#define __get_cpuid_count fake_cpuid
#undef _xgetbv
#define _xgetbv(n) fake_state()
#include "setwise_inline.h"
int main(int count, char **given) {
    (void)count;
    for (int leaf = 1, at = 1; leaf <= 7; leaf += 6)
        for (int i = 0; i < 4; i++) said[leaf][i] = (uint32_t)strtoul(given[at++], NULL, 16);
    state = strtoul(given[9], NULL, 16);
    may_ask_state = (said[1][2] >> 27) & 1;
    printf("%u\\n", setwise_sets());
    return 0;
}
"""


@runs
def test_every_bit_that_a_set_needs_is_asked_for(tmp_path: Path) -> None:
    """On a processor that has all, and on those that lack one bit each."""
    (tmp_path / "setwise_inline.h").write_text(header(dispatch=True), encoding="ascii")
    (tmp_path / "fake.c").write_text(FAKE, encoding="ascii")
    run([require_tool("gcc"), "-O1", "fake.c", "-o", "fake"], tmp_path)

    def sets(leaf1: list[int], leaf7: list[int], state: int) -> int:
        return int(run([str(tmp_path / "fake"), *(f"{word:x}" for word in (*leaf1, *leaf7, state))], tmp_path))

    full = (1 << 32) - 1
    every = sum(BITS[isa] for isa in SETS)
    assert sets([full] * 4, [full] * 4, full) == every
    assert sets([0] * 4, [0] * 4, 0) == 1
    for feature, (leaf, register, bit, _) in FEATURES.items():
        leaves = {1: [full] * 4, 7: [full] * 4}
        leaves[leaf][register] ^= 1 << bit
        lost = sum(BITS[isa] for isa in SETS if feature in TARGETS[isa].features)
        assert sets(leaves[1], leaves[7], full) == every - lost, feature
    without_osxsave = [full, full, full ^ 1 << 27, full]
    assert sets(without_osxsave, [full] * 4, full) == 1 | BITS["bmi2"]
    for bit in range(8):
        lost = sum(BITS[isa] for isa in SETS if requirement(TARGETS[isa]).state >> bit & 1)
        assert sets([full] * 4, [full] * 4, full ^ 1 << bit) == every - lost, bit


@runs
def test_threads_may_ask_at_the_same_time(tmp_path: Path) -> None:
    source = """\
#include "setwise_inline.h"
#include <pthread.h>
static void *ask(void *found) {
    *(uint64_t *)found = setwise_kogge_stone_attacks_queen(1, ~1ULL);
    return 0;
}
#include <stdio.h>
int main(void) {
    pthread_t threads[8];
    uint64_t found[8];
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], 0, ask, &found[i]);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], 0);
    for (int i = 1; i < 8; i++) if (found[i] != found[0]) return 1;
    printf("%llu\\n", (unsigned long long)found[0]);
    return 0;
}
"""
    command = [require_tool("gcc"), "-O1", "-g", "-fsanitize=thread", "-pthread"]
    assert printed(tmp_path, header(dispatch=True), source, command) == [str(ATTACKED)]


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_it_inlines(tmp_path: Path, compiler: str) -> None:
    """A caller that is built for AVX2 holds the kernel itself: no call, no question to CPUID, nothing on the stack."""
    (tmp_path / "setwise_inline.h").write_text(header(dispatch=True, isas=SETS[:3]), encoding="ascii")
    source = '#include "setwise_inline.h"\nuint64_t f(uint64_t, uint64_t);\n'
    source += "uint64_t f(uint64_t q, uint64_t e) { return q | setwise_kogge_stone_attacks_queen(q, e); }\n"
    (tmp_path / "use.c").write_text(source, encoding="ascii")
    flags = ("-O2", "-mavx2", "-mbmi", "-mbmi2", "-fcf-protection=none")
    run([require_tool(compiler), *flags, "-c", "use.c", "-o", "use.o"], tmp_path)
    counts = count(load(tmp_path / "use.o", "f"))  # a call could not be taken out
    assert "avx2" in features(decode(load(tmp_path / "use.o", "f").text))
    assert counts.branches == counts.stack == counts.stores == 0


def test_several_files_may_include_it(tmp_path: Path) -> None:
    """C and C++ in one program, without a name twice, and linked as one (-flto) without a word."""
    (tmp_path / "setwise_inline.h").write_text(header(dispatch=True), encoding="ascii")
    one = '#include "setwise_inline.h"\n'
    (tmp_path / "one.c").write_text(one + "int one(void); int one(void) { return (int)setwise_sets(); }\n")
    two = 'extern "C" int one(void);\nint main() { return one() == static_cast<int>(setwise_sets()) ? 0 : 1; }\n'
    (tmp_path / "two.cpp").write_text(one + two)
    (tmp_path / "three.cpp").write_text(one)
    flags = [*STRICT, "-O1", "-flto"]
    run([require_tool("gcc"), "-std=c11", *flags, "-c", "one.c"], tmp_path)
    strict = [*flags, "-Wold-style-cast", "-Wzero-as-null-pointer-constant"]
    run([require_tool("g++"), "-std=c++17", *strict, "one.o", "two.cpp", "three.cpp", "-o", "both"], tmp_path)
    if runnable():
        run([str(tmp_path / "both")], tmp_path)


TWO = """\
#include "setwise_inline.h"
#include "mine_inline.h"
static_assert(mine::sliders_union_avx2 == mine_sliders_union_avx2);
int main() {
    const uint64_t both = setwise_kogge_stone_attacks_queen(1, ~1ULL) & mine_sliders_union(1, 1, 1);
    return both == mine::sliders_union(1, 1, 1) && setwise_sets() == mine_sets() ? 0 : 1;
}
"""


@pytest.mark.parametrize("compiler", ["g++", pytest.param("clang++-19", marks=pytest.mark.slow)])
def test_two_exports_live_in_one_file(tmp_path: Path, compiler: str) -> None:
    """With names of their own; in C++ they are in a namespace besides."""
    (tmp_path / "setwise_inline.h").write_text(header(dispatch=True), encoding="ascii")
    kernels = tuple(replace(kernel("sliders.union", isa), prefix="mine") for isa in SETS)
    files = c.files(Order(kernels, facts_of, "a test", dispatch=True))
    assert list(files) == ["mine_inline.h"]
    (tmp_path / "mine_inline.h").write_bytes(files["mine_inline.h"])
    (tmp_path / "two.cpp").write_text(TWO)
    run([require_tool(compiler), "-std=c++17", *STRICT, "-O1", "two.cpp", "-o", "two"], tmp_path)
    if runnable():
        run([str(tmp_path / "two")], tmp_path)


WINDOWS = (
    ("sliders.union", "x86-64"),
    ("sliders.pair", "bmi2"),
    ("exploding.rook", "x86-64"),
    ("sliders.union", "avx2"),
    ("sliders.rays", "avx512"),
    ("kogge-stone.attacks.east.batch", "sse2"),
)


@runs
@pytest.mark.parametrize("compiler", ["x86_64-w64-mingw32-gcc", pytest.param("zig", marks=pytest.mark.slow)])
def test_windows_libraries_run_here(tmp_path: Path, compiler: str) -> None:
    """Their code follows Win64's convention, and is called by it. GCC there is not given AVX, its bug 54412."""
    if compiler == "zig":
        require_module("ziglang")
        command = [sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-windows-gnu"]
    else:
        command = [require_tool(compiler)]
    sets = ("x86-64", "bmi2", "sse2") if compiler != "zig" else tuple(TARGETS)
    functions = {f"f{at}": kernel(name, isa, "win64") for at, (name, isa) in enumerate(WINDOWS) if isa in sets}
    (tmp_path / "unit.c").write_text(unit_of_c(functions), encoding="ascii")
    flags = ("-std=c11", "-O2", "-ffreestanding", "-shared", "-nostdlib", "-Wl,--entry=f0", "-Wl,--export-all-symbols")
    run([*command, *flags, "unit.c", "-o", "unit.dll"], tmp_path)
    memory = images.load(tmp_path / "unit.dll")
    for name, each in functions.items():
        outcome = images.run(memory, each, name)
        assert outcome.status in ("passed", "not run"), f"{each.name} {each.target.name}: {outcome.reason}"


def test_gcc_on_windows_never_chooses_what_its_stack_does_not_bear(tmp_path: Path) -> None:
    """Its bug 54412: there the mask of all sets holds none with AVX, even when it is told to use AVX-512."""
    (tmp_path / "setwise_inline.h").write_text(header(dispatch=True), encoding="ascii")
    source = '#include "setwise_inline.h"\n'
    source += f'_Static_assert(SETWISE_ALL == {1 | BITS["bmi2"]}, "sets");\n'
    (tmp_path / "use.c").write_text(source)
    compiler = require_tool("x86_64-w64-mingw32-gcc")
    command = [compiler, "-std=c11", "-march=x86-64-v4", "-Werror", "-fsyntax-only", "use.c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "use Clang, or link objects of `setwise export --format coff`" in done.stderr
    assert subprocess.run([*command, "-DSETWISE_QUIET"], cwd=tmp_path, capture_output=True).stderr == b""


def test_without_the_fallback_there_is_no_choice() -> None:
    text = header(isas=("avx2",))
    assert "setwise_kogge_stone_attacks_queen_avx2(" in text
    assert "setwise_sets" not in text
    assert "setwise_kogge_stone_attacks_queen(" not in text
