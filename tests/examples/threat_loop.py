"""The threat loop of perft.c and perft.rs: its rate with setwise's threat boards and with tables.

    python -m tests.examples.threat_loop [TURNS]

prints nanoseconds a position: medians of programs that run by turns.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tests.examples.perft import CXX, STANDARD, compile_c, compile_rust, export

COMPILERS = ("g++", "clang++-19", "rustc")
LEVELS = ("x86-64-v3", "x86-64-v4")
"""The values of -march for AVX2 with BMI2, and for AVX-512."""
FORMS = ("threats", "tables")
GAMES = 10_000


def build(folder: Path, compiler: str, level: str, form: str) -> Path:
    """Compile the threat loop by an export in that folder, made here if it is not there."""
    language, name = "rust" if compiler == "rustc" else "c", f"{compiler}-{level}-{form}"
    source = folder / language
    if not source.exists():
        export(source, language, "side.threats.any", "--isa", "x86-64,avx2,avx512")
    if language == "rust":
        forms = ["--cfg=threats", *["--cfg=tables"] * (form == "tables")]
        return compile_rust(compiler, source, f"-Ctarget-cpu={level}", *forms, name=name)
    forms = ["-DTHREATS", *["-DTABLES"] * (form == "tables")]
    return compile_c(compiler, source, *CXX, "-O3", f"-march={level}", *forms, name=name)


def run(program: Path, games: int) -> tuple[int, int, str]:
    """Replay games from the start, and return the number of positions, nanoseconds and the checksum."""
    command = [str(program), STANDARD[0].fen, str(games)]
    positions, taken, checksum = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return int(positions), int(taken), checksum


def main(turns: int) -> None:
    with TemporaryDirectory() as folder:
        for compiler in filter(shutil.which, COMPILERS):
            for level in LEVELS:
                programs = [build(Path(folder), compiler, level, form) for form in FORMS]
                results = [[run(program, GAMES) for program in programs] for _ in range(turns)]
                assert len({(positions, checksum) for pair in results for positions, _, checksum in pair}) == 1
                by_form = zip(*results, strict=True)
                threats, tables = (median(taken / positions for positions, taken, _ in form) for form in by_form)
                print(f"{compiler:10} {level}  threats {threats:5.1f}  tables {tables:5.1f}  {tables / threats:.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 11)
