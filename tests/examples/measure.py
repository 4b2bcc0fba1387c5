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

from setwise.analysis.report.files import write
from setwise.analysis.report.perft import PATH, Perft, Race
from setwise.analysis.report.recording import machine
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


def fastest(pair: tuple[Path, Path], position: Position, depth: int, runs: int) -> tuple[int, int]:
    """Nanoseconds of each program's fastest run, in turns; SystemExit where a count is not the published one."""
    taken: tuple[list[int], list[int]] = [], []
    for _ in range(runs):
        for program, times in zip(pair, taken, strict=True):
            moves, nanoseconds = run(program, position, depth)[-1]
            published = position.counts[depth - 1]
            if moves != published:
                raise SystemExit(f"{program.name}: {moves} moves, {published} are published: {position.fen}")
            times.append(nanoseconds)
    return min(taken[0]), min(taken[1])


def measured(runs: int, folder: Path) -> Perft:
    """The measurement, its programs in that folder."""
    load, pairs, races = os.getloadavg()[0], programs(folder), []
    for suite, positions in SUITES.items():
        for number, position in enumerate(positions, 1):
            depth = sum(count <= SHORT for count in position.counts)
            for compiler, pair in pairs.items():
                kernels, tables = fastest(pair, position, depth, runs)
                moves = position.counts[depth - 1]
                races.append(Race(suite, position.fen, depth, moves, compiler, kernels, tables))
            ratios = ", ".join(f"{race.ratio:.2f}" for race in races[-len(pairs) :])
            print(f"{suite} {number}/{len(positions)}: {ratios}", file=sys.stderr)
    return Perft(
        machine=machine(),
        cores=os.cpu_count() or 1,
        date=date.today().isoformat(),
        load=round(load, 1),
        isa=best_isa(find(ROUTINES[0])),
        compilers={name: _version(name) for name in pairs},
        runs=runs,
        races=tuple(races),
    )


def _version(compiler: str) -> str:
    """Its own name for itself, and the flags that it was given."""
    done = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True)
    return " ".join([done.stdout.splitlines()[0], *(RUST_FLAGS if compiler == "rustc" else C_FLAGS)])


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
        write(Path(arguments.output), {PATH: perft.as_json()})
    except (AssertionError, ValueError) as error:
        raise SystemExit(str(error)) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
