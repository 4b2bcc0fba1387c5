"""The C header: what it chooses and when, where it compiles, and that it inlines.

MSVC itself is not run: its branches run here under another compiler, and its interface compiles.
"""

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from setwise.analysis.code.count import count
from setwise.analysis.code.decode import decode, features
from setwise.analysis.code.objects import load
from setwise.analysis.exports.facts import facts_of
from setwise.codegen.catalogue import find
from setwise.codegen.export.order import Order
from setwise.codegen.export.sources import c
from setwise.codegen.export.sources.requirements import BITS, constant_name
from setwise.codegen.run.executable import runnable
from setwise.codegen.targets import TARGETS
from setwise.codegen.variants import variant_named
from tests.codegen.export.exports import kernel
from tests.codegen.export.machines import under_qemu, with_features
from tests.codegen.export.sources.exported import cpuid_cases, run, sample
from tests.conftest import few, require_tool

runs = pytest.mark.skipif(not runnable(), reason="not run: this processor is not x86-64")

SETS = ("x86-64", "bmi2", "avx2", "avx512")
STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion")
USE = """\
#include "setwise_inline.h"
#include "setwise_inline.h"
#include <stdio.h>
int main(void) {
    printf("%llu %s\\n", (unsigned long long)setwise_kogge_stone_attacks_queen(1, ~1ULL),
        setwise_kogge_stone_attacks_queen_isa());
    return 0;
}
"""
ATTACKED = 0x8141_2111_0905_03FE  # by a queen on a1 of an empty board


def header(*, dispatch: bool = False, isas: tuple[str, ...] = SETS) -> str:
    """The header with all macros left defined, so that tests see what it knows."""
    kernels = tuple(kernel("kogge-stone.attacks.queen", isa) for isa in isas)
    return re.sub("#undef .*", "", c.header(Order(kernels, facts_of, "a test", dispatch=dispatch)))


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
    told = {"": "x86-64", "-mbmi -mbmi2": "bmi2", "-mavx2": "avx2", "-mavx2 -mbmi -mbmi2": "avx2"}
    for flags, isa in told.items():
        command = [require_tool(program), *language, *STRICT, "-O2", *flags.split()]
        assert printed(tmp_path, header(), USE, command, TARGETS[isa].features) == [str(ATTACKED), isa]


@pytest.mark.slow
@runs
def test_every_bit_that_a_set_needs_is_asked_for(tmp_path: Path) -> None:
    """By the function that reads CPUID's answers: on a processor that has all, and on those that lack one bit each."""
    kernels = [kernel("sliders.union", isa) for isa in TARGETS]
    kernels += [kernel("sliders.counts", isa) for isa in (*SETS, "gfni")]
    kernels += [kernel("side.twice.white", isa) for isa in ("x86-64", "gfni")]
    kernels += [kernel("sliders.pair", isa) for isa in ("x86-64", "avx512")]
    kernels.append(variant_named("pext", find("sliders.counts"), "bmi2"))
    text = c.header(Order(tuple(kernels), facts_of, "a test", dispatch=True))
    calls: list[str] = []
    wanted = BITS.keys() - {"avx", "avx512dq"}
    assert {name for name in BITS if f"_CPU_{constant_name(name)} " in text} == wanted
    for *leaves, state, found in cpuid_cases(wanted):
        words = ", ".join(
            f"{name}[4] = {{{', '.join(map(hex, leaf))}}}" for name, leaf in zip("abc", leaves, strict=True)
        )
        wrong = f"setwise_features_of(a, b, c, {state}) != {found}"
        calls.append(f"    {{ uint32_t {words}; if ({wrong}) return {len(calls) + 1}; }}")
    source = "\n".join(('#include "setwise_inline.h"', "int main(void) {", *calls, "    return 0;", "}", ""))
    assert printed(tmp_path, text, source, [require_tool("gcc"), "-O1"]) == []


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
    (tmp_path / "one.c").write_text(
        one + "int one(void); int one(void) { return *setwise_kogge_stone_attacks_queen_isa(); }\n"
    )
    two = (
        'extern "C" int one(void);\nint main() { return one() == *setwise_kogge_stone_attacks_queen_isa() ? 0 : 1; }\n'
    )
    (tmp_path / "two.cpp").write_text(one + two)
    (tmp_path / "three.cpp").write_text(one)
    flags = [*STRICT, "-O1", "-flto"]
    run([require_tool("gcc"), "-std=c11", *flags, "-c", "one.c"], tmp_path)
    strict = [*flags, "-Wold-style-cast", "-Wzero-as-null-pointer-constant"]
    run([require_tool("g++"), "-std=c++17", *strict, "one.o", "two.cpp", "three.cpp", "-o", "both"], tmp_path)
    if runnable():
        run([str(tmp_path / "both")], tmp_path)


LINKED = """\
#include "setwise_inline.h"
static uint64_t boards[2][16];
int main(int count, char **given) {
    const uint64_t rooks = count > 1;
    (void)given;
    setwise_kogge_stone_attacks_nort_batch(boards[0], boards[0], boards[1], 16);
    return (setwise_sliders_union(rooks, rooks, rooks) ^ boards[1][3]) == 0;
}
"""
AT_THE_LINK = ("-Wno-uninitialized", "-Wno-aggressive-loop-optimizations")


@pytest.mark.parametrize(
    "compiler", few(["gcc -std=c11", "g++ -xc++ -std=c++17", "clang-19", "clang++-19 -xc++ -std=c++17"], 1)
)
@pytest.mark.parametrize(
    "isas", [pytest.param(("x86-64", "bmi2"), marks=pytest.mark.slow), tuple(TARGETS)], ids=["bmi2", "all"]
)
def test_no_compiler_warns(tmp_path: Path, compiler: str, isas: tuple[str, ...]) -> None:
    """Nor does the linker with the documented flags; those of GCC 12 are needed, as its header is to blame."""
    names = ("sliders.union", "kogge-stone.attacks.nort.batch")
    order = Order(tuple(kernel(name, isa) for name in names for isa in isas), facts_of, "a test", dispatch=True)
    (tmp_path / "setwise_inline.h").write_text(c.header(order), encoding="ascii")
    (tmp_path / "use.c").write_text(LINKED)
    program, *language = compiler.split()
    command = [require_tool(program), *STRICT, "-O2"]
    for flags in ([], ["-mbmi2"], ["-march=native"], ["-march=x86-64-v4"]):
        for more in ([], ["-flto"]):
            run([*command, *flags, *more, *language, "-c", "use.c", "-o", "use.o"], tmp_path)
        if "clang" not in program:
            run([*command, *flags, "-flto", *AT_THE_LINK, "use.o", "-o", "use"], tmp_path)
    assert " ".join(AT_THE_LINK) in (Path(__file__).parents[4] / "docs" / "engine-authors.md").read_text()


TWO = """\
#include "setwise_inline.h"
#include "mine_inline.h"
static_assert(mine::sliders_union_avx2 == mine_sliders_union_avx2);
int main() {
    const uint64_t both = setwise_kogge_stone_attacks_queen(1, ~1ULL) & mine_sliders_union(1, 1, 1);
    return both == mine::sliders_union(1, 1, 1) && setwise::kogge_stone_attacks_queen_isa()[0] ==
        mine::sliders_union_isa()[0] ? 0 : 1;
}
"""


@pytest.mark.parametrize("compiler", few(["g++", "clang++-19"], 1))
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


@pytest.mark.parametrize("compiler", ["gcc", "clang-19", "g++ -xc++"])
def test_two_exports_with_one_prefix_are_refused(tmp_path: Path, compiler: str) -> None:
    """The names of the files do not matter. One export may be included twice, also from two files."""
    program, *language = compiler.split()
    for folder, isas in (("one", SETS), ("other", SETS[:2])):
        (tmp_path / folder).mkdir()
        for name in ("setwise_inline.h", f"{folder}.h"):
            (tmp_path / folder / name).write_text(header(isas=isas), encoding="ascii")
    error = "another export with the prefix setwise is included: export one of them with another --prefix"
    for first, second, fits in (
        ("one/setwise_inline.h", "other/setwise_inline.h", False),
        ("one/one.h", "other/other.h", False),
        ("one/one.h", "one/setwise_inline.h", True),
    ):
        (tmp_path / "use.c").write_text(f'#include "{first}"\n#include "{second}"\n')
        command = [require_tool(program), *language, *STRICT, "-fsyntax-only", "use.c"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode == 0) == fits, (first, second)
        assert fits or (error in done.stderr and done.stderr.count("error:") == 1)


@pytest.mark.parametrize("dispatch", [False, True])
def test_only_public_macros_stay_defined(tmp_path: Path, dispatch: bool) -> None:
    order = Order(tuple(kernel("sliders.union", isa) for isa in TARGETS), facts_of, "a test", dispatch=dispatch)
    (tmp_path / "setwise_inline.h").write_text(c.header(order), encoding="ascii")
    defined = run([require_tool("gcc"), "-dM", "-E", "setwise_inline.h"], tmp_path)
    public = {"INLINE_H", "STACK_ALIGNED", "TARGET"} | ({"SLIDERS_UNION_ISA"} if not dispatch else set())
    assert {*re.findall(r"#define SETWISE_(\w+)", defined)} == public


def test_gcc_on_windows_never_chooses_what_its_stack_does_not_bear(tmp_path: Path) -> None:
    """Its bug 54412: there the mask of all features holds none with AVX, even when it is told to use AVX-512."""
    (tmp_path / "setwise_inline.h").write_text(header(dispatch=True), encoding="ascii")
    source = '#include "setwise_inline.h"\n'
    source += f'_Static_assert(SETWISE_USABLE == {BITS["bmi2"]}, "features");\n'
    source += f'_Static_assert(SETWISE_ENABLED == {BITS["bmi2"]}, "features");\n'
    (tmp_path / "use.c").write_text(source)
    compiler = require_tool("x86_64-w64-mingw32-gcc")
    command = [compiler, "-std=c11", "-march=x86-64-v4", "-Werror", "-fsyntax-only", "use.c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "use Clang, or link objects of `setwise export --format coff`" in done.stderr
    assert subprocess.run([*command, "-DSETWISE_QUIET"], cwd=tmp_path, capture_output=True).stderr == b""


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
    printf("%%llu %%s %%u\\n", attacked, setwise_kogge_stone_attacks_queen_isa(), SETWISE_ENABLED);
    return 0;
}
"""
TELLING = "#define SETWISE_TARGET(features)"


def header_for_msvc(folder: Path, *, dispatch: bool) -> None:
    text = header(dispatch=dispatch)
    assert text.count(f"{TELLING}\n") == 1
    text = text.replace(f"{TELLING}\n", f"{TELLING} __attribute__((target(features)))\n")
    (folder / "setwise_inline.h").write_text(text, encoding="ascii")


def built(folder: Path, command: list[str], *, told: str = "") -> Path:
    """The disguised compiler's program. It prints squares, the sets that it may use, those that it was told of."""
    (folder / "intrin.h").write_text(INTRIN, encoding="ascii")
    (folder / "use.c").write_text(DISGUISED % told, encoding="ascii")
    run([*command, "-Wall", "-Wextra", "-Werror", "-I.", "use.c", "-o", "use"], folder)
    return folder / "use"


@runs
@pytest.mark.parametrize("command", ["gcc -std=c11 -O0", "g++ -xc++ -std=c++17 -O0", "clang-19 -std=c11 -O2"])
def test_the_branches_for_msvc_choose_when_run(tmp_path: Path, command: str) -> None:
    program, *flags = command.split()
    header_for_msvc(tmp_path, dispatch=True)
    made = built(tmp_path, [require_tool(program), *flags])
    for processor, isa in (("Nehalem", "x86-64"), ("Haswell", "avx2")):
        assert under_qemu(processor, made).split() == [str(ATTACKED), isa, "0"], processor


@runs
def test_msvc_has_no_word_for_bmi2(tmp_path: Path) -> None:
    """With /arch:AVX2 it says __AVX2__ alone, and means both."""
    header_for_msvc(tmp_path, dispatch=False)
    enabled = sum(BITS[feature] for feature in ("bmi2", "avx2"))
    made = built(tmp_path, [require_tool("gcc"), "-O1"], told="#define __AVX2__ 1")
    assert with_features(TARGETS["avx2"].features, made).split() == [str(ATTACKED), "avx2", str(enabled)]


@pytest.mark.slow
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
