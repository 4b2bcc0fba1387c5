"""The C header as MSVC would read it: its branches run here under another compiler, and its interface compiles.

MSVC itself is not run: it is for Windows alone.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from setwise.analysis.exports.facts import facts_of
from setwise.codegen.export.order import Order
from setwise.codegen.export.sources import c
from setwise.codegen.export.sources.dispatch import BITS
from setwise.codegen.machine.processors import BASELINE
from setwise.codegen.run import cpu
from setwise.codegen.run.executable import runnable
from setwise.codegen.targets import TARGETS
from tests.codegen.export.exports import kernel
from tests.codegen.export.machines import natively, under_qemu, with_features
from tests.codegen.export.sources.exported import run, sample
from tests.conftest import require_tool

SETS = ("x86-64", "bmi2", "avx2", "avx512")
ATTACKED = 0x8141_2111_0905_03FE  # by a queen on a1 of an empty board

# What MSVC's own <intrin.h> has, as far as the header asks for it.
INTRIN = """\
#include <immintrin.h>
static inline void __cpuidex(int words[4], int leaf, int subleaf) {
    __asm__ volatile("cpuid" : "=a"(words[0]), "=b"(words[1]), "=c"(words[2]), "=d"(words[3])
                     : "a"(leaf), "c"(subleaf));
}
static inline void __cpuid(int words[4], int leaf) { __cpuidex(words, leaf, 0); }
"""
# The compiler says of itself what MSVC says. Where MSVC takes all intrinsics anywhere, these compilers must still be
# told function by function: told of the whole file, they would use AVX-512 in what is for AVX2, or for any processor.
DISGUISED = """\
#include <stdio.h>
#include <immintrin.h>
#undef __GNUC__
#undef __clang__
#undef __x86_64__
#undef __BMI__
#undef __BMI2__
#undef __AVX2__
#undef __AVX512F__
#define _MSC_VER 1940
#define _M_X64 100
%s
#include "setwise_inline.h"
int main(int count, char **given) {
    (void)given;
    unsigned long long attacked = setwise_kogge_stone_attacks_queen((unsigned long long)count, ~1ULL); /* 1 */
    printf("%%llu %%u %%u\\n", attacked, setwise_sets(), SETWISE_ENABLED);
    return 0;
}
"""
TELLING = "#define SETWISE_TARGET(features)"


def header(folder: Path, *, dispatch: bool) -> None:
    kernels = tuple(kernel("kogge-stone.attacks.queen", isa) for isa in SETS)
    text = c.header(Order(kernels, facts_of, "a test", dispatch=dispatch))
    assert text.count(f"{TELLING}\n") == 1
    text = text.replace(f"{TELLING}\n", f"{TELLING} __attribute__((target(features)))\n")
    (folder / "setwise_inline.h").write_text(text, encoding="ascii")


def built(folder: Path, command: list[str], *, told: str = "") -> Path:
    """The disguised compiler's program. It prints squares, the sets that it may use, those that it was told of."""
    (folder / "intrin.h").write_text(INTRIN, encoding="ascii")
    (folder / "use.c").write_text(DISGUISED % told, encoding="ascii")
    run([*command, "-Wall", "-Wextra", "-Werror", "-I.", "use.c", "-o", "use"], folder)
    return folder / "use"


def numbers(printed: str) -> list[int]:
    return [int(word) for word in printed.split()]


@pytest.mark.skipif(not runnable(), reason="not run: this processor is not x86-64")
@pytest.mark.parametrize("command", ["gcc -std=c11 -O0", "g++ -xc++ -std=c++17 -O0", "clang-19 -std=c11 -O2"])
def test_the_branches_for_msvc_choose_when_run(tmp_path: Path, command: str) -> None:
    program, *flags = command.split()
    header(tmp_path, dispatch=True)
    usable = sum(BITS[isa] for isa in SETS if TARGETS[isa].features - BASELINE <= cpu.features())
    made = built(tmp_path, [require_tool(program), *flags])
    assert numbers(natively(made)) == [ATTACKED, usable, 1]
    for processor, sets in (("Nehalem", 1), ("Haswell", 1 | BITS["bmi2"] | BITS["avx2"])):
        assert numbers(under_qemu(processor, made)) == [ATTACKED, sets, 1], processor


@pytest.mark.skipif(not runnable(), reason="not run: this processor is not x86-64")
def test_msvc_has_no_word_for_bmi2(tmp_path: Path) -> None:
    """With /arch:AVX2 it says __AVX2__ alone, and means both."""
    header(tmp_path, dispatch=False)
    sets = 1 | BITS["bmi2"] | BITS["avx2"]
    made = built(tmp_path, [require_tool("gcc"), "-O1"], told="#define __AVX2__ 1")
    assert numbers(with_features(TARGETS["avx2"].features, made)) == [ATTACKED, sets, sets]


@pytest.mark.parametrize("dispatch", [False, True], ids=["compiled", "run"])
def test_clang_compiles_it_as_it_does_on_windows(tmp_path: Path, dispatch: bool) -> None:
    """Clang for MSVC's ABI, with every operation and region that source has."""
    order = Order(tuple(sample().values()), facts_of, "a test", dispatch=dispatch)
    (tmp_path / "setwise_inline.h").write_text(c.header(order), encoding="ascii")
    (tmp_path / "use.c").write_text('#include "setwise_inline.h"\n', encoding="ascii")
    command = [require_tool("clang-19"), "--target=x86_64-pc-windows-msvc", "-ffreestanding", "-fms-compatibility"]
    for language in (("-std=c11",), ("-xc++", "-std=c++17")):
        run([*command, *language, "-Wall", "-Wextra", "-Werror", "-O1", "-c", "use.c", "-o", "use.obj"], tmp_path)
        assert (tmp_path / "use.obj").read_bytes()[:2] == b"\x64\x86"
