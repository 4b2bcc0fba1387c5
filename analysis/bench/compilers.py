"""What gcc and clang make of C: the functions of `analysis/bench/sources`, taken out of their objects to be judged.

The C is in our own words, after the literature. A function is named as the routine that it is, with underscores, and
takes what that takes in System V's convention; where one file has nothing for a routine, another may. Kinds of source:

plain      a board is a uint64_t, one direction after the other
vectors    the same text, its boards GCC's vectors of 2, 4 or 8: where lanes are boards
rays       intrinsics, a ray a lane: AVX-512 rotates, AVX2 shifts left and right rays apart ("rays apart" in AVX-512)
arrays     the plain loop over arrays of boards, which the compilers make vectors of
look-up    for scale: a table of attacks, piece by piece, found by pext, or in "look-up by magics" by a multiplication;
           not set-wise

`x86-64` and `bmi2` are for general registers only, as they are for setwise: what a compiler makes of SSE2, which every
x86-64 processor has, stands beside `sse2`.
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
"""What the kinds of source begin with that are no set-wise fills: shown for scale, nothing is measured against them."""
MAGICS = f"{FOR_SCALE} by magics"

# What stands alone: one section a function and a table, addresses relative, no other part of the function elsewhere.
_COMMON = ("-O3", "-std=gnu11", "-w", "-c", "-fPIC", "-ffunction-sections", "-fdata-sections", "-fcf-protection=none")
_OF_GCC = ("-fno-reorder-blocks-and-partition",)


class CompilerError(RuntimeError):
    """A compiler that refuses our C; the message is one line."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """A compiler of this machine: the name that it is called by, and what it says of its version."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a compiler made of a routine's C. Its entry is the first byte of `binary`.

    Without `binary` it was not made, and `reason` says why.
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
        """The compiler, its flags and the kind of source, as a table shows them."""
        return " ".join((self.compiler.name, *self.flags, f"({self.kind})"))


@dataclass(frozen=True, slots=True)
class _CFile:
    """A C file, the routines that it has functions for, and what it is compiled with besides the flags for all."""

    kind: str
    file: str
    routines: str = ".*"
    flags: tuple[str, ...] = ()


def installed() -> tuple[Compiler, ...]:
    """The gcc and clang of this machine, and where no clang goes by that name alone its latest version."""
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
    """Ours, in which compilers speak English."""
    return {**os.environ, "LC_ALL": "C"}


def c_name(routine: str) -> str:
    """The name of a routine's C function.

    >>> c_name("kogge-stone.attacks.sout")
    'kogge_stone_attacks_sout'
    """
    return re.sub(r"\W", "_", routine)


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
    """The files that have something for an instruction set, and their flags."""
    arrays = [_ARRAYS, replace(_ARRAYS, flags=("-funroll-loops",))]
    target = TARGETS[isa]
    if not target.vectors:
        return (
            _FILLS,
            _BOARD,
            _SLIDERS,
            _LEAPERS,
            _EXPLODING,
            *arrays,
            *([_LOOK_UP] if target.has("gather", 1) else []),
            _MAGICS,
        )
    boards = replace(_FILLS, kind="vectors", flags=(f"-DLANES={lanes}",))
    plain = boards, _BOARD, _SLIDERS, _LEAPERS
    if not target.direction_widths:
        return (*plain, *arrays)
    if not target.has("rotl", lanes):
        return (*plain, _APART, *arrays)
    wide = [replace(loop, flags=(*_WIDE, *loop.flags)) for loop in arrays]
    return (*plain, _TOGETHER, replace(_APART, kind="rays apart"), *arrays, *wide)


def compile_all(
    routines: Collection[str],
    isa: str,
    lanes: int | None = None,
    using: Iterable[Compiler] = (),
) -> list[Compiled]:
    """What every compiler makes of every C that there is for these routines on an instruction set.

    `lanes` is how many boards a vector holds where lanes are boards. Bytes that another flag gave already are left
    out. No compiler, nothing. Raises CompilerError.
    """
    lanes = lanes or TARGETS[isa].widths[0]
    wanted = {c_name(name): name for name in routines}
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
    """Compile a file in a folder; return the object, and the flags that tell it from others."""
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
    """Run a command in the folder, where the assembler looks for what a text includes."""
    ended = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=_environment())
    if ended.returncode:
        complaint = next((line for line in ended.stderr.splitlines() if "error" in line), ended.stderr.strip())
        raise CompilerError(f"{Path(command[0]).name} fails ({ended.returncode}): {complaint or 'it says nothing'}")
