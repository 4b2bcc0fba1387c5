"""Objects linked by toolchains of Linux, Windows and macOS; what comes out is proved again, and run here."""

import ctypes
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from setwise.analysis.proof.prover import Prover
from setwise.analysis.spec import raywalk
from setwise.codegen.export.formats import FORMATS
from setwise.codegen.export.names import symbol
from setwise.codegen.export.objects.coff import coff
from setwise.codegen.export.objects.elf import elf
from setwise.codegen.export.objects.header import header
from setwise.codegen.export.objects.macho import macho
from setwise.codegen.export.objects.relocatable import with_endbr64
from setwise.codegen.kernel import Kernel
from setwise.codegen.run.call import missing
from setwise.codegen.targets import TARGETS
from tests.codegen.export import images
from tests.codegen.export.exports import kernel, order, sample, told, written
from tests.codegen.export.machines import under_wine
from tests.conftest import require_module

CALLS = (
    ("kogge-stone.attacks.sout", "x86-64"),
    ("sliders.union", "avx2"),
    ("sliders.pair", "x86-64"),
    ("exploding.rook", "x86-64"),
    ("kogge-stone.attacks.east.batch", "sse2"),
)
PROGRAM = """
#include "setwise.h"
#include <stdio.h>

int main(void) {
    uint64_t pair[2], boards[5] = {1, 2, 1ull << 27, 0, 1ull << 35}, empty[5], result[5];
    for (int i = 0; i < 5; ++i) empty[i] = ~boards[i];
    setwise_sliders_pair_x86_64(1ull << 28, 1ull << 2, 1ull << 28 | 1ull << 2 | 1ull << 60, pair);
    setwise_kogge_stone_attacks_east_batch_sse2(boards, empty, result, 5);
    printf("%llx\\n", (unsigned long long)setwise_kogge_stone_attacks_sout_x86_64(1ull << 28, ~0ull));
    printf("%llx\\n", (unsigned long long)setwise_exploding_rook_x86_64(28, 0));
    printf("%llx %llx\\n", (unsigned long long)pair[0], (unsigned long long)pair[1]);
    for (int i = 0; i < 5; ++i) printf("%llx\\n", (unsigned long long)result[i]);
    return 0;
}
"""


def expected() -> list[str]:
    """What PROGRAM prints, by the ray-walk."""
    boards = [1, 2, 1 << 27, 0, 1 << 35]
    attacks = raywalk.specification("attacks", "sout", "empty")(1 << 28, (1 << 64) - 1)
    rook = raywalk.specification("from-square", "rook", "empty")(28, 0)
    pair = raywalk.specification("pair", "", "occupied")(1 << 28, 1 << 2, 1 << 28 | 1 << 2 | 1 << 60)
    east = raywalk.specification("attacks", "east", "empty")
    rows = [attacks, rook, pair, *(east(board, ~board & (1 << 64) - 1) for board in boards)]
    return [" ".join(f"{int(word):x}" for word in row) for row in rows]


def export(directory: Path, form: str, kernels: Sequence[Kernel]) -> list[Path]:
    """The files of one format in the directory; gives the objects and libraries among them."""
    files = FORMATS[form].files(order(kernels))
    for name, content in files.items():
        (directory / name).write_bytes(content)
    return [directory / name for name in files if not name.endswith(".h")]


def zig(*arguments: str | Path) -> list[str | Path]:
    require_module("ziglang")
    return [sys.executable, "-m", "ziglang", "cc", *arguments]


STRICT = ("-O2", "-Wall", "-Wextra", "-Werror", "-pedantic")


@pytest.mark.parametrize(("form", "abi"), [("elf", "sysv"), ("lib", "sysv"), ("elf", "win64")])
@pytest.mark.parametrize("compiler", ["gcc -std=c11", "clang-19 -std=c11", "g++ -xc++ -std=c++17"])
def test_programs_of_c_and_cpp_call_the_kernels(compiler: str, form: str, abi: str, tmp_path: Path) -> None:
    """An ELF object may hold Win64 code as well; then the header tells gcc and clang how to call it."""
    objects = export(tmp_path, form, [kernel(name, isa, abi) for name, isa in CALLS if isa != "avx2"])
    (tmp_path / "main.c").write_text(PROGRAM)
    program, *language = compiler.split()
    told(program, *language, *STRICT, "-c", "-o", tmp_path / "main.o", tmp_path / "main.c")
    told(program, "-o", tmp_path / "main", tmp_path / "main.o", *objects)
    done = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:-1] == expected()


def test_the_header_declares_vectors_for_compilers_that_know_them(tmp_path: Path) -> None:
    kernels = [kernel("kogge-stone.attacks.sout", isa) for isa in ("sse2", "avx2", "avx512")]
    for name, content in (
        ("setwise.h", header(order(kernels))),
        ("main.c", '#include "setwise.h"\nint main(void) { return 0; }\n'),
    ):
        (tmp_path / name).write_text(content)
    for compiler in ("gcc", "clang-19"):
        told(compiler, "-std=c11", *STRICT, "-o", tmp_path / "main", tmp_path / "main.c")


def assert_right(memory: images.Memory, kernels: Sequence[Kernel]) -> None:
    """The linked functions are proved, and run here in their own convention."""
    prover = Prover()
    for one in kernels:
        images.assert_proves(memory, one, symbol(one), prover)
        outcome = images.run(memory, one, symbol(one))
        assert outcome.status in ("passed", "not run"), f"{one.name} {one.target.name}: {outcome.reason}"


def few(abi: str) -> list[Kernel]:
    """Constants, a table of jumps, saved registers of both files."""
    names = ("sliders.union", "avx2"), ("exploding.rook", "x86-64"), ("kogge-stone.attacks.rook.batch", "sse2")
    return [kernel(name, isa, abi) for name, isa in names]


def test_a_shared_library_of_linux_runs(tmp_path: Path) -> None:
    kernels = [with_endbr64(one) for one in few("sysv")]
    objects = [written(tmp_path, one, elf) for one in (*kernels, kernel("sliders.union"))]
    library = tmp_path / "libsetwise.so"
    told("gcc", "-shared", "-nostdlib", "-Wl,-z,text,--fatal-warnings", "-o", library, *objects)
    union = ctypes.CDLL(str(library)).setwise_sliders_union_x86_64
    union.restype, union.argtypes = ctypes.c_uint64, (ctypes.c_uint64,) * 3
    assert union(1, 0, 1) == 0x0101_0101_0101_01FE
    assert_right(images.load(library), kernels)


def linkers(program: str) -> list[Any]:
    """A linker for few kernels, and it and zig for the sample."""
    return [(program, few), *(pytest.param(one, sample, marks=pytest.mark.slow) for one in (program, "zig"))]


def windows_library(directory: Path, kernels: Sequence[Kernel], command: Sequence[str | Path]) -> images.Memory:
    """Linked for Windows: its Win64 code runs here behind the driver, which watches the registers."""
    objects = [written(directory, one, coff) for one in kernels]
    entry = f"-Wl,--entry={symbol(kernels[0])}"  # any will do: nothing is ever started
    told(*command, "-shared", "-nostdlib", entry, "-o", directory / "setwise.dll", *objects)
    return images.load(directory / "setwise.dll")


@pytest.mark.parametrize(("linker", "which"), linkers("mingw"))
def test_a_library_of_windows(linker: str, which: Callable[[str], list[Kernel]], tmp_path: Path) -> None:
    mingw = linker == "mingw"
    command = ["x86_64-w64-mingw32-gcc"] if mingw else zig("-target", "x86_64-windows-gnu")
    memory = windows_library(tmp_path, which("win64"), command)
    assert_right(memory, which("win64"))


@pytest.mark.parametrize("form", ["coff", "lib"])
def test_a_program_of_windows_by_mingw_runs_under_wine(form: str, tmp_path: Path) -> None:
    objects = export(tmp_path, form, [kernel(name, isa, "win64") for name, isa in CALLS])
    (tmp_path / "main.c").write_text(PROGRAM)
    told("x86_64-w64-mingw32-gcc", "-std=c11", *STRICT, "-o", tmp_path / "main.exe", tmp_path / "main.c", *objects)
    assert under_wine(tmp_path / "main.exe").split("\n")[:-1] == expected()


@pytest.mark.parametrize("form", ["coff", "lib"])
def test_a_program_of_windows_by_zig_runs_under_wine(form: str, tmp_path: Path) -> None:
    """Vectors too: clang asks for the decorated name. Without zig's C library, which takes minutes to make.

    The program's end is its answer: 0 where the squares are right, else 1; where AVX2 is missing it is only linked.
    """
    vectors = kernel("kogge-stone.attacks.sout", "avx2", "win64")
    objects = export(tmp_path, form, [kernel("sliders.union", "x86-64", "win64"), vectors])
    (tmp_path / "main.c").write_text(
        """
        #include "setwise.h"
        static volatile long long rooks = 1ll << 16;
        int start(void) {
            __m256i south = setwise_kogge_stone_attacks_sout_avx2(_mm256_set1_epi64x(rooks), _mm256_set1_epi64x(-1));
            if (_mm256_extract_epi64(south, 0) != 0x101 || _mm256_extract_epi64(south, 3) != 0x101) return 1;
            return setwise_sliders_union_x86_64(1, 0, (unsigned long long)rooks | 1) != 0x101fe;
        }
        """
    )
    windows = ("-target", "x86_64-windows-gnu")
    told(*zig(*windows, "-mavx2", "-std=c11", *STRICT, "-c", "-o", tmp_path / "main.obj", tmp_path / "main.c"))
    alone = ("-nostdlib", "-Wl,--entry=start", "-o", tmp_path / "main.exe")
    told(*zig(*windows, *alone, tmp_path / "main.obj", *objects))
    assert (tmp_path / "main.exe").read_bytes()[:2] == b"MZ"
    if not missing(TARGETS["avx2"]):
        under_wine(tmp_path / "main.exe")


@pytest.mark.parametrize(("linker", "which"), linkers("lld"))
def test_a_library_of_macos(linker: str, which: Callable[[str], list[Kernel]], tmp_path: Path) -> None:
    objects = [written(tmp_path, one, macho) for one in which("sysv")]
    lld = ("-arch", "x86_64", "-platform_version", "macos", "11.0", "11.0", "-dylib")
    command = ["ld64.lld-19", *lld] if linker == "lld" else zig("-target", "x86_64-macos", "-shared")
    told(*command, "-o", tmp_path / "libsetwise.dylib", *objects)
    assert_right(images.load(tmp_path / "libsetwise.dylib"), which("sysv"))
