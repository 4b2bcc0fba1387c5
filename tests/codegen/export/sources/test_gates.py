"""Gates of exported source: which kernel a build takes, and that each asks for the features that its code has."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from setwise.analysis.code.decode import Binary, features
from setwise.analysis.code.decode import decode as decoded
from setwise.analysis.code.objects import load_all
from setwise.analysis.exports.facts import facts_of
from setwise.codegen.export.order import Order
from setwise.codegen.export.prototypes import boards_a_call
from setwise.codegen.export.sources import c, rust
from setwise.codegen.machine.processors import BASELINE
from setwise.codegen.targets import TARGETS
from tests.codegen.export.exports import kernel
from tests.codegen.export.sources.exported import IMPLIED, C, Functions, every_form, made, needs, run, sample
from tests.conftest import few, require_rust, require_tool

_OLD = "-msse -msse3 -mpopcnt -mavx2 -mbmi -msse4.1 -mssse3 -msse2"
_BERSERK = "-mpopcnt -msse -msse2 -mssse3 -msse4.1 -mbmi -mfma -mavx2"
_HALOGEN = "-msse -msse2 -msse3 -mssse3 -msse4 -msse4.1 -msse4.2 -mavx -mfma -mavx2 -mpopcnt"
_ETHEREAL = "-mavx2 -mfma -mavx -msse4.1 -msse -msse2 -msse3 -mssse3 -mpopcnt"
_ICE_LAKE = "-mavx512vbmi -mavx512vbmi2 -mavx512vpopcntdq -mavx512bitalg -mavx512vnni -mvpclmulqdq -mgfni -mvaes"
ENGINES = (
    ("Stockfish avx2, Makefile@762dd1da9a5d", _OLD, "avx2"),
    ("Stockfish bmi2", f"{_OLD} -mbmi2", "avx2"),
    ("Stockfish avx512", f"{_OLD} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mbmi2", "avx512"),
    (
        "Stockfish avx512icl",
        f"{_OLD} -mavx512f -mavx512cd -mavx512vl -mavx512dq -mavx512bw -mavx512ifma {_ICE_LAKE} -mbmi2",
        "gfni",
    ),
    ("Fairy-Stockfish avx512, Makefile@c19b5f6c6689", f"{_OLD} -mavx512f -mavx512bw -mbmi2", "avx512"),
    ("Berserk avx2, makefile@19f96bde35f2; Obsidian avx2, Makefile@44239cc3fcf2", _BERSERK, "avx2"),
    ("Berserk avx2 with PEXT", f"{_BERSERK} -mbmi2", "avx2"),
    ("Berserk avx512; Obsidian avx512", f"{_BERSERK} -mavx512f -mavx512bw", "avx512"),
    ("Alexandria AVX2FLAGS, makefile@2ebf11435fb0", "-mavx2 -mbmi -mfma", "avx2"),
    ("Alexandria BMI2FLAGS", "-mavx2 -mbmi -mbmi2 -mfma", "avx2"),
    ("Alexandria AVX512FLAGS", "-mavx512f -mavx512bw -mfma", "avx512"),
    ("Alexandria x86-64-avx2", "-march=bdver4 -mno-tbm -mno-sse4a -mno-bmi2", "avx2"),
    ("Halogen avx2, Makefile@ceb2e08174eb", _HALOGEN, "avx2"),
    ("Halogen avx2-pext", f"{_HALOGEN} -mbmi -mbmi2", "avx2"),
    (
        "Halogen avx512-pext",
        f"{_HALOGEN} -mbmi -mbmi2 -mavx512f -mavx512cd -mavx512vl -mavx512dq -mavx512bw",
        "avx512",
    ),
    ("Caissa AVX2, CMakeLists.txt@ff8692295e52", "-mavx -mfma -mavx2", "avx2"),
    ("Caissa BMI2", "-mavx -mfma -mavx2 -mbmi2", "avx2"),
    ("Caissa AVX512", "-mfma -mavx2 -mbmi2 -mavx512bw -mavx512f", "avx512"),
    ("Caissa avx512, makefile", "-march=skylake-avx512 -mavx512f -mavx512bw -mavx512dq", "avx512"),
    ("Koivisto avx2, makefile@6de225ad856d", "-mavx2", "avx2"),
    ("Koivisto avx512", "-mavx512f -mavx512bw -mavx512dq", "avx512"),
    ("Ethereal AVX2FLAGS, makefile@0e47e9b67f34", _ETHEREAL, "avx2"),
    ("Ethereal PEXT", f"{_ETHEREAL} -mbmi2", "avx2"),
    ("PlentyChess avx2, Makefile@20878a83a703", "-march=haswell", "avx2"),
    ("PlentyChess avx512", "-march=skylake-avx512 -mbmi2", "avx512"),
    ("PlentyChess avx512vnni", "-march=icelake-client -mbmi2", "gfni"),
    ("Integral AVX2, CMakeLists.txt@3f15ba6bcd29", "-march=bdver4 -mno-tbm -mno-sse4a -mno-bmi2 -mtune=znver2", "avx2"),
    ("Integral AVX2_BMI2", "-march=haswell -mtune=haswell -mavx2 -mbmi2", "avx2"),
    ("Integral AVX512", "-march=x86-64-v4 -mtune=skylake-avx512", "avx512"),
    ("Integral VNNI512", "-march=znver4 -mtune=znver4", "gfni"),
    ("Integral SSE41_POPCNT", "-march=nehalem -mtune=sandybridge", "sse2"),
    ("no flags", "", "sse2"),
    ("x86-64-v2", "-march=x86-64-v2", "sse2"),
    ("x86-64-v3", "-march=x86-64-v3", "avx2"),
    ("znver2", "-march=znver2", "avx2"),
    ("znver5", "-march=znver5", "gfni"),
)
"""Flag lines of public engines' build files, read in November 2026, and other usual ones: the kernel that is chosen."""

USE = """\
#include "setwise_inline.h"
const char *isa(void);
const char *isa(void) { return setwise_sliders_union_isa(); }
"""
CALL = """\
#include "setwise_inline.h"
uint64_t f(uint64_t rooks, uint64_t bishops, uint64_t occupied);
uint64_t f(uint64_t rooks, uint64_t bishops, uint64_t occupied) {
    return setwise_sliders_union(rooks, bishops, occupied);
}
"""


def written(folder: Path, source: str, *, dispatch: bool = False) -> None:
    kernels = tuple(kernel("sliders.union", isa) for isa in TARGETS)
    text = c.header(Order(kernels, facts_of, "a test", dispatch=dispatch))
    (folder / "setwise_inline.h").write_text(text, encoding="ascii")
    (folder / "use.c").write_text(source, encoding="ascii")


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_flags_of_engines_choose_the_best_kernel(tmp_path: Path, compiler: str) -> None:
    """By the one name that is left in the assembly. A processor that the compiler does not know is passed over."""
    written(tmp_path, USE)
    chosen, expected = {}, {}
    for engine, flags, isa in ENGINES:
        command = [require_tool(compiler), "-std=c11", "-O2", "-Werror", *flags.split(), "-S", "use.c", "-o", "use.s"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        if re.search("(unknown|bad value).*(target CPU|-march=)", done.stderr):
            assert "znver" in flags
            continue
        assert done.returncode == 0, done.stderr
        expected[engine] = [isa]
        chosen[engine] = re.findall(r'\.(?:string|asciz)\s+"(.*)"', (tmp_path / "use.s").read_text())
    assert chosen == expected
    assert len(chosen) >= len(ENGINES) - 2


_RUST = (
    ("Reckless v2, Makefile@789de8912672", "-Ctarget-cpu=x86-64-v2", "sse2"),
    ("Viridithas v3, Makefile@8bc07064c888; Reckless v3", "-Ctarget-cpu=x86-64-v3", "avx2"),
    ("Reckless v4", "-Ctarget-cpu=x86-64-v4", "avx512"),
    (
        "Viridithas v4 icelake",
        "-Ctarget-cpu=x86-64-v4 -Ctarget-feature=+gfni,+avx512bw,+avx512vl,+avx512vbmi,+avx512vbmi2,+avx512vnni,"
        "+avx512bitalg",
        "gfni",
    ),
)


def test_flags_of_engines_in_rust_choose_the_best_kernel(tmp_path: Path) -> None:
    kernels = tuple(kernel("sliders.union", isa) for isa in TARGETS)
    (tmp_path / "setwise.rs").write_text(rust.module(Order(kernels, facts_of, "a test")), encoding="ascii")
    source = "mod setwise;\n#[no_mangle]\npub fn isa() -> &'static str {\n    setwise::sliders_union_isa()\n}\n"
    (tmp_path / "use.rs").write_text(source, encoding="ascii")
    command = [require_rust(), "--edition=2021", "--crate-type=lib", "-O", "--emit=asm", "use.rs", "-o", "use.s"]
    for engine, flags, isa in _RUST:
        run([*command, *flags.split()], tmp_path)
        assert re.findall(r'\.ascii\s+"(.*)"', (tmp_path / "use.s").read_text()) == [isa], engine


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize(("flags", "most"), [("-march=haswell", 100), ("-march=x86-64", 180)])
def test_call_sites_of_dispatch_are_small(tmp_path: Path, compiler: str, flags: str, most: int) -> None:
    """A caller neither tests features that the flags enable nor keeps kernels of older sets."""
    written(tmp_path, CALL, dispatch=True)
    run([require_tool(compiler), "-O2", flags, "-fcf-protection=none", "-c", "use.c", "-o", "use.o"], tmp_path)
    listing = run([require_tool("objdump"), "-d", "--no-show-raw-insn", "use.o"], tmp_path)
    blocks = re.findall(r"<f(?:\.cold)?>:\n((?:.+\n)+)", listing)
    assert 40 < sum(block.count("\n") for block in blocks) <= most


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_a_message_names_what_a_build_with_avx2_lacks(tmp_path: Path, compiler: str) -> None:
    """If it takes an older kernel although the header has one for AVX2 or newer; an older build needs none."""
    kernels = tuple(kernel("sliders.mobility", isa) for isa in ("x86-64", "avx2", "avx512"))
    (tmp_path / "use.c").write_text('#include "setwise_inline.h"\nconst char *isa = SETWISE_SLIDERS_MOBILITY_ISA;\n')
    messages = []
    for wanted, flags in (
        (kernels, "-mavx2 -mno-popcnt"),
        (kernels[::2], "-march=haswell"),
        (kernels[::2], "-march=haswell -DSETWISE_QUIET"),
        (kernels, "-march=haswell"),
        (kernels, "-march=x86-64-v4"),
        (kernels, "-march=x86-64"),
    ):
        text = c.header(Order(wanted, facts_of, "a test"))
        (tmp_path / "setwise_inline.h").write_text(text, encoding="ascii")
        command = [require_tool(compiler), "-Werror", *flags.split(), "-S", "use.c", "-o", "use.s"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        isa = re.findall(r'\.(?:string|asciz)\s+"(.*)"', (tmp_path / "use.s").read_text())
        messages.append((*isa, *re.findall(r"message: (.*) \(no message|warning: (.*) \(no message", done.stderr)))
    found = [(isa, *("".join(each) for each in more)) for isa, *more in messages]
    said = "setwise_sliders_mobility() uses x86-64, although AVX2 is enabled: "
    assert found == [
        ("x86-64", f"{said}avx2 needs popcnt"),
        ("x86-64", f"{said}avx512 needs avx512bw"),
        ("x86-64",),
        ("avx2",),
        ("avx512",),
        ("x86-64",),
    ]


def missing_and_idle(folder: Path, functions: Functions) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """The features that compiled code has beyond its gate, and those of gates that no compiler's code has."""
    alone = {name: each for name, each in functions.items() if boards_a_call(each) == 1 and needs(each)}
    found: dict[str, set[str]] = {name: set() for name in alone}
    for compiler in C[:2]:
        alike = ("-fcf-protection=none", "-fno-reorder-blocks-and-partition") if compiler.name == "gcc" else ()
        options = ("-O2", "-c", *alike)
        for name, one in load_all(made(folder, compiler, alone, *options), set(alone)).items():
            assert isinstance(one, Binary), one
            found[name] |= features(decoded(one.text)) - BASELINE
    gates = {name: set(needs(each)) - {"sse2", "fast-pext"} for name, each in alone.items()}
    whole = {name: gate.union(*(IMPLIED.get(each, ()) for each in gate)) for name, gate in gates.items()}
    missing = {name: found[name] - whole[name] for name in alone if found[name] - whole[name]}
    idle = {name: gates[name] - found[name] for name in alone if gates[name] - found[name]}
    return missing, idle


@pytest.mark.parametrize("which", few([sample, every_form], 1), ids=["sample", "all"])
def test_gates_ask_for_the_features_of_compiled_code(tmp_path: Path, which: Callable[[], Functions]) -> None:
    missing, idle = missing_and_idle(tmp_path, which())
    assert missing == {}
    assert idle == {}
