"""Compiled C: functions of `analysis/bench/sources` as gcc and clang compile them, extracted from the object files.

The C is our own, after the literature. A function has its routine's name with underscores, and takes the routine's
parameters in the System V convention. Not every source file has a function for every routine. Kinds of source:

plain      a board is a uint64_t, one direction after the other
vectors    the same text with GCC vectors of 2, 4 or 8 boards, for routines whose lanes are boards
rays       intrinsics, a ray a lane: AVX-512 rotates, AVX2 shifts left and right rays apart ("rays apart" in AVX-512)
arrays     a plain loop over arrays of boards, which the compilers vectorize
look-up    not set-wise, for scale: attack tables, one piece at a time, indexed by pext, or by a multiplication in
           "look-up by magics"

For `x86-64` and `bmi2` setwise uses general registers only. Compiled SSE2 code, which every x86-64 processor can run,
is therefore compared with `sse2`.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory

from setwise.analysis.code.decode import Binary
from setwise.analysis.code.objects import load_all
from setwise.codegen.export.compiler_names import flags as isa_flags
from setwise.codegen.targets import TARGETS

FOR_SCALE = "look-up"
"""The prefix of the kinds of source that are not set-wise. They are shown for scale; no speed is relative to them."""
MAGICS = f"{FOR_SCALE} by magics"

# Extractable functions: one section for each function and table, relative addresses, no cold part split off.
_COMMON = ("-O3", "-std=gnu11", "-w", "-c", "-fPIC", "-ffunction-sections", "-fdata-sections", "-fcf-protection=none")
_OF_GCC = ("-fno-reorder-blocks-and-partition",)


class CompilerError(RuntimeError):
    """A compiler that fails on our C. The message is one line."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """A compiler on this machine: `name` is its command, `version` the first line of its version text."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Compiled:
    """A routine's C as a compiler compiled it. Its entry is the first byte of `binary`.

    `binary` is None if the function could not be extracted; `reason` then says why.
    """

    routine: str
    isa: str
    lanes: int
    kind: str
    compiler: Compiler
    flags: tuple[str, ...]
    binary: Binary | None
    reason: str = ""

    @property
    def label(self) -> str:
        """The compiler, its flags and the kind of source, as tables show them."""
        return " ".join((self.compiler.name, *self.flags, f"({self.kind})"))


@dataclass(frozen=True, slots=True)
class _CFile:
    """A C file: its kind of source, a pattern of the routines that it has functions for, and additional flags."""

    kind: str
    file: str
    routines: str = ".*"
    flags: tuple[str, ...] = ()


def installed() -> tuple[Compiler, ...]:
    """Return gcc and clang if they are installed; for clang the latest `clang-N` if there is no plain `clang`."""
    names = ["gcc", "clang" if shutil.which("clang") else _latest_clang()]
    return tuple(Compiler(name, _version(name)) for name in names if name and shutil.which(name))


def _latest_clang() -> str:
    numbered = re.compile(r"clang-(\d+)")
    here = (path.name for folder in os.get_exec_path() if Path(folder).is_dir() for path in Path(folder).iterdir())
    versions = [int(match[1]) for match in map(numbered.fullmatch, here) if match]
    return f"clang-{max(versions)}" if versions else ""


def _version(name: str) -> str:
    answer = subprocess.run([name, "--version"], capture_output=True, text=True, check=True, env=_environment())
    return answer.stdout.partition("\n")[0].strip()


def _environment() -> dict[str, str]:
    """Return our environment with the C locale, so that compilers report errors in English."""
    return {**os.environ, "LC_ALL": "C"}


_SETS = r".*\.(vertical|eastward|westward|rook|bishop|queen)"
_WHOLE_SIDE = r"sliders\.[^.]*"
_PIECES = r"sliders\.(union|pair|pieces|sides|counts|mobility)|side\..*|leapers\.(knights|kings)"
_FILLS = _CFile("plain", "fills.c", r".*\.(noEa|east|soEa|sout|soWe|west|noWe|nort)")
_BOARD = _CFile("plain", "board.c", rf"{_SETS}|bytewise.*|.*(until-dry|\.any).*")
_SLIDERS = _CFile("plain", "sliders.c", _WHOLE_SIDE)
_LEAPERS = _CFile("plain", "leapers.c", r"(leapers|side)\..*")
_EXPLODING = _CFile("plain", "exploding.c", r"exploding\..*")
_LOOK_UP = _CFile(FOR_SCALE, "lookup.c", _PIECES)
_MAGICS = replace(_LOOK_UP, kind=MAGICS, flags=("-DMAGICS",))
_APART = _CFile("rays", "avx2.c", rf"{_SETS}|{_WHOLE_SIDE}")
_TOGETHER = replace(_APART, file="avx512.c")
_ARRAYS = _CFile("arrays", "arrays.c", r".*\.batch")
_WIDE = ("-mprefer-vector-width=512",)


def c_files(isa: str, lanes: int) -> tuple[_CFile, ...]:
    """Return the C files for an instruction set, once for each set of flags; `lanes` counts boards in a vector."""
    arrays = [_ARRAYS, replace(_ARRAYS, flags=("-funroll-loops",))]
    target = TARGETS[isa]
    if not target.vectors:
        tables = [_LOOK_UP, _MAGICS] if target.has("gather", 1) else [_MAGICS]
        return (_FILLS, _BOARD, _SLIDERS, _LEAPERS, _EXPLODING, *arrays, *tables)
    boards = replace(_FILLS, kind="vectors", flags=(f"-DLANES={lanes}",))
    plain = boards, _BOARD, _SLIDERS, _LEAPERS
    if not target.direction_widths:
        return (*plain, *arrays)
    if not target.has("rotl", lanes):
        return (*plain, _APART, *arrays)
    wide = [replace(loop, flags=(*_WIDE, *loop.flags)) for loop in arrays]
    return (*plain, _TOGETHER, replace(_APART, kind="rays apart"), *arrays, *wide)


def compile_all(
    routines: Collection[str], isa: str, lanes: int | None = None, using: Iterable[Compiler] = ()
) -> list[Compiled]:
    """Compile the C for these routines and an instruction set with each compiler, `using` or else all installed ones.

    `lanes` is the number of boards in a vector if lanes are boards. The same bytes from the same compiler and kind of
    source, with other flags, are left out. Raises CompilerError if a compiler fails.
    """
    lanes = lanes or TARGETS[isa].widths[0]
    wanted = {re.sub(r"\W", "_", name): name for name in routines}
    functions: list[Compiled] = []
    with TemporaryDirectory() as folder, as_file(files("setwise.analysis.bench") / "sources") as texts:
        for compiler in tuple(using) or installed():
            sources = [s for s in c_files(isa, lanes) if any(re.fullmatch(s.routines, name) for name in routines)]
            different: dict[tuple[str, str, Binary | Compiled], Compiled] = {}
            for source in sources:
                compiled, flags = _compile(compiler, isa, source, texts, Path(folder))
                for name, code in load_all(compiled, wanted).items():
                    binary, reason = (code, "") if isinstance(code, Binary) else (None, str(code))
                    made = Compiled(wanted[name], isa, lanes, source.kind, compiler, flags, binary, reason)
                    different.setdefault((made.routine, made.kind, made.binary or made), made)
            functions += different.values()
    return functions


def _compile(compiler: Compiler, isa: str, source: _CFile, texts: Path, folder: Path) -> tuple[Path, tuple[str, ...]]:
    """Compile a file in a folder. Return the object's path, and the flags that labels show."""
    if not (folder / "tables.h").exists():
        program = str(folder / "tables")
        _run(folder, compiler.name, "-O1", "-w", str(texts / "tables.c"), "-o", program)
        _run(folder, program, str(folder))
    compiled = folder / "made.o"
    special = _OF_GCC if compiler.name.startswith("gcc") else ()
    flags = (*_COMMON, *special, *isa_flags(isa), *source.flags, f"-I{folder}")
    _run(folder, compiler.name, *flags, str(texts / source.file), "-o", str(compiled))
    return compiled, (*isa_flags(isa), *(flag for flag in source.flags if flag[:2] != "-D"))


def _run(folder: Path, *command: str) -> None:
    """Run a command in the folder, where the assembler finds included files. Raises CompilerError if it fails."""
    ended = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=_environment())
    if ended.returncode:
        complaint = next((line for line in ended.stderr.splitlines() if "error" in line), ended.stderr.strip())
        raise CompilerError(f"{Path(command[0]).name} fails ({ended.returncode}): {complaint or 'no error message'}")
