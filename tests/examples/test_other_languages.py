"""The programs of docs/other-languages.md: each language calls the shared library, and Windows the DLLs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from setwise.analysis.commands.main import main
from tests.codegen.export.machines import under_wine
from tests.conftest import require_module, require_tool

PAGE = (Path(__file__).parents[2] / "docs" / "other-languages.md").read_text("utf-8")
PRINTED = "0101814121110b06"
CALLER = """
#include <inttypes.h>
#include <stdio.h>
#include <windows.h>

int main(void) {
    HMODULE library = LoadLibraryA("attacks.dll");
    uint64_t (*attacked)(uint64_t, uint64_t, uint64_t);
    if (!library) return 1;
    *(FARPROC *)&attacked = GetProcAddress(library, "setwise_sliders_union_x86_64");
    if (!attacked || !GetProcAddress(library, "setwise_sliders_union_avx2")) return 2;
    printf("%016" PRIx64 "\\n", attacked(1, 4, 5));
}
"""


def shown(file: str) -> str:
    """The text of a file that the page shows in a console."""
    (text,) = re.findall(rf"^\$ cat {re.escape(file)}\n((?:(?!\$ |```).*\n)*)", PAGE, re.MULTILINE)[:1]
    return str(text)


def program(language: str) -> str:
    """The program of a language, the first of its blocks on the page."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[0]  # type: ignore[no-any-return]


def done(command: Sequence[str], folder: Path) -> str:
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page's shared library."""
    require_module("bitwuzla")
    folder = tmp_path_factory.mktemp("library")
    (export,) = re.findall(r"^\$ setwise (export .*) -o attacks$", PAGE, re.MULTILINE)
    assert main([*export.split(), "-o", str(folder / "attacks")]) == 0
    (folder / "attacks.c").write_text(shown("attacks.c"))
    require_tool("gcc")
    (build,) = re.findall(r"^\$ (gcc .*libattacks\.so.*)$", PAGE, re.MULTILINE)
    done(build.split(), folder)
    return folder


def java() -> str | None:
    """The path of a java of version 22 or later, or None."""
    for path in filter(None, (shutil.which("java"), *map(str, Path("/usr/lib/jvm").glob("*/bin/java")))):
        version = re.search(
            r'version "(\d+)', subprocess.run([path, "-version"], capture_output=True, text=True).stderr
        )
        if version and int(version[1]) >= 22:
            return path
    return None


PROGRAMS = {
    "csharp": "attacked.cs",
    "d": "attacked.d",
    "java": "Attacked.java",
    "nim": "attacked.nim",
    "python": "attacked.py",
    "zig": "attacked.zig",
}


@pytest.mark.slow
@pytest.mark.parametrize(("language", "file"), PROGRAMS.items())
def test_a_program_calls_the_library(language: str, file: str, library: Path) -> None:
    ((line, then),) = re.findall(rf"^[^\n`]*`(\S* [^`]*{re.escape(file)}[^`]*)`(?: and `(.*)`)?", PAGE, re.MULTILINE)
    tool, *words = line.split()
    if language == "zig":
        require_module("ziglang")
        words = ["-m", "ziglang", *words]
    path = {"java": java(), "python": sys.executable, "zig": sys.executable}.get(language, shutil.which(tool))
    if path is None:
        pytest.skip(f"not run: {tool} missing or too old, which setwise does not need")
    (library / file).write_text(program(language))
    printed = done([path, *words], library)
    assert (done(["sh", "-c", then], library) if then else printed) == f"{PRINTED}\n"


@pytest.mark.parametrize("linker", ["x86_64-w64-mingw32-gcc", "lld-link-19"])
def test_a_dll_exports_what_its_def_file_names(linker: str, tmp_path: Path) -> None:
    require_module("bitwuzla")
    (export,) = re.findall(r"^\$ setwise (export .*) -o windows$", PAGE, re.MULTILINE)
    assert main([*export.split(), "-o", str(tmp_path / "windows")]) == 0
    (tmp_path / "attacks.def").write_text(shown("attacks.def"))
    (tmp_path / "caller.c").write_text(CALLER)
    require_tool(linker)
    (link,) = re.findall(rf"^\$ ({linker} .*attacks\.dll.*)$", PAGE, re.MULTILINE)
    done(["sh", "-c", link], tmp_path)
    done([require_tool("x86_64-w64-mingw32-gcc"), "-o", "caller.exe", "caller.c"], tmp_path)
    assert under_wine(tmp_path / "caller.exe") == f"{PRINTED}\n"


def test_without_a_def_file_only_mingw_exports(tmp_path: Path) -> None:
    assert main(["export", "sliders.union", "--format", "coff", "-o", str(tmp_path / "windows")]) == 0
    microsoft = f"{require_tool('lld-link-19')} /dll /noentry /out:one.dll windows/*.obj"
    mingw = f"{require_tool('x86_64-w64-mingw32-gcc')} -shared -o one.dll windows/*.obj"
    option = f"{microsoft} /export:setwise_sliders_union_x86_64"
    for link, exported in ((microsoft, False), (option, True), (mingw, True)):
        done(["sh", "-c", link], tmp_path)
        told = done(["x86_64-w64-mingw32-objdump", "-p", "one.dll"], tmp_path)
        assert bool(re.search(r"\[ *0\].* setwise_sliders_union_x86_64$", told, re.MULTILINE)) == exported, link
