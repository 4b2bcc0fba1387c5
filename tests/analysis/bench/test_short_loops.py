"""Loops over arrays beside clang's of the same routine: as fast where an iteration is short, and where it is long."""

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from statistics import median

import pytest

from setwise.analysis.bench import compilers
from setwise.analysis.bench.subjects import Subject, arguments_for, subject, timing_loop
from setwise.analysis.code.decode import Binary
from setwise.analysis.code.objects import load_all
from setwise.codegen.catalogue import find
from setwise.codegen.export.compiler_names import flags
from setwise.codegen.lower import lower
from setwise.codegen.run.executable import runnable
from setwise.codegen.run.stopwatch import Stopwatch
from tests.conftest import require_set, require_tool

# An expression of our language, and of C if it differs. Steps east lose the H file.
SHORT = {
    "both": ("a & b", ""),
    "without": ("a & ~b", ""),
    "others": ("~a", ""),
    "north": ("a << 8", ""),
    "east": ("a.step(EAST)", "(a & ~H) << 1"),
    "choice": ("a & b | ~a & c", ""),
    "odd": ("a ^ b ^ c", ""),
    "push": ("a << 8 & b", ""),
    "captures": ("(a.step(NORT, EAST) | a.step(NORT, WEST)) & b", "((a & ~H) << 9 | (a & ~A) << 7) & b"),
    "beside": ("(a.step(EAST) | a.step(WEST)) & ~a", "((a & ~H) << 1 | (a & ~A) >> 1) & ~a"),
    "carries": ("a + b ^ a", ""),
    "four": ("(a | b) & ~(c | d)", ""),
}
LONG = [f"kogge-stone.attacks.{name}.batch" for name in ("nort", "noEa", "bishop")]
TURNS, TRIALS = 40, 20
BOARDS = 1 << 16  # of a trial, so that the resolution of the clock is small beside its time
LENGTHS = (512, 8192)


def files(folder: Path) -> tuple[Path, Path]:
    """The short routines as our descriptions and as C."""
    ours, theirs = ["from setwise import Board, EAST, NORT, WEST, routine"], ["#include <stdint.h>"]
    theirs += ["#define A 0x0101010101010101", "#define H 0x8080808080808080"]
    for name, (expression, c) in SHORT.items():
        names = [each for each in "abcd" if each in (c or expression)]
        ours += ["@routine", f"def {name}({', '.join(f'{each}: Board' for each in names)}) -> Board:"]
        ours += [f"    return {expression}"]
        taken = "".join(f"const uint64_t *restrict {each}_, " for each in names)
        loaded = "".join(f"uint64_t {each} = {each}_[i]; " for each in names)
        theirs += [f"void {name}({taken}uint64_t *restrict made, uint64_t n) {{"]
        theirs += [f"    for (uint64_t i = 0; i < n; i++) {{ {loaded}made[i] = {c or expression}; }}\n}}"]
    for file, lines in (("short.py", ours), ("short.c", theirs)):
        (folder / file).write_text("\n".join(lines) + "\n")
    return folder / "short.py", folder / "short.c"


def pairs(isa: str, folder: Path) -> Iterator[tuple[Subject, Subject]]:
    """Our loop and clang's for each routine."""
    (clang,) = [each for each in compilers.installed() if each.name.startswith("clang")]
    ours, theirs = files(folder)
    options = ["-O3", "-w", "-c", "-fPIC", "-ffunction-sections", "-fdata-sections", *flags(isa)]
    subprocess.run([clang.name, *options, str(theirs), "-o", str(folder / "short.o")], check=True)
    found = load_all(folder / "short.o", {name: name for name in SHORT})
    for name in SHORT:
        binary = found[name]
        assert isinstance(binary, Binary)
        own = subject(lower(find(f"{ours}:{name}.batch"), isa))
        yield own, replace(own, binary=binary)
    for name in LONG:
        own = subject(lower(find(name), isa))
        (other,) = [each for each in compilers.compile_all([name], isa, using=[clang]) if each.flags == flags(isa)]
        assert other.binary is not None
        yield own, replace(own, binary=other.binary)


def ratio(pair: tuple[Subject, Subject], boards: int) -> float:
    """The least time of our loop as a fraction of that of the other one, timed by turns."""
    arguments = arguments_for(replace(pair[0], boards=boards), "independent")
    watches = [Stopwatch(timing_loop(one, "independent"), arguments) for one in pair]
    least = [float("inf")] * 2
    for _, at in zip(range(2 * TURNS), cycle((0, 1))):
        records = watches[at].run(BOARDS // boards, TRIALS)
        least[at] = min(least[at], *(record.calls for record in records))
    return least[0] / least[1]


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(not runnable(), reason="not run: this processor is not x86-64")
@pytest.mark.parametrize("isa", ["avx2", "avx512"])
def test_loops_are_as_fast_as_clangs(isa: str, tmp_path: Path) -> None:
    """It times, so it is not for every run: another process beside it may make it fail."""
    require_set(isa)
    require_tool(next(each.name for each in compilers.installed() if each.name.startswith("clang")))
    ratios = {(pair[0].name, n): ratio(pair, n) for pair in pairs(isa, tmp_path) for n in LENGTHS}
    for (name, n), found in ratios.items():
        print(f"{isa} {n:5} {found:.2f} {name.rpartition(':')[2]}")
    assert median(ratios.values()) <= 1.005
    assert max(ratios.values()) <= 1.15
