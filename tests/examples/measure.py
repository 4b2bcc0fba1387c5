"""The perft programs against each other: set-wise kernels beside tables, in C and in Rust.

python -m tests.examples.measure compiles each program by gcc, clang and rustc, with the kernels and with tables, has
them count the moves of every position in turns, and writes reports/data/perft.json; `setwise report` shows it. It takes
ten minutes. A compiler that is missing is left out.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

from setwise.analysis.measure.here import machine
from setwise.analysis.report.files import write
from setwise.analysis.report.perft import RECORD, Perft, Race
from setwise.codegen.catalogue import find
from setwise.codegen.run.call import best_isa
from tests.examples.perft import CHESS960, ROUTINES, STANDARD, C, Position, compile_c, compile_rust, export, run

SUITES = {"standard": STANDARD, "chess960": CHESS960}
C_FLAGS, RUST_FLAGS = ("-O2", "-march=native"), ("-Ctarget-cpu=native",)
SHORT = 4_500_000
"""Moves that a run counts at the most: short runs find a quiet moment sooner."""


def programs(folder: Path) -> dict[str, tuple[Path, Path]]:
    """By compiler: the program with the kernels, and that with tables."""
    made = {}
    export(folder, "c,rust", "--isa", "all")
    for compiler in ("gcc", "clang-19", "clang"):
        if (path := shutil.which(compiler)) and not (compiler == "clang" and "clang-19" in made):
            with_kernels = compile_c(path, folder, *C, *C_FLAGS, name=f"{compiler}-kernels")
            made[compiler] = with_kernels, compile_c(path, folder, *C, *C_FLAGS, "-DTABLES", name=f"{compiler}-tables")
    if path := shutil.which("rustc"):
        with_kernels = compile_rust(path, folder, *RUST_FLAGS, name="rustc-kernels")
        made["rustc"] = with_kernels, compile_rust(path, folder, *RUST_FLAGS, "--cfg=tables", name="rustc-tables")
    return made


def nanoseconds(program: Path, position: Position, depth: int) -> int:
    """What a run takes; SystemExit where its count is not the published one."""
    moves, taken = run(program, position, depth)[-1]
    published = position.counts[depth - 1]
    if moves != published:
        raise SystemExit(f"{program.name}: {moves} moves, {published} are published: {position.fen}")
    return taken


def measured(runs: int, folder: Path) -> Perft:
    """The measurement, its programs in that folder."""
    load, pairs = os.getloadavg()[0], programs(folder)
    fastest: dict[tuple[str, Position, str], tuple[int, int]] = {}
    for number in range(1, runs + 1):  # all in turns, so that what else runs meanwhile slows all alike
        print(f"run {number} of {runs}", file=sys.stderr)
        for suite, positions in SUITES.items():
            for position in positions:
                for compiler, (kernels, tables) in pairs.items():
                    race, depth = (suite, position, compiler), _depth(position)
                    taken = nanoseconds(kernels, position, depth), nanoseconds(tables, position, depth)
                    before = fastest.get(race, taken)
                    fastest[race] = min(before[0], taken[0]), min(before[1], taken[1])
    return Perft(
        machine=machine(),
        cores=os.cpu_count() or 1,
        date=date.today().isoformat(),
        load=round(load, 1),
        isa=best_isa(find(ROUTINES[0])),
        compilers={name: _version(name) for name in pairs},
        runs=runs,
        races=tuple(
            Race(suite, position.fen, _depth(position), position.counts[_depth(position) - 1], compiler, *taken)
            for (suite, position, compiler), taken in fastest.items()
        ),
    )


def _depth(position: Position) -> int:
    return sum(count <= SHORT for count in position.counts)


def _version(compiler: str) -> str:
    """Its own name for itself, and the flags that it was given."""
    done = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True)
    return " ".join([done.stdout.splitlines()[0], *(("-O", *RUST_FLAGS) if compiler == "rustc" else C_FLAGS)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=60, help="of each program (default: %(default)s)")
    parser.add_argument("-o", "--output", default="reports", metavar="DIR", help="the folder (default: reports)")
    arguments = parser.parse_args()
    if arguments.runs < 1:
        parser.error("it takes a run at the least")
    try:
        with tempfile.TemporaryDirectory() as folder:
            perft = measured(arguments.runs, Path(folder))
        write(Path(arguments.output), {RECORD.path: RECORD.text(perft)})
    except (AssertionError, ValueError) as error:
        raise SystemExit(str(error)) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
