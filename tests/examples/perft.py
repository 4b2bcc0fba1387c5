"""The perft programs, in C and Rust, by setwise's maps or by tables, and the positions whose counts are published."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from setwise.analysis.commands.main import main

HERE = Path(__file__).parent
ROUTINES = ("side.union.black", "sliders.rays")
C = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic")
CXX = ("-xc++", "-std=c++17", *C[1:])
RUST = ("--edition", "2021", "-O", "-D", "warnings")


@dataclass(frozen=True, slots=True)
class Position:
    """A position, and its legal moves to depth 1, 2 and so on."""

    fen: str
    counts: tuple[int, ...]


def _positions(file: str) -> tuple[Position, ...]:
    lines = (HERE / file).read_text("utf-8").splitlines()
    rows = [line.split(";") for line in lines if not line.startswith("#")]
    return tuple(Position(fen.strip(), tuple(int(count.split()[1]) for count in counts)) for fen, *counts in rows)


STANDARD, CHESS960 = _positions("perft.epd"), _positions("chess960.epd")


def export(folder: Path, language: str, *arguments: str) -> None:
    """The kernels' source, made as a user makes it; proofs have their own tests. More routines may be named first."""
    assert main(("export", *ROUTINES, *arguments, "--format", language, "--unproved", "-o", str(folder))) == 0


def compile_c(compiler: str, folder: Path, *flags: str, name: str = "perft") -> Path:
    """The program in C, by the header in that folder; AssertionError with what the compiler says."""
    return _compiled([compiler, *flags, f"-I{folder}", str(HERE / "perft.c"), "-o"], folder / name)


def compile_rust(compiler: str, folder: Path, *flags: str, name: str = "perft") -> Path:
    """The program in Rust, by the module in that folder; AssertionError with what the compiler says."""
    for file in ("perft.rs", "threat_loop.rs"):
        shutil.copy(HERE / file, folder)
    return _compiled([compiler, *RUST, *flags, str(folder / "perft.rs"), "-o"], folder / name)


def _compiled(command: list[str], program: Path) -> Path:
    done = subprocess.run([*command, program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return program


def run(program: Path, position: Position, depth: int) -> list[tuple[int, int]]:
    """Legal moves to each depth up to that one, as far as they are published, and the nanoseconds that each took."""
    depth = min(depth, len(position.counts))
    done = subprocess.run([program, position.fen, str(depth)], capture_output=True, text=True, check=True)
    return [(int(moves), int(taken)) for _, moves, taken in map(str.split, done.stdout.splitlines())]


def wrong(program: Path, positions: tuple[Position, ...], depth: int) -> list[str]:
    """The positions whose counts are not those published."""
    return [
        position.fen
        for position in positions
        if tuple(moves for moves, _ in run(program, position, depth)) != position.counts[:depth]
    ]
