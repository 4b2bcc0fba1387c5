"""The C header in C++: linkage, modules, constants, and files that are compiled with different flags."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from setwise.analysis.exports.facts import facts_of
from setwise.codegen.catalogue import find
from setwise.codegen.export.order import Order
from setwise.codegen.export.sources import c
from setwise.codegen.targets import TARGETS
from setwise.codegen.variants import variant_named
from tests.codegen.export.exports import kernel
from tests.codegen.export.machines import with_features
from tests.codegen.export.sources.exported import Functions, every_form, run, sample
from tests.conftest import few, require_tool, runs

STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-Wconversion")
COMPILERS = ("g++", "clang++-19")
ATTACKED = 0x0101_8141_2111_0B06  # by rooks on a1 and bishops on c1


def written(folder: Path, *names: str, isas: tuple[str, ...] = (*TARGETS,), dispatch: bool = False) -> None:
    kernels = tuple(kernel(name, isa) for name in names or ("sliders.union",) for isa in isas)
    text = c.header(Order(kernels, facts_of, "a test", dispatch=dispatch))
    (folder / "setwise_inline.h").write_text(text, encoding="ascii")


ONE = """\
#include "setwise_inline.h"
#include <cstdio>
const char *other();
int main() { std::printf("%s %s\\n", setwise_sliders_union_isa(), other()); }
"""
OTHER = """\
#include "setwise_inline.h"
const char *other();
const char *other() { return setwise::sliders_union_isa(); }
"""


@runs
@pytest.mark.parametrize("compiler", few(COMPILERS, 1))
@pytest.mark.parametrize("order", [("one.o", "other.o"), ("other.o", "one.o")])
def test_files_with_different_flags_keep_their_own_functions(
    tmp_path: Path, compiler: str, order: tuple[str, str]
) -> None:
    """Whichever file the linker reads first. Nothing is inlined, so each file has a function of its own."""
    written(tmp_path)
    (tmp_path / "one.cpp").write_text(ONE)
    (tmp_path / "other.cpp").write_text(OTHER)
    command = [require_tool(compiler), "-std=c++17", *STRICT, "-O0"]
    run([*command, "-c", "one.cpp"], tmp_path)
    run([*command, "-mavx2", "-c", "other.cpp"], tmp_path)
    run([*command, *order, "-o", "both"], tmp_path)
    assert with_features(TARGETS["avx2"].features, tmp_path / "both").split() == ["sse2", "avx2"]


@pytest.mark.slow
@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_flag_has_its_digit(tmp_path: Path, compiler: str) -> None:
    pext = variant_named("pext", find("sliders.pair"), "bmi2")
    text = c.header(Order((kernel("sliders.pair"), pext), facts_of, "a test"))
    (tmp_path / "setwise_inline.h").write_text(text, encoding="ascii")
    (tmp_path / "use.cpp").write_text('#include "setwise_inline.h"\nauto &kept = setwise_sliders_pair_isa;\n')
    flags = ("", "-DSETWISE_PEXT", "-mbmi", "-mpopcnt", "-mavx512vl", "-mavx512vpopcntdq", "-mavx512bitalg", "-mgfni")
    digits = set()
    for flag in flags:
        run([require_tool(compiler), "-std=c++17", *flag.split(), "-c", "use.cpp", "-o", "use.o"], tmp_path)
        digits |= {*re.findall(r"setwise_[0-9a-f]{8}_([01]{26})\d", run([require_tool("nm"), "use.o"], tmp_path))}
    assert len(digits) == len(flags)


MODULE = """\
module;
#include "setwise_inline.h"
export module attacks;
export using setwise::sliders_union;
export using ::setwise_sliders_union_isa;
export inline uint64_t twice(uint64_t rooks) { return setwise::sliders_union(rooks, rooks, rooks); }
"""
IMPORTER = """\
import attacks;
#include <cstdio>
int main() { std::printf("%lx %s %d\\n", sliders_union(1, 4, 5), setwise_sliders_union_isa(), twice(1) != 0); }
"""


@runs
@pytest.mark.parametrize("dispatch", [False, True], ids=["compiled", "run"])
def test_a_module_exports_functions(tmp_path: Path, dispatch: bool) -> None:
    written(tmp_path, dispatch=dispatch)
    (tmp_path / "attacks.cppm").write_text(MODULE)
    (tmp_path / "use.cpp").write_text(IMPORTER)
    command = [require_tool("clang++-19"), "-std=c++20", *STRICT, "-O1", "-mavx2"]
    run([*command, "--precompile", "attacks.cppm", "-o", "attacks.pcm"], tmp_path)
    run([*command, "-fmodule-file=attacks=attacks.pcm", "use.cpp", "attacks.pcm", "-o", "use"], tmp_path)
    squares, isa, same = with_features(TARGETS["avx2"].features, tmp_path / "use").split()
    assert (int(squares, 16), same) == (ATTACKED, "1")
    assert dispatch or isa == "avx2"


CONSTANTS = f"""\
#include "setwise_inline.h"
static_assert(setwise_sliders_union_x86_64(1, 4, 5) == {ATTACKED:#x});
static_assert(setwise::sliders_union(1, 4, 5) == {ATTACKED:#x});
constexpr uint64_t pair(int at) {{
    uint64_t results[2] = {{}};
    setwise::sliders_pair(1, 4, 5, results);
    return results[at];
}}
static_assert((pair(0) | pair(1)) == {ATTACKED:#x});
uint64_t f(uint64_t rooks, uint64_t bishops, uint64_t occupied);
uint64_t f(uint64_t rooks, uint64_t bishops, uint64_t occupied) {{
    return setwise::sliders_union(rooks, bishops, occupied);
}}
"""


@pytest.mark.parametrize("compiler", few(COMPILERS, 1))
@pytest.mark.parametrize("dispatch", [False, True], ids=["compiled", "run"])
def test_compilers_compute_constants_by_the_plain_kernel(tmp_path: Path, compiler: str, dispatch: bool) -> None:
    """And only constants: a function that runs has the AVX2 kernel."""
    written(tmp_path, "sliders.union", "sliders.pair", isas=("x86-64", "avx2"), dispatch=dispatch)
    (tmp_path / "use.cpp").write_text(CONSTANTS)
    for standard in ("c++17", "c++20"):
        command = [require_tool(compiler), f"-std={standard}", *STRICT, "-O2", "-mavx2"]
        run([*command, "-S", "use.cpp", "-o", "use.s"], tmp_path)
        assert "vpsllvq" in (tmp_path / "use.s").read_text()


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_choice_of_flags_is_a_constant(tmp_path: Path, compiler: str) -> None:
    written(tmp_path)
    source = """\
#include "setwise_inline.h"
static_assert(setwise::sliders_union_isa()[0] == 'a' && sizeof(SETWISE_SLIDERS_UNION_ISA) == sizeof("avx2"));
"""
    (tmp_path / "use.cpp").write_text(source)
    run([require_tool(compiler), "-std=c++17", *STRICT, "-mavx2", "-fsyntax-only", "use.cpp"], tmp_path)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("which", few([sample, every_form], 1), ids=["sample", "all"])
def test_plain_kernels_without_tables_can_be_constants(
    tmp_path: Path, compiler: str, which: Callable[[], Functions]
) -> None:
    plain = tuple(each for each in which().values() if each.target.name == "x86-64")
    text = c.header(Order(plain, facts_of, "a test"))
    (tmp_path / "setwise_inline.h").write_text(text, encoding="ascii")
    (tmp_path / "use.cpp").write_text('#include "setwise_inline.h"\n')
    run([require_tool(compiler), "-std=c++17", *STRICT, "-fsyntax-only", "use.cpp"], tmp_path)
    for each in plain:
        function = c.function(each, "f", ())
        assert function.startswith("SETWISE_CONSTEXPR ") != ("static const" in function)
